"""Evaluation: known labels in, measures out.

In: result files and files with labels (`gold` reads them, `matching` joins them by mention). Out: an `Evaluation` with
measures over all mentions, per name and by true size, with baselines and bootstrap intervals (`assessment`), and how
well stated confidence is calibrated (`reliability`). `matching` also finds the labelled names of a collection, for
tuning, training and studies. Open `assessment` first.
"""
