"""Writer of BibTeX in the style of reference managers."""

from __future__ import annotations

import unicodedata

from benchmarks.writers.parts import Name
from homonym.records.model import Document

_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u ", "\u0307": ".",
            "\u0308": '"', "\u030a": "r ", "\u030b": "H ", "\u030c": "v ", "\u0327": "c ", "\u0328": "k "}  # fmt: skip
_LETTERS = {"ø": r"{\o}", "Ø": r"{\O}", "ł": r"{\l}", "Ł": r"{\L}", "ı": r"{\i}", "ß": r"{\ss}", "°": r"{\textdegree}"}
_ESCAPES = str.maketrans({"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$"})


def escaped(text: str) -> str:
    """Text with the special characters of LaTeX escaped.

    >>> escaped("R&D")
    'R\\\\&D'
    """
    return text.translate(_ESCAPES)


def latex(text: str) -> str:
    r"""Text in ASCII, with LaTeX macros for all other letters.

    >>> print(latex("Šéß & Łódź"))
    {\v S}{\'e}{\ss} \& {\L}{\'o}d{\'z}
    """
    text = escaped(text)
    return text if text.isascii() else "".join(letter if letter.isascii() else _letter(letter) for letter in text)


def _letter(letter: str) -> str:
    if letter in _LETTERS:
        return _LETTERS[letter]
    plain, mark = list(unicodedata.normalize("NFD", letter))
    return f"{{\\{_ACCENTS[mark]}{plain}}}"


def write_bibtex(document: Document) -> bytes:
    """An entry with accents as macros and keywords separated by commas."""
    names = [Name.of(author.name) for author in document.authors]
    written = [", ".join(filter(None, (name.family, name.suffix, name.given))) for name in names]
    fields = {
        "title": f"{{{latex(document.title)}}}",
        "author": "\n\t\tand ".join(map(latex, written)) if document.year else latex(" and ".join(written)),
        "year": str(document.year or ""),
        "month": "" if document.year else "may",
        "journal": latex(document.venue),
        "doi": document.ids["doi"],
        "pmid": document.ids["pmid"],
        "keywords": latex(", ".join(document.keywords)),
        "abstract": latex(document.abstract),
    }
    lines = [
        f"\t{name} = {value if name == 'month' else f'{{{value}}}'},\n"
        for name, value in fields.items()
        if value.strip("{}")
    ]
    return "".join([f"\n@article{{{document.id},\n", *lines, "}\n"]).encode()
