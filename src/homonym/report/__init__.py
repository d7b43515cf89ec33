"""Figures and self-contained HTML pages.

In: an `Evaluation` or `Comparison` (the package `experiments` adds its own figures and page). Out: SVG elements, and
HTML pages without scripts that load nothing from elsewhere. Open `evaluation_page` first; `page` renders the Jinja2
templates in `templates/`, `figures` draws with matplotlib.
"""
