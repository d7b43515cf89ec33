"""Original files rewritten with the authors of a result: every byte outside of author fields stays."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from homonym.commands.disambiguate import disambiguate
from homonym.commands.export import Exported, export
from homonym.errors import InputError, OutputError
from homonym.records.reader import read_documents
from homonym.settings import Settings
from tests.exports.test_reading_exports_back import authors_of
from tests.support.command import homonym_command

# Most tests make whole results.
pytestmark = pytest.mark.slow

ONE, OTHER = "0000-0002-1825-0097", "0000-0002-1694-233X"
FILES = {
    "wos": ("savedrecs.txt", f"""\ufeffFN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Wang, W
   Müller, J
   WHO
AF Wang, Wei
   Müller, Jörg
   WHO
TI Graph kernels -
   a survey
VL 12
BP 3
TC 17
CR Smith A, 1999, J GRAPHS, V1, P2, DOI 10.1/x
OI Wang, Wei/{ONE}
PY 2010
UT WOS:000000000000001
ER

PT J
AU Wang, W
AF Wang, Wei
TI Soil fungi
OI Wang, Wei/{OTHER}
UT WOS:000000000000002
ER

EF
"""),
    "ris": ("library.ris", f"""\ufeffTY  - JOUR
AU  - Wang, Wei
AU  - Müller, Jörg
TI  - Graph kernels
VL  - 12
SP  - 3
N1  - a note
OI  - Wang, Wei; ORCID: {ONE}
DO  - 10.1000/1
ER  -

TY  - JOUR
A1  - Wang, Wei
TI  - Soil fungi
OI  - Wang, Wei; ORCID: {OTHER}
DO  - 10.1000/2
ER  -
"""),
    "bibtex": ("library.bib", f"""% a comment
@string{{jg = "Journal of Graphs"}}

@Article{{ one,
  title = {{Graph kernels}}, journal = jg,
  author = {{Wang, Wei and M{{\\"u}}ller, J{{\\"o}}rg and {{World Health Organization}}
     and others}},
  volume = 12, pages = "3--4",
  orcid-numbers = {{Wang, Wei/{ONE}}},
}}

@misc{{two, Author="Wei Wang", title="Soil {{fungi}}", orcid-numbers = {{Wang, Wei/{OTHER}}}, doi={{10.1000/2}}}}
@comment{{kept}}
"""),
    "scopus": ("scopus.csv", """\ufeff"Authors","Author full names","Author(s) ID",Title,Year,Volume,"Cited by",DOI,EID
"Wang W.; Müller J.","Wang, Wei (57); Müller, Jörg (58)",57;58,"Graph ""kernels"",
a survey",2010,12,17,10.1000/1,2-s2.0-1
Wang W.,"Wang, Wei (59)",59,Soil fungi,2011,,0,10.1000/2,2-s2.0-2
"""),
}  # fmt: skip
# What a rewritten file may change, and what stands for it in a comparison.
AUTHOR_FIELDS = {
    "wos": [(r"(?m)^(?:AU|AF) .*(?:\r?\n   .*)*", "AUTHORS"), (r"(?m)^X[12] .*\r?\n", "")],
    "ris": [(r"(?m)^(A[U1])  - [^\r\n]*", r"\1"), (r"(?m)^N1  - homonym-[^\r\n]*\r?\n", "")],
    "bibtex": [
        (r"homonym-\w+ = \{[^{}]*\},\s+", ""),
        (r'(?is)author ?= ?(\{(?:[^{}]|\{[^{}]*\}|\{\\"\{.\}\})*\}|"[^"]*")', "A"),
    ],
}  # fmt: skip
IDENTIFIERS = {"scopus": "scopus"}


def without_authors(to: str, text: str) -> object:
    """All that must stay: the text without author fields; of tables the other cells."""
    if to == "scopus":
        head, *rows = csv.reader(io.StringIO(text, newline=""))
        kept = [n for n, name in enumerate(head) if name.strip("\ufeff\"") not in
                {"Authors", "Author full names", "Homonym authors", "Homonym id"}]  # fmt: skip
        return [[row[n] for n in kept] for row in [head, *rows]]
    for pattern, new in AUTHOR_FIELDS[to]:
        text = re.sub(pattern, new, text)
    return text


def made(folder: Path, to: str, change: Callable[[str], bytes] = str.encode) -> tuple[Path, Path]:
    name, text = FILES[to]
    original = folder / name
    original.write_bytes(change(text))
    settings = Settings(kappa=1e9, constraints="identifiers", identifiers=IDENTIFIERS.get(to, "orcid"))
    return original, disambiguate(original, folder / "result", settings).output


def rewritten(result: Path, to: str, original: Path) -> tuple[Path, Exported]:
    output = result.parent / f"new {original.name}"
    return output, export(result, to, output, originals=[original])


def windows_lines(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def western(text: str) -> bytes:
    return text.lstrip("\ufeff").encode("cp1252")


@pytest.mark.parametrize("change", [str.encode, windows_lines, western])
@pytest.mark.parametrize("to", FILES)
def test_only_author_fields_change(to: str, change: Callable[[str], bytes], tmp_path: Path) -> None:
    original, result = made(tmp_path, to, change)
    output, done = rewritten(result, to, original)
    assert not done.warnings
    encoding = "cp1252" if change is western and not original.read_bytes().isascii() else "utf-8"
    before, after = (path.read_bytes().decode(encoding) for path in (original, output))
    assert without_authors(to, after) == without_authors(to, before)
    assert before.count("\r") <= after.count("\r")
    assert ("\r" in before) == ("\r" in after)
    # Two people called Wang, Wei are told apart, and what is no person stays.
    assert after.count("Wang, Wei B") == 1
    assert "Müller, Jörg" in after
    for kept in ("   WHO", "{World Health Organization}", "and others"):
        assert before.count(kept) == after.count(kept)


@pytest.mark.parametrize("to", FILES)
def test_rewritten_files_have_the_authors_of_the_result(to: str, tmp_path: Path) -> None:
    original, result = made(tmp_path, to)
    output, first = rewritten(result, to, original)
    wanted, found = authors_of(result), {}
    for _, document, problems in read_documents(output):
        assert {problem.lost for problem in problems} <= {"contributor"}
        if document is None:
            continue
        for author in document.authors:
            found[f"{document.id}#{author.position}"] = author.ids["homonym"]
    assert found == wanted
    assert first.records == len({mention.partition("#")[0] for mention in found})
    again, done = rewritten(result, to, output)
    assert (again.read_bytes(), done.warnings) == (output.read_bytes(), [])


@pytest.mark.parametrize("to", FILES)
def test_other_records_stay_and_are_counted(to: str, tmp_path: Path) -> None:
    original, result = made(tmp_path, to)
    text = original.read_text(encoding="utf-8")
    for old, new in (("000000000000002", "000000000000009"), ("10.1000/2", "10.1000/9"), ("two,", "nine,"),
                     ("2-s2.0-2", "2-s2.0-9")):  # fmt: skip
        text = text.replace(old, new)
    original.write_text(text, encoding="utf-8")
    output, done = rewritten(result, to, original)
    assert done.warnings == ["1 record kept without change: no document of the result has the id."]
    assert without_authors(to, output.read_text(encoding="utf-8")) == without_authors(to, text)


def test_record_with_other_authors_stays(tmp_path: Path) -> None:
    original, result = made(tmp_path, "wos")
    original.write_bytes(original.read_bytes().replace(b"Wang, Wei\nTI Soil", b"Smith, Ann\nTI Soil"))
    output, done = rewritten(result, "wos", original)
    assert "Smith, Ann\nTI Soil" in output.read_text(encoding="utf-8")
    assert done.warnings == [
        "1 record kept without change: the document of the result has other authors, or there are several with the id."
    ]


def test_damaged_records_stay(tmp_path: Path) -> None:
    original, result = made(tmp_path, "scopus")
    damaged = original.read_bytes() + b'"cut he\n' + b"Doe J.,too,few\n"
    original.write_bytes(damaged)
    output, _ = rewritten(result, "scopus", original)
    assert output.read_bytes().endswith(b'"cut he\nDoe J.,too,few\n')


def test_invalid_bytes_and_inner_marks_stay(tmp_path: Path) -> None:
    original, result = made(tmp_path, "wos")
    joined = original.read_bytes().replace(b"a survey", b"a surv\xffy")
    original.write_bytes(joined + joined)
    output, done = rewritten(result, "wos", original)
    before, after = (path.read_bytes().decode("latin-1") for path in (original, output))
    assert without_authors("wos", after) == without_authors("wos", before)
    assert after.count("Wang, Wei B") == 2
    assert not done.warnings


def test_several_files_become_a_directory(tmp_path: Path) -> None:
    original, result = made(tmp_path, "wos")
    packed = tmp_path / "more.txt.gz"
    packed.write_bytes(gzip.compress(original.read_bytes()))
    command = ["export", "result/", original.name, packed.name, "--to", "wos", "-o", "new"]
    homonym_command(*command, cwd=tmp_path, check=True)
    assert (
        gzip.decompress((tmp_path / "new" / packed.name).read_bytes())
        == (tmp_path / "new" / original.name).read_bytes()
    )
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / original.name).write_bytes(original.read_bytes())
    with pytest.raises(OutputError, match=r"two files are called savedrecs\.txt"):
        export(result, "wos", tmp_path / "x", originals=[original, tmp_path / "deep" / original.name])


def test_refusals_are_one_sentence(tmp_path: Path) -> None:
    original, result = made(tmp_path, "wos")
    with pytest.raises(InputError, match="is Web of Science, plain text: --to ris rewrites only files of the same"):
        export(result, "ris", tmp_path / "x.ris", originals=[original])
    with pytest.raises(InputError, match="--to excel is made of the result alone"):
        export(result, "excel", tmp_path / "x.xlsx", originals=[original])
    with pytest.raises((InputError, OutputError), match="savedrecs"):
        export(result, "wos", original, originals=[original])
    with pytest.raises(InputError, match="missing"):
        export(result, "wos", tmp_path / "x.txt", originals=[tmp_path / "missing.txt"])


GROUPS = {
    "wos": ("TI Graph", "CA Planck Collaboration\nTI Graph"),
    "ris": ("AU  - Müller, Jörg", "AU  - Planck Collaboration\nAU  - Müller, Jörg\nA1  - Ice Watch,"),
    "bibtex": ("{World Health Organization}", "{Ice Watch} and Planck Collaboration"),
    "scopus": (
        'Müller J.","Wang, Wei (57); Müller, Jörg (58)",57;58',
        'Planck Collaboration; Müller J.","Wang, Wei (57); Planck Collaboration (60); Müller, Jörg (58)",57;60;58',
    ),
}


@pytest.mark.parametrize("to", FILES)
def test_groups_stay_in_rewritten_files(to: str, tmp_path: Path) -> None:
    original, result = made(tmp_path, to, lambda text: text.replace(*GROUPS[to]).encode())
    output, done = rewritten(result, to, original)
    assert not done.warnings
    before, after = ([one.document for one in read_documents(path) if one.document] for path in (original, output))
    assert "Planck Collaboration" in before[0].other_contributors
    assert [document.other_contributors for document in after] == [document.other_contributors for document in before]
    assert [len(document.authors) for document in after] == [len(document.authors) for document in before]
    assert all("homonym" in author.ids for document in after for author in document.authors)
