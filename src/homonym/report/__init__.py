"""Figures and self-contained HTML pages.

In: an `Evaluation` or `Comparison`, or a result directory (the package `experiments` adds its own figures and page).
Out: SVG elements, and HTML pages that load nothing from elsewhere. Open `evaluation_page` first; `run_page` is the page
of a result directory, and `run_content` reads what it shows from the tables. `page` renders the Jinja2 templates in
`templates/`, `figures` draws with matplotlib.
"""
