"""Author ids by their definition, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping


def author_id(block: str, anchor: str) -> str:
    """The id of an author whose anchor is this mention."""
    return f"{block}/{hashlib.sha256(anchor.encode()).hexdigest()[:12]}"


def expected_ids(rows: Iterable[Mapping[str, str]], year: Mapping[str, int | None]) -> dict[str, str]:
    """The id of each mention, from the rows of a result and the years of documents; only the grouping is trusted."""
    groups: dict[tuple[str, str], list[tuple[bool, int, str]]] = {}
    for row in rows:
        when = year.get(row["document_id"])
        groups.setdefault((row["block"], row["author_id"]), []).append((when is None, when or 0, row["mention_id"]))
    return {mention: author_id(block, min(group)[2]) for (block, _), group in groups.items() for _, _, mention in group}
