"""Results to export: one with names and texts that break files, and one with many people of one name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.settings import Settings

#: Names that contain what separates names, fields or lines in some format.
NAMES = [
    "Doe;\tJane", "Roe and Poe, Ann", "O'Neil {Pat}, J.", "<b>Bold</b>, Ada", "=cmd()|x, Eve", "+1, Bob", "@x, Cy",
    "נחמן\u202e, דוד", "王小明", "Иванов, Иван", "Line\nBreak, Lee", "Nul\x00l, N.", "Back\\slash, B%", "And, Metin",
    "Smith, John, Jr.", "de la Cruz, M. A.", "Plato", "Wang, Wei 3", 'Quote", Q', "Łukasz-Óg, Ź.",
    "van der Berg, Jan", "Doe, And Jane", "X\u2028Y, Z", "Ager, Joel W., III",
]  # fmt: skip
TEXTS = [
    'On "x" & 50 % of $y$ {z} <i>in vivo</i>', "Tab\tline\nbreak\x07", "=1+1", "a -- b ''c'' `d` ~e~ f_g^h #i",
    "} @article{x, title={y}}", "ER\nTY  - JOUR\nAU  - Evil, E", "\u202eRTL\u202c עברית",
]  # fmt: skip
ORCID = "0000-0002-1825-0097"


def hostile_documents() -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    for number, text in enumerate(TEXTS * 2):
        names = [*NAMES[number::5], NAMES[0]]
        authors: list[Any] = [
            {"name": name, "affiliations": [f"Univ {text}; Dept {number}", "MIT, Cambridge, USA"],
             "emails": [f"a{number}@x.org"], "ids": {"scopus": str(1000 + place)}}
            for place, name in enumerate(names)
        ]  # fmt: skip
        authors.insert(1, None)  # a rejected author leaves a gap
        authors[0]["ids"]["orcid"] = ORCID if number == 0 else None
        authors[0]["ids"] = {kind: value for kind, value in authors[0]["ids"].items() if value}
        documents.append(
            {"id": f"id {number}: {{~_-}};é", "title": text, "abstract": f"{text} {number}", "venue": text,
             "year": 2000 + number, "keywords": [text, "a; b", "c, d"], "categories": ["X, Y", text],
             "authors": authors, "ids": {"doi": f"10.1000/x{number}(a)"}, "referenced_authors": ["Smith A", "Roe R"]}
        )  # fmt: skip
    documents.append({"id": "empty", "title": "Editorial", "authors": []})
    return documents


def make_result(folder: Path, documents: list[dict[str, Any]], settings: Settings) -> Path:
    records = folder / "records.jsonl"
    records.write_bytes(b"".join(orjson.dumps(document) + b"\n" for document in documents))
    disambiguate(records, folder / "result", settings)
    return folder / "result"


@pytest.fixture(scope="session")
def hostile_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with names and texts that contain separators, markup, formulas and control characters."""
    settings = Settings(kappa=7, constraints="none", background="none")
    return make_result(tmp_path_factory.mktemp("hostile"), hostile_documents(), settings)


@pytest.fixture(scope="session")
def namesakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with 60 people called Wang, Wei, two of them with variants of the name."""
    documents = [
        {"id": f"w{number}", "title": f"topic{number} alone", "year": 2000,
         "authors": [{"name": "Wang, Wei" if number % 2 else "Wang, W.",
                      "ids": {"researcherid": f"A-{1000 + number % 60}-2010"}},
                     {"name": f"Coauthor{chr(65 + number % 26)}, X"}]}
        for number in range(64)
    ]  # fmt: skip
    settings = Settings(kappa=1e9, constraints="identifiers", background="none")
    return make_result(tmp_path_factory.mktemp("namesakes"), documents, settings)


@pytest.fixture(scope="session")
def united(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with an author of two names that share an ORCID."""
    authors = [
        {"name": "Harrison, Hugo", "ids": {"orcid": ORCID}},
        {"name": "Smith-Harrison, H", "ids": {"orcid": ORCID}},
    ]
    documents = [
        {"id": f"u{number}", "title": f"topic{number}", "authors": [author, "Roe, R"]}
        for number, author in enumerate(authors)
    ]
    settings = Settings(kappa=7, background="none")
    return make_result(tmp_path_factory.mktemp("united"), documents, settings)
