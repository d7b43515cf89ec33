"""Figures of explanations: titles in any script leave space for the tree."""

from __future__ import annotations

import pytest

from homonym.report.explanation_figures import ROW, WIDTH, Dendrogram, _draw_dendrogram
from homonym.report.figures import empty_figure


@pytest.mark.parametrize(
    "title", ["W" * 80, "作者姓名消歧方法研究" * 8, "ROMAN SILVER COINS " * 5, "roman silver coins " * 5]
)
def test_wide_titles_leave_space_for_the_tree(title: str) -> None:
    tree = Dendrogram(["Doe, Jane, 2 mentions:", f"2010 {title}", f"2011 {title}"], [((1.0, 9.0), (2.0, 9.0), 3.0)], 0)
    with empty_figure((WIDTH, ROW * 10)) as figure:
        _draw_dendrogram(tree, figure)
        figure.draw_without_rendering()
        (axes,) = figure.axes
        assert axes.get_position().width > 0.2
