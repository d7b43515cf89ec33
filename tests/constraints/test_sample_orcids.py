"""One ORCID is one author: counted in the sample exports, which are not part of the project."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.io.result_directory import DOCUMENTS, MENTIONS
from homonym.settings import Settings
from tests.support.real_data import SAMPLES

# One ORCID for both authors of a paper: an error of its source.
WRONG = "0000-0002-6227-4053"


def authors_by_orcid(result: Path) -> dict[str, list[str]]:
    """The author of each mention that has an ORCID."""
    authors = {row["mention_id"]: row["author_id"] for row in pq.read_table(result / MENTIONS).to_pylist()}
    found: dict[str, list[str]] = defaultdict(list)
    for row in pq.read_table(result / DOCUMENTS, columns=["document_id", "record"]).to_pylist():
        for position, author in enumerate(orjson.loads(row["record"])["authors"]):
            if author and "orcid" in author.get("ids", {}):
                found[author["ids"]["orcid"]].append(authors[f"{row['document_id']}#{position}"])
    return found


@pytest.mark.slow
@pytest.mark.skipif(not SAMPLES.exists(), reason="the sample exports are not available")
@pytest.mark.parametrize("blocking", ["initials", "first-initial"])
def test_mentions_with_one_orcid_are_one_author(blocking: str, tmp_path: Path) -> None:
    """Version 0.10 split 15 of these 70 ORCIDs with `initials`, and 6 by default."""
    result = disambiguate(SAMPLES, tmp_path / "result", Settings(kappa=7, blocking=blocking)).output
    several = {orcid: authors for orcid, authors in authors_by_orcid(result).items() if len(authors) > 1}
    assert len(several) == 70
    assert {orcid for orcid, authors in several.items() if len(set(authors)) > 1} == {WRONG}
    assert WRONG in (result / "conflicts.csv").read_text()
