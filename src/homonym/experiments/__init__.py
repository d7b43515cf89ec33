"""The experiments of the paper on any labelled collection.

In: names with known authors, split into training and test names. Out: tables, figures, findings and an HTML page, and
all results as plain values (study.json). `commands.study` calls `plan`, `runs`, `baselines` and `findings` in this
order, then `study_tables`, `study_figures` and `study_page`, which read the results through `results_view`. Open `plan`
first, then `runs`.
"""
