"""One or two sentences for each author of some names: its weakest link, and the author that is most similar to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc

from homonym.collection.block_reload import rows_of_blocks
from homonym.engines.reclustering import recluster
from homonym.errors import counted
from homonym.explanation.answers import BlockExplainer
from homonym.explanation.author_causes import AuthorCauses
from homonym.explanation.explained import ComparedClusters, ExplainedMention, Explanation
from homonym.explanation.wording import part_text, readable_text
from homonym.io.result_directory import SETTINGS
from homonym.settings import load_settings

# Maximum number of features in a sentence, and of characters of a title, name or feature.
NAMED_FEATURES, LONGEST_TEXT = 3, 60
# Minimum score, in multiples of the limit, of another author to be mentioned.
NEAR = 0.5
# Maximum number of authors of a name that get reasons; the others have fewer mentions.
EXPLAINED_AUTHORS = 50


def author_reasons(result: Path, authors: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Why the mentions of some authors of a result are together; `authors` has the author ids by block.

    The blocks are clustered again, all at once. Authors without such a sentence are left out. So are authors without
    mentions in the block: an author id may contain a name that the author no longer has.
    """
    rows = rows_of_blocks(result, authors)
    if not len(rows):
        return {}
    found: dict[str, list[str]] = {}
    order = sorted(pc.unique(rows["block"]).to_pylist(), key=str.encode)
    causes = AuthorCauses.read(result, rows["author_id"])
    with tempfile.TemporaryDirectory(prefix="homonym-") as work:
        for block in recluster(result, order, load_settings(result / SETTINGS), Path(work), rows):
            explainer = BlockExplainer(block, causes)
            label = dict(zip(explainer.author_id, explainer.label.tolist(), strict=True))
            for author_id in filter(label.__contains__, authors[explainer.name]):
                if sentences := [*_sentences(explainer, label[author_id], NEAR)]:
                    found[author_id] = sentences
    return found


def with_reasons(found: Explanation, explainer: BlockExplainer) -> Explanation:
    """An explanation of a name in which the first authors have reasons, with the nearest author at any distance."""
    label = dict(zip(explainer.author_id, explainer.label.tolist(), strict=True))
    authors = [
        replace(author, reasons=tuple(_sentences(explainer, label[author.author_id], 0.0)))
        for author in found.authors[:EXPLAINED_AUTHORS]
    ]
    return replace(found, authors=(*authors, *found.authors[EXPLAINED_AUTHORS:]))


def _sentences(explainer: BlockExplainer, label: int, near: float) -> Iterator[str]:
    mentions = {mention.mention_id: mention for mention in explainer.mentions}
    if weakest := explainer.weakest_link(label):
        left, right = (_papers([mentions[one] for one in side]) for side in (weakest.left, weakest.right))
        yield f"The weakest link joins {left} with {right}: {_evidence(weakest)}."
    excluded = explainer.excluded_author(label) if near == 0 else None
    for other, what in (
        (excluded, "A constraint excludes"),
        (explainer.near_author(label, near), "The next author is"),
    ):
        if other:
            author, compared = other.author, other.comparison
            papers = counted(len(author.mentions), "paper")
            text = f"{what} {_isolated(author.name)} ({papers}, {_isolated(author.author_id)}), with "
            text += f"{_share_text(compared.share)}."
            why = explainer.why_not_merged(compared)
            yield f"{text} {_isolated(why, 4 * LONGEST_TEXT)}" if why else text
    yield from (_isolated(one, 4 * LONGEST_TEXT) for one in explainer.decisions_about(label))


def _evidence(compared: ComparedClusters) -> str:
    """What decided that two groups of papers are one author."""
    if compared.links:
        return "; ".join(_isolated(link.rstrip("."), 2 * LONGEST_TEXT) for link in compared.links)
    features = sorted((part for part in compared.parts if part.kind == "feature"), key=lambda part: -part.value)
    named = [_isolated(part_text(part)) for part in features[:NAMED_FEATURES]]
    more = [f"{len(features) - len(named):,} more"] if len(features) > len(named) else []
    name = ["the same full name"] if compared.factor > 1 else []
    shared = "; ".join([*named, *more, *name]) or "nothing in common but the name"
    return f"{shared}. Together, this is {_share_text(compared.share)}"


def _share_text(share: float) -> str:
    """A score, compared with the limit or the chance limit, whichever is higher.

    >>> _share_text(0.812), _share_text(3.14)
    ('81 % of the required evidence', '3.1 times the required evidence')
    """
    if share == float("inf"):
        return "more than the required evidence"
    number = f"{100 * share:.0f} %" if share < 1 else f"{share:.1f} times" if share < 100 else f"{share:,.0f} times"
    return f"{number} {'of ' if share < 1 else ''}the required evidence"


def _papers(mentions: Sequence[ExplainedMention]) -> str:
    """The first paper, and the number of the others."""
    first = min(mentions, key=lambda mention: (mention.year is None, mention.year or 0, mention.mention_id))
    title = _isolated(first.title or first.mention_id)
    text = f"“{title}”" + (f" ({first.year})" if first.year is not None else "")
    return f"{text} and {counted(len(mentions) - 1, 'more paper')}" if len(mentions) > 1 else text


def _isolated(text: str, length: int = LONGEST_TEXT) -> str:
    """A shortened text from the data, between characters (FSI, PDI) that isolate its writing direction."""
    plain = readable_text(text)
    return f"\u2068{plain if len(plain) <= length else f'{plain[: length - 1].rstrip()}…'}\u2069"
