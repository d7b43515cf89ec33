"""The merges of an author as lines of text."""

from __future__ import annotations

import math
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.explanation.explained import ExplainedAuthor, ExplainedMention, TreeMerge
from homonym.explanation.wording import merge_lines
from tests.support.profiles import examples


def author_of(number: int) -> ExplainedAuthor:
    mentions = (ExplainedMention(f"d{n}#0", "Doe, J", f"Title {n}", 2000 + n, None) for n in range(number))
    return ExplainedAuthor("DOE, J/0", "Doe, J", tuple(mentions))


@st.composite
def trees(draw: st.DrawFn) -> tuple[ExplainedAuthor, list[TreeMerge]]:
    """An author with mentions that are merged in any order."""
    author = author_of(draw(st.integers(1, 40)))
    nodes: list[str | int] = [mention.mention_id for mention in author.mentions]
    merges = list[TreeMerge]()
    while len(nodes) > 1:
        left, right = (nodes.pop(draw(st.integers(0, len(nodes) - 1))) for _ in range(2))
        share = draw(st.none() | st.floats(1, 900))
        merges.append(TreeMerge(len(merges), left, right, 1, share, share, author.author_id))
        nodes.append(len(merges) - 1)
    return author, merges


@settings(max_examples=examples(200))
@given(trees())
def test_every_mention_is_a_line_and_every_merge_has_its_score(tree: tuple[ExplainedAuthor, list[TreeMerge]]) -> None:
    author, merges = tree
    lines = merge_lines(author, merges)
    written = [match[1] for line in lines if (match := re.search(r"; (d\d+#0)\)$", line))]
    assert sorted(written) == sorted(mention.mention_id for mention in author.mentions)
    assert sum(line.lstrip().startswith("+ ") for line in lines) == len(merges)
    assert sum("+ must-link" in line for line in lines) == sum(merge.share is None for merge in merges)


@settings(max_examples=examples(200))
@given(trees())
def test_groups_are_indented_at_most_log2_times(tree: tuple[ExplainedAuthor, list[TreeMerge]]) -> None:
    author, merges = tree
    deepest = max(len(line) - len(line.lstrip()) for line in merge_lines(author, merges))
    assert deepest <= 13 + 4 * math.log2(len(author.mentions))


def test_a_chain_of_merges_is_a_list() -> None:
    author = author_of(4)
    merges = [
        TreeMerge(n, f"d{n}#0" if n == 0 else n - 1, f"d{n + 1}#0", n, 1.0, 2.5 + n, "DOE, J/0") for n in range(3)
    ]
    assert merge_lines(author, merges) == [
        "             2000 Title 0 (Doe, J; d0#0)",
        "+ 2.5 ×      2001 Title 1 (Doe, J; d1#0)",
        "+ 3.5 ×      2002 Title 2 (Doe, J; d2#0)",
        "+ 4.5 ×      2003 Title 3 (Doe, J; d3#0)",
    ]
