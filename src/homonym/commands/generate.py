"""Generate: a synthetic corpus with known authors, as documents on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson

from homonym.errors import OutputError, reason_of
from homonym.io.outputs import open_atomic, write_atomic
from homonym.io.result_directory import is_result
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.document_generator import batches
from homonym.synthetic.population import Population
from homonym.synthetic.random_draws import Flags

# The files of a corpus.
DOCUMENTS, DESCRIPTION = "documents.jsonl.gz", "corpus.json"

# Number of authors whose names are counted at a time.
CHUNK = 1 << 18


def generate(
    output: Path | str,
    corpus: Corpus = Corpus(),  # noqa: B008 - frozen
    *,
    advance: Callable[[int], None] | None = None,
) -> Path:
    """Write DIR/documents.jsonl.gz and DIR/corpus.json (parameters and counts); returns the path of the documents.

    `advance` is called with the number of mentions of each batch. Memory holds one batch of documents and one byte per
    author.
    """
    directory = _directory(Path(output))
    path = directory / DOCUMENTS
    population = Population(corpus)
    seen = np.zeros(population.people, dtype=np.bool_)
    written = mentions = 0
    with open_atomic(path) as stream:
        for batch in batches(corpus, population):
            stream.write(
                b"".join([orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE) for document in batch.documents])
            )
            seen[batch.authors] = True
            written, mentions = written + len(batch.documents), mentions + len(batch.authors)
            if advance:
                advance(len(batch.authors))
    counts = {"documents": written, "mentions": mentions, **_counts(population, seen)}
    report = orjson.dumps({"parameters": corpus.given, **counts}, option=orjson.OPT_INDENT_2)
    write_atomic(directory / DESCRIPTION, report + b"\n")
    return path


def require_own_files(directory: Path, *names: str) -> None:
    """Fail if files to be written would replace those of a result directory, or files that are not of a corpus."""
    if is_result(directory):
        raise OutputError(f"{directory} is a result directory; name another directory.")
    found = next((name for name in names if os.path.lexists(directory / name)), None)
    if found and not (directory / DESCRIPTION).exists():
        raise OutputError(f"{directory / found} was not made by homonym generate; name another directory.")


def _directory(path: Path) -> Path:
    """Make the directory without parents, so that a typing error does not create a tree of directories."""
    require_own_files(path, DOCUMENTS)
    try:
        path.mkdir(exist_ok=True)
    except OSError as broken:
        raise OutputError(
            f"{path} cannot be made: {reason_of(broken)}; name a directory in a place that exists."
        ) from broken
    return path


def _counts(population: Population, seen: Flags) -> dict[str, object]:
    """Number of authors that occur, of their names, and of names by number of authors.

    A mention that lost an initial counts for its author's full name.
    """
    authors_of = np.zeros(population.namesakes.names, dtype=np.int32)
    for start in range(0, len(seen), CHUNK):
        present = start + np.flatnonzero(seen[start : start + CHUNK])
        np.add.at(authors_of, population.namesakes.name(present), 1)
    sizes, names = np.unique(authors_of[authors_of > 0], return_counts=True)
    by_authors = {str(size): names for size, names in zip(sizes.tolist(), names.tolist(), strict=True)}
    return {"authors": int(seen.sum()), "names": int(names.sum()), "names_by_authors": by_authors}
