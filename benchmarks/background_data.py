"""Makes the background of small collections: how common words, surnames and given names are.

    python -m benchmarks.background_data                        from ../shared/data/nsf2008, into the package
    python -m benchmarks.background_data DOCUMENTS -o FILE      from other documents in homonym's own format

The source is the list of grants of the US National Science Foundation that began in 2008, which is a work of the US
government and in the public domain. The file has counts only, no text. The same documents give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from benchmarks.accuracy import DATA
from homonym.features.text import count_words, lemmas_of
from homonym.names.parse import parse_name
from homonym.settings import Settings

SOURCE = DATA / "nsf2008" / "documents.jsonl.gz"
TARGET = Path(__file__).resolve().parents[1] / "src/homonym/collection/data/background.txt"
HEAD = """\
# Counts of words, surnames and given names: the background of small collections (see collection/background.py).
# Source: grants of the US National Science Foundation of 2008, public domain. Made by benchmarks/background_data.py.
# Columns: kind, value, count. A row without value has the total of its kind, with the words that are left out.
# term: #(f) over mentions, words of two or more documents; surname, given: number of distinct names that have it.
"""
#: Words of fewer documents are left out: many are typing errors, and they are half of the file.
MIN_DOCUMENTS = 2


def count_terms(documents: list[dict[str, object]]) -> Iterator[tuple[str, str, int]]:
    """#(f) of the words, counted for each author of a document as in a collection."""
    settings = Settings()
    titles, abstracts = ([str(one.get(field) or "") for one in documents] for field in ("title", "abstract"))
    words, document, word, count = count_words(
        titles, abstracts, settings.title_weight, settings.abstract_weight, lemmas_of(settings.language)
    )
    authors = np.array([len(list(one["authors"])) for one in documents])  # type: ignore[call-overload]
    total = np.bincount(word, count * authors[document], len(words)).astype(int)
    frequent = np.bincount(word[authors[document] > 0], minlength=len(words)) >= MIN_DOCUMENTS
    yield "term", "", int(total.sum())
    yield from sorted(("term", words[number].as_py(), int(total[number])) for number in np.flatnonzero(frequent))


def count_names(documents: list[dict[str, object]]) -> Iterator[tuple[str, str, int]]:
    """How many distinct names have each surname, and each sequence of given names or initials."""
    written = {author["name"] for one in documents for author in one["authors"]}  # type: ignore[attr-defined]
    names = {(name.surname, " ".join(name.given)) for name in map(parse_name, written) if name.surname}
    for kind, values in zip(("surname", "given"), zip(*names, strict=True), strict=True):
        yield kind, "", len(names)
        yield from sorted((kind, value, count) for value, count in Counter(values).items() if value)


def background(path: Path) -> str:
    """The file of a list of documents."""
    with gzip.open(path) as lines:
        documents = [orjson.loads(line) for line in lines]
    rows = [*count_terms(documents), *count_names(documents)]
    return HEAD + "".join(f"{kind}\t{value}\t{count}\n" for kind, value, count in rows)


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="?", type=Path, default=SOURCE, metavar="DOCUMENTS")
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    chosen = parser.parse_args()
    chosen.output.write_text(background(chosen.documents), encoding="utf-8")


if __name__ == "__main__":
    main()
