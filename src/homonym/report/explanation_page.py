"""The page and the figure of an explanation."""

from __future__ import annotations

from collections.abc import Sequence

from homonym.errors import counted
from homonym.explanation.explained import ComparedClusters, ExplainedAuthor, ExplainedMention, Explanation
from homonym.explanation.wording import (
    author_heading,
    grouped_parts,
    multiple,
    part_text,
    quoted_mention,
    readable_text,
    type_text,
)
from homonym.report.explanation_figures import dendrogram, dendrogram_of, verdict_title, waterfall
from homonym.report.figures import Picture
from homonym.report.page import PageFigure, Table, render_template

# Maximum number of papers of an author, and of features of a comparison, on the page.
SHOWN_PAPERS, SHOWN_PARTS = 500, 300
# Kinds of parts that each type has once.
PER_TYPE = ("smoothing", "chance")


def draw_explanation(found: Explanation) -> bytes:
    """The figure of an explanation as the content of an SVG file: the decisive score, or the tree of a name."""
    return _picture(found).drawn().svg


def _picture(found: Explanation) -> Picture:
    if found.merge:
        return waterfall(found.merge, verdict_title(found, found.merge))
    return dendrogram(found, f"{found.block}: how its mentions were merged")


def render_explanation(found: Explanation) -> str:
    """The page about an explanation as HTML."""
    compared = [("The decisive comparison", found.merge)] if found.merge else []
    compared += [(f"Compared with {_heading(other.author)}", other.comparison) for other in found.others]
    compared += [("The two mentions alone", found.direct)] if found.direct else []
    view = {
        "title": f"Why: {found.block}",
        "lead": readable_text(found.answer),
        "notes": [readable_text(note) for note in found.notes],
        "facts": _facts(found),
        "comparisons": [_comparison(found, heading, one) for heading, one in compared],
        "tree": _tree(found),
        "authors": [(_heading(author), author.reasons, _papers(author)) for author in found.authors],
    }
    return render_template("why.html.j2", view)


def _facts(found: Explanation) -> str:
    """The size of the name, unless the answer says it, and of the collection."""
    size = f"{found.block} has {counted(found.mentions, 'mention')} of {counted(found.authors_of_name, 'author')}. "
    return (
        f"{'' if found.kind == 'name' else size}Two groups of papers are merged if their score exceeds the limit, "
        f"which is {found.limit:.3g}. How rare a feature is was counted in {found.mentions_in_collection:,} mentions, "
        "with the background if one was used."
    )


def _tree(found: Explanation) -> PageFigure:
    left_out = dendrogram_of(found).left_out
    caption = (
        "Each line joins two clusters, at the score of their merge. Clusters that were joined in later rounds may have "
        "higher scores; they are drawn at the lowest score on the way. Must-links are orange."
    )
    if left_out:
        caption += f" {counted(left_out, 'mention')} of other authors are not drawn."
    return PageFigure(dendrogram(found, "Tree of merges").element(), caption)


def _heading(author: ExplainedAuthor) -> str:
    return readable_text(author_heading(author))


def _comparison(found: Explanation, heading: str, compared: ComparedClusters) -> dict[str, object]:
    sentences = [
        _sides(found, compared),
        f"The score is {multiple(compared.share, compared.limit_name)}.",
        *compared.links,
        *compared.barriers,
    ]
    if compared.needed:
        sentences.append(f"Without this evidence they would not have been merged: {'; '.join(compared.needed)}.")
    caption = "What each piece of evidence adds to the score, in multiples of the {}. The bars sum to the score."
    drawn = waterfall(compared, verdict_title(found, compared)).element() if compared.parts else ""
    return {
        "heading": heading,
        "sentences": [readable_text(sentence) for sentence in sentences],
        "figure": PageFigure(drawn, caption.format(compared.limit_name)) if drawn else None,
        "parts": Table(("evidence", "in the collection", "× limit"), _rows(compared)),
    }


def _sides(found: Explanation, compared: ComparedClusters) -> str:
    """Which papers were joined or compared: the first one of each side, and the number of the others."""
    authors = (*found.authors, *(other.author for other in found.others))
    known = {mention.mention_id: mention for author in authors for mention in author.mentions}
    left, right = (_first_paper([known[one] for one in side]) for side in (compared.left, compared.right))
    return f"{'Joined' if compared.round is not None else 'Compared'}: {left} with {right}."


def _first_paper(mentions: Sequence[ExplainedMention]) -> str:
    more = f" and {counted(len(mentions) - 1, 'more mention')}" if len(mentions) > 1 else ""
    return f"{quoted_mention(mentions[0])}{more}"


def _rows(compared: ComparedClusters) -> Sequence[Sequence[str]]:
    parts = [part for group in grouped_parts(compared).values() for part in group]
    rows = [
        (
            readable_text(part_text(part)) + (f": {type_text(part.type, 2)}" if part.kind in PER_TYPE else ""),
            part.rarity,
            f"{part.share:+.4f}",
        )
        for part in parts[:SHOWN_PARTS]
    ]
    if len(parts) > SHOWN_PARTS:
        rest = sum(part.share for part in parts[SHOWN_PARTS:])
        rows.append((f"{len(parts) - SHOWN_PARTS:,} more", "", f"{rest:+.4f}"))
    return rows


def _papers(author: ExplainedAuthor) -> Table:
    mentions = (*author.mentions, *author.elsewhere)
    rows = [
        (
            readable_text(mention.title or "(no title)"),
            mention.year or "",
            readable_text(mention.venue or ""),
            readable_text(mention.name),
            readable_text(mention.mention_id),
        )
        for mention in mentions[:SHOWN_PAPERS]
    ]
    if len(mentions) > SHOWN_PAPERS:
        rows.append((f"{len(mentions) - SHOWN_PAPERS:,} more", "", "", "", ""))
    return Table(("title", "year", "venue", "written as", "mention"), rows)
