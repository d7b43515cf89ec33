"""The experiments of the paper on any labelled collection.

In: names with known authors, split into training and test names. Out: tables, figures, findings and an HTML page, and
all results as plain values (study.json). `commands.study` plans and makes the `runs` and `baselines`, compares them
(`findings`), and writes `study_tables`, `study_figures` and `study_page`. Open `runs` first.
"""
