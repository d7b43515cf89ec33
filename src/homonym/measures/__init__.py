"""Measures of clusterings against true authors, and the labelled names that methods are measured on.

In: for each mention its name, true author and cluster. Out: precision, recall and errors per name and overall, with
bootstrap intervals, and for labelled names the scores at every limit. Open `agreement` first: it defines the measures
on contingency tables. `methods` has the labelled names and the interface of methods, which calibration and the
experiments share.
The measures are own code: scikit-learn is only an optional extra, and has neither B-cubed nor measures within names.
"""
