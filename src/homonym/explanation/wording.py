"""Explanations as human-readable text, with titles, years and names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from homonym.errors import counted
from homonym.explanation.explained import (
    ComparedClusters,
    EvidencePart,
    ExplainedAuthor,
    ExplainedMention,
    Explanation,
    TreeMerge,
)
from homonym.features.institutions import PREFIX as INSTITUTION
from homonym.io.paths import printable
from homonym.settings import KEY_SHARE

# What features of each type are called, one and several.
WORDS = {
    "term": ("word", "words"),
    "aff": ("affiliation", "affiliations"),
    "cat": ("category or venue", "categories and venues"),
    "key": ("keyword", "keywords"),
    "co": ("co-author", "co-authors"),
    "ref": ("referenced author", "referenced authors"),
    "email": ("e-mail address", "e-mail addresses"),
    "year": ("year", "years"),
}
# Types whose features a mention has once, so that #(f) is a number of mentions.
COUNTED_ONCE = ("cat", "key", "email")

# Maximum number of features of a type, of mentions of a cluster, and of lines of merges, in the text.
SHOWN_FEATURES, SHOWN_MENTIONS, SHOWN_LINES = 5, 4, 200
# Maximum number of characters of a title.
LONGEST_TITLE = 80


# Characters that reverse the order of the text around them.
_BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def readable_text(text: str) -> str:
    r"""Text from the data in a safe form: without control characters, and without effect on the text around it.

    >>> readable_text("a\x1b[1m\u202eb")
    'a\\x1b[1mb'
    """
    return printable(_BIDI.sub("", text))


def type_text(kind: str, number: int = 1) -> str:
    """The name of a feature type.

    >>> type_text("co"), type_text("co", 2), type_text("topic", 2)
    ('co-author', 'co-authors', 'topic')
    """
    one, several = WORDS.get(kind, (kind, kind))
    return one if number == 1 else several


def feature_text(kind: str, feature: str) -> str:
    """A feature as human-readable text.

    >>> feature_text("co", "SMITH|ANNA"), feature_text("aff", "institution: bonn univ"), feature_text("key", "wine")
    ('co-author SMITH, ANNA (full name)', 'institution bonn univ', 'keyword wine')
    """
    if kind == "aff" and feature.startswith(INSTITUTION):
        return f"institution {feature.removeprefix(INSTITUTION).strip(': ')}"
    if kind == "co" and "|" in feature:
        return f"{type_text(kind)} {feature.replace('|', ', ')} (full name)"
    return f"{type_text(kind)} {feature}"


def rarity_text(kind: str, feature: str, frequency: float, N: float) -> str:
    """How common a feature is in the collection; where it has several weights, its frequency #(f).

    >>> rarity_text("co", "SMITH|ANNA", 2.25, 27185), rarity_text("term", "wine", 57.0, 27185)
    ('on 3 of 27,185 mentions', 'frequency 57 in 27,185 mentions')
    """
    holders = frequency
    if kind == "co" and "|" in feature:
        holders = frequency / (1 - KEY_SHARE)
    if (kind in COUNTED_ONCE or holders != frequency) and abs(holders - round(holders)) < 1e-9:
        return f"on {round(holders):,} of {N:,.0f} mentions"
    return f"frequency {_number(frequency)} in {N:,.0f} mentions"


def _number(value: float) -> str:
    """A number with about three digits.

    >>> _number(57.0), _number(0.01234), _number(1234.56), _number(0.0)
    ('57', '0.0123', '1,235', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def multiple(share: float, limit_name: str = "limit") -> str:
    """A score in multiples of the limit.

    >>> multiple(2.345), multiple(float("inf")), multiple(123.4)
    ('2.35 × the limit', 'more than the limit, which is 0', '123 × the limit')
    """
    if share == float("inf"):
        return f"more than the {limit_name}, which is 0"
    share = 0.0 if abs(share) < 0.005 else share  # and not -0.00
    return f"{share:.0f} × the {limit_name}" if abs(share) >= 100 else f"{share:.2f} × the {limit_name}"


def short_mention(mention: ExplainedMention) -> str:
    """A mention on one line: year, title, and the name as it is written there.

    >>> short_mention(ExplainedMention("W1#0", "Doe, J", "On wine", 2001, None))
    '2001 On wine (Doe, J; W1#0)'
    """
    title = _short_title(mention) or "(no title)"
    return readable_text(f"{mention.year or '----'} {title} ({mention.name}; {mention.mention_id})")


def quoted_mention(mention: ExplainedMention) -> str:
    """The same within a sentence.

    >>> quoted_mention(ExplainedMention("W1#0", "Doe, J", "On wine", 2001, None))
    '“On wine” (2001; Doe, J; W1#0)'
    >>> quoted_mention(ExplainedMention("W1#0", "Doe, J", None, None, None))
    'a paper without title (Doe, J; W1#0)'
    """
    title = _short_title(mention)
    facts = [*([str(mention.year)] if mention.year else []), mention.name, mention.mention_id]
    return readable_text(f"{f'“{title}”' if title else 'a paper without title'} ({'; '.join(facts)})")


def _short_title(mention: ExplainedMention) -> str:
    title = mention.title or ""
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def explanation_text(found: Explanation) -> str:
    """An explanation as text."""
    lines = [*_head(found), *answer_lines(found)]
    if found.merge:
        lines += ["", *_comparison(found, found.merge)]
    for other in found.others:
        lines += ["", f"Compared with {_author(other.author)}:", *_evidence(other.comparison)]
    if found.direct and found.direct.parts != (found.merge.parts if found.merge else ()):
        share = multiple(found.direct.share, found.direct.limit_name)
        lines += ["", f"The two mentions alone ({share}):", *_evidence(found.direct)]
    lines += ["", *_merges(found)]
    return "\n".join(lines)


def answer_lines(found: Explanation) -> list[str]:
    """The short answer and its notes."""
    return [readable_text(text) for text in (found.answer, *found.notes)]


def _head(found: Explanation) -> list[str]:
    """The size of the name, unless the answer says it."""
    if found.kind == "name":
        return []
    return [
        readable_text(
            f"{found.block}: {counted(found.mentions, 'mention')}, {counted(found.authors_of_name, 'author')}."
        ),
        "",
    ]


def _author(author: ExplainedAuthor) -> str:
    return readable_text(author_heading(author))


def author_heading(author: ExplainedAuthor) -> str:
    """An author with its id, its mentions under the name in question, and those under other names."""
    years = f", {author.years}" if author.years else ""
    more = f"; {counted(len(author.elsewhere), 'more mention')} under other names" if author.elsewhere else ""
    return f"{author.name} ({author.author_id}): {counted(len(author.mentions), 'mention')}{years}{more}"


def _comparison(found: Explanation, compared: ComparedClusters) -> Iterator[str]:
    known = {mention.mention_id: mention for author in found.authors for mention in author.mentions}
    was_merged = compared.round is not None
    yield "Merged:" if was_merged else "Compared:"
    for ids in (compared.left, compared.right):
        shown = [short_mention(known[one]) for one in ids[:SHOWN_MENTIONS]]
        more = [f"… and {counted(len(ids) - SHOWN_MENTIONS, 'more mention')}"] if len(ids) > SHOWN_MENTIONS else []
        yield from (f"  {mark} {line}" for mark, line in zip("•" + " " * len(ids), [*shown, *more], strict=False))
    yield ""
    yield f"Evidence, in multiples of the {compared.limit_name}; the sum is {compared.share:.3g}:"
    yield from _evidence(compared)
    if compared.needed:
        yield ""
        yield f"Without this evidence they would not have been merged: {readable_text('; '.join(compared.needed))}."


def _evidence(compared: ComparedClusters) -> list[str]:
    """The parts by type, the strongest type first, with the strongest features of each."""
    if not compared.parts:
        return ["  (nothing in common)"]
    lines = []
    for name, parts in grouped_parts(compared).items():
        total = sum(part.share for part in parts)
        lines.append(f"  {total:+9.3f}  {name}")
        features = [part for part in parts if part.kind == "feature"]
        lines += [
            f"  {'':9}    {part.share:+.3f} {readable_text(part_text(part))} ({part.rarity})"
            for part in features[:SHOWN_FEATURES]
        ]
        if len(features) > SHOWN_FEATURES:
            rest = sum(part.share for part in features[SHOWN_FEATURES:])
            lines.append(f"  {'':9}    {rest:+.3f} {len(features) - SHOWN_FEATURES} more")
    return lines


def part_text(part: EvidencePart) -> str:
    """What a part of a score is."""
    if part.kind == "feature":
        return feature_text(part.type, part.feature)
    return {"smoothing": "smoothing", "chance": "expected by chance", "full name": "the same full name"}[part.kind]


def grouped_parts(compared: ComparedClusters) -> dict[str, list[EvidencePart]]:
    """The parts of a score by type, the strongest first; smoothing, chance and full name are groups at the end."""
    groups: dict[str, list[EvidencePart]] = defaultdict(list)
    for part in compared.parts:
        groups[type_text(part.type, 2) if part.kind == "feature" else part_text(part)].append(part)
    return dict(sorted(groups.items(), key=lambda item: (item[1][0].kind != "feature", -sum(p.value for p in item[1]))))


def _merges(found: Explanation) -> Iterator[str]:
    """The authors, each with its papers in the order in which they were merged."""
    yield (
        "How the papers were merged: a number is the score of a merge in multiples of the limit, "
        f"{_number(found.limit)}; a merge needs more than 1."
    )
    left = SHOWN_LINES
    for number, author in enumerate(found.authors):
        yield ""
        if left <= 0:
            yield f"… and {counted(len(found.authors) - number, 'more author')}; --json has all of them."
            return
        yield _author(author)
        yield from (f"  {readable_text(reason)}" for reason in author.reasons)
        lines = merge_lines(author, [merge for merge in found.merges if merge.author_id == author.author_id])
        yield from (f"  {line}" for line in lines[:left])
        if len(lines) > left:
            yield f"  … {len(lines) - left:,} more lines; --json has all merges."
        left -= len(lines)
        yield from (f"  {'+ other name':<13}{short_mention(one)}" for one in author.elsewhere[: max(left, 1)])
        if len(author.elsewhere) > max(left, 1):
            yield f"  … {len(author.elsewhere) - max(left, 1):,} more under other names; --json has all of them."
        left -= len(author.elsewhere)


def merge_lines(author: ExplainedAuthor, merges: Sequence[TreeMerge]) -> list[str]:
    """The merges of an author in order: a first paper, then each paper or group that joined it, with its score.

    The smaller side of a merge is shown as added to the larger one. So a nested group has at most half of the mentions
    of the group around it, and n mentions are indented at most log₂ n times.
    """
    mentions = {mention.mention_id: mention for mention in author.mentions}
    by_number = {merge.number: merge for merge in merges}
    sizes = tree_sizes(merges)
    lines = []
    # Nodes that are still to be written, each with the merge that adds it and its indentation.
    waiting: list[tuple[str | int, TreeMerge | None, str]] = [(_root(author, merges), None, "")]
    while waiting:
        node, added_by, indent = waiting.pop()
        first, added = _trunk(node, by_number, sizes)
        if added and added_by:
            lines.append(f"{indent}{_score_text(added_by)}{counted(sizes[node], 'mention')} that were merged before:")
            indent, added_by = indent + " " * 4, None
        lines.append(f"{indent}{_score_text(added_by)}{short_mention(mentions[first])}")
        waiting += [(side, merge, indent) for side, merge in reversed(added)]
    return lines


def _trunk(
    node: str | int, by_number: Mapping[int, TreeMerge], sizes: Mapping[str | int, int]
) -> tuple[str, list[tuple[str | int, TreeMerge]]]:
    """The mention that the larger sides of merges below a node lead to, and what was merged with it, in order."""
    added: list[tuple[str | int, TreeMerge]] = []
    while not isinstance(node, str):
        merge = by_number[node]
        node, other = sorted((merge.left, merge.right), key=lambda side: -sizes.get(side, 1))
        added.append((other, merge))
    return node, added[::-1]


def _score_text(merge: TreeMerge | None) -> str:
    """The score of a merge in a column of its own; the first mention has none."""
    if merge is None:
        return " " * 13
    if merge.share is None:
        return f"+ {'must-link' if merge.is_clustered else 'joined':<11}"
    return f"+ {f'{_number(merge.share)} ×':<11}"


def tree_sizes(merges: Sequence[TreeMerge]) -> Mapping[str | int, int]:
    """The number of mentions below each merge; mentions are not included."""
    sizes: dict[str | int, int] = {}
    for merge in merges:
        sizes[merge.number] = sizes.get(merge.left, 1) + sizes.get(merge.right, 1)
    return sizes


def _root(author: ExplainedAuthor, merges: Sequence[TreeMerge]) -> str | int:
    return merges[-1].number if merges else author.mentions[0].mention_id
