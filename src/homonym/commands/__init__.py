"""Commands: one module per public function, which is also the command of the same name.

In: paths, `Settings`, `Resources`. Out: files, and an object that says what was done. Open `disambiguate.py` first: it
calls the steps of an engine in order. Shared: `run.py` (checked arguments, work directory, choice of the engine),
`result.py` (files of a result, summary), `labelled.py` (names with known authors).
"""
