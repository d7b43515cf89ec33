"""Damaged, shifted and joined tables: nothing is lost in silence, and what precedes a shift is used."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import pytest
from benchmarks.exports import EXPORTS, documents

from homonym.records.model import Document, Problem
from homonym.records.reader import read_documents
from tests.support.command import homonym_command

RECORDS = 12


class Found:
    def __init__(self, path: Path, name: str | None = None) -> None:
        self.documents: list[Document] = []
        self.problems: list[Problem] = []
        for _, document, problems in read_documents(path, name):
            self.documents += [document] if document else []
            self.problems += problems

    def lost(self, kind: str) -> list[str]:
        return [problem.reason for problem in self.problems if problem.lost == kind]


def export(name: str) -> bytes:
    return b"".join(EXPORTS[name].write(islice(documents(400), RECORDS)))


def separator_of(content: bytes) -> bytes:
    header = content.partition(b"\n")[0]
    return max((b"\t", b",", b";"), key=header.count)


def changed(content: bytes, dice: random.Random, change: Callable[[bytes], bytes]) -> bytes:
    """The content with a change in one of its lines."""
    lines = content.split(b"\n")
    chosen = dice.randrange(2, RECORDS)
    lines[chosen] = change(lines[chosen])
    return b"\n".join(lines)


def inserted(text: bytes) -> Callable[[bytes, random.Random], bytes]:
    def damage(content: bytes, dice: random.Random) -> bytes:
        def change(line: bytes) -> bytes:
            place = dice.randrange(1, max(2, len(line)))
            return line[:place] + text + line[place:]

        return changed(content, dice, change)

    return damage


def mixed_line_ends(content: bytes, dice: random.Random) -> bytes:
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    return b"".join(line + dice.choice([b"\n", b"\r\n", b"\r"]) for line in lines)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "extra cell at the end": lambda c, d: changed(c, d, lambda line: line.rstrip(b"\r") + separator_of(c) + b"x"),
    "extra cell inside": lambda c, d: changed(c, d, lambda line: line.replace(separator_of(c), separator_of(c) * 2, 1)),
    "lost cell": lambda c, d: changed(c, d, lambda line: line.replace(separator_of(c), b"", 1)),
    "line break": inserted(b"\n"),
    "carriage return": inserted(b"\r"),
    "extra quotation mark": inserted(b'"'),
    "lost quotation mark": lambda c, d: changed(c, d, lambda line: line.replace(b'"', b"", 1)),
    "null byte": inserted(b"\0"),
    "mark inside": inserted(b"\xef\xbb\xbf"),
    "mixed line ends": mixed_line_ends,
    "separator line": lambda c, d: b"sep=" + separator_of(c) + b"\n" + c,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPORTS if EXPORTS[name].format in {"scopus", "wos-tab", "table"}])
@pytest.mark.parametrize("damage", list(DAMAGES))
def test_every_record_is_read_or_rejected(tmp_path: Path, name: str, damage: str) -> None:
    content = export(name)
    (tmp_path / "a").write_bytes(content)
    originals = Found(tmp_path / "a").documents
    number = len(originals)
    for seed in range(8):
        (tmp_path / "a").write_bytes(DAMAGES[damage](content, random.Random(seed)))
        found = Found(tmp_path / "a", EXPORTS[name].format)
        assert len(found.documents) + len(found.lost("record")) >= number
        assert len(found.documents) >= number - 1
        damaged = [document for document in found.documents if document not in originals]
        assert len(damaged) <= 1
        assert letters(damaged) <= letters(document for document in originals if document not in found.documents)


def letters(given: Iterable[Document]) -> set[str]:
    """The authors of documents, without other characters than letters, as damage may insert some."""
    return {"".join(filter(str.isalpha, author.name)) for document in given for author in document.authors}


@pytest.mark.parametrize("name", ["scopus", "wos-tab"])
def test_joined_exports_are_read(tmp_path: Path, name: str) -> None:
    content = export(name)
    (tmp_path / "a").write_bytes(content + b"\xef\xbb\xbf" + content.removeprefix(b"\xef\xbb\xbf"))
    found = Found(tmp_path / "a")
    assert (len(found.documents), found.problems) == (2 * RECORDS, [])


HEADER = "Authors,Author(s) ID,Title,Year,Source title,DOI,EID"
ROW = '"Doe J., Roe A.","1;2;",On wells {n},2010,Nature,10.1000/x{n},2-s2.0-{n}'


def test_scopus_export_with_other_columns_after_the_first_is_read(tmp_path: Path) -> None:
    other = "Title,Authors,Year,EID,Author Keywords,Source title\nOn water,Poe B.,2011,2-s2.0-9,wells,Nature\n"
    (tmp_path / "a.csv").write_text(f"{HEADER}\n{ROW.format(n=1)}\n{other}{HEADER}\n{ROW.format(n=2)}\n")
    found = Found(tmp_path / "a.csv")
    assert [document.id for document in found.documents] == ["2-s2.0-1", "2-s2.0-9", "2-s2.0-2"]
    assert found.documents[1].title == "On water"
    assert not found.problems


def test_scopus_rows_with_an_extra_cell_are_used_up_to_the_shift(tmp_path: Path) -> None:
    rows = [f"{ROW.format(n=n)},x" for n in range(1, 25)]
    rows[3] = rows[3].replace("On wells 4", '"On wells\nand water"')
    rows[5] = rows[5].replace("On wells 6", '"On wells\nand "water"')  # damaged
    rows[8] = rows[8].replace(",2010,", ",on water,2010,")
    (tmp_path / "a.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    found = Found(tmp_path / "a.csv")
    assert len(found.documents) + len(found.lost("record")) >= 24
    assert len(found.documents) >= 23
    assert found.documents[3].title == "On wells and water"
    assert "not used: Title, Year, Source title, DOI and EID" in " ".join(found.lost("field"))
    shifted = next(document for document in found.documents if not document.title)
    assert [author.ids["scopus"] for author in shifted.authors] == ["1", "2"]


def test_table_rows_under_a_header_with_other_columns_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,authors\n1,x,Doe J\nauthors,id,title\nRoe A,2,y\n")
    found = Found(tmp_path / "a.csv")
    assert [document.id for document in found.documents] == ["1"]
    assert "header with other columns" in found.lost("record")[0]


@pytest.mark.parametrize(
    "header",
    ["PT\tAU\tTI\tSO\tPY\tAU\tDI\tUT", "type\tauthors\ttitle\tvenue\tyear\tAuthors\tdoi\tid"],
)
def test_first_column_with_a_value_counts(tmp_path: Path, header: str) -> None:
    rows = ["J\tDoe, J; Roe, A\tx\tNature\t2010\t\t10.1000/1\tWOS:1", "J\t\ty\tNature\t2010\tPoe, B\t\tWOS:2"]
    (tmp_path / "a.txt").write_text("\n".join([header, *rows]) + "\n")
    found = Found(tmp_path / "a.txt")
    assert [[author.name for author in document.authors] for document in found.documents] == [
        ["Doe, J", "Roe, A"],
        ["Poe, B"],
    ]


def test_web_of_science_cells_with_quoted_tabs_and_line_ends_are_read(tmp_path: Path) -> None:
    rows = ['J\tDoe, J\t"On\twells\nand water"\tNature\t2010\tWOS:1', 'J\tRoe, A\tOn 5" pipes\tNature\t2011\tWOS:2']
    (tmp_path / "a.txt").write_text("\n".join(["PT\tAU\tTI\tSO\tPY\tUT", *rows]) + "\n")
    found = Found(tmp_path / "a.txt", "wos-tab")
    assert [document.title for document in found.documents] == ["On wells and water", 'On 5" pipes']


def test_records_that_are_not_utf8_give_a_warning(tmp_path: Path) -> None:
    rows = ["id,authors", "1,Müller J", "2,Doe J", "3,Иванов П"]
    (tmp_path / "a.csv").write_bytes("\n".join(rows[:3]).encode("latin-1"))
    (tmp_path / "b.csv").write_bytes("\n".join([rows[0], *rows[2:]]).encode("cp1251"))
    (tmp_path / "c.csv").write_bytes("\n".join(rows).replace("1,", "4,").encode())
    done = homonym_command("inspect", tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.csv")
    assert done.returncode == 0, done.stderr
    for name in ("a.csv", "b.csv"):
        expected = f"warning: {tmp_path / name}: 1 of 2 records not in UTF-8, but read as Windows Latin"
        assert expected in done.stderr
    assert done.stderr.count("Windows Latin") == 2


def test_file_without_authors_gives_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,authors,year\n" + "On x,,2010\n" * 38)
    (tmp_path / "b.csv").write_text("title,authors,year\nOn y,Doe J,2010\n")
    done = homonym_command("inspect", tmp_path / "a.csv", tmp_path / "b.csv")
    assert done.returncode == 0, done.stderr
    assert f"warning: {tmp_path / 'a.csv'}: none of its 38 records has an author; check the file" in done.stderr
    assert "no authors" in done.stdout
    done = homonym_command("disambiguate", tmp_path / "a.csv", "-o", tmp_path / "o.csv")
    assert done.returncode == 2
    assert "38 records, but no author; check the file" in done.stderr
