"""XLSX tables: values of all kinds, sheets, merged cells, damage, and workbooks that are made to harm."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest
from benchmarks.exports import EXPORTS

from homonym.errors import InputError
from homonym.io import inputs, xlsx, zip_files
from homonym.io.inputs import Source
from homonym.records.reader import format_of, read_documents
from tests.records.test_round_trip import check, written
from tests.support.workbooks import MAIN, letters, sheet, write_rows, write_workbook

HEADER = ["id", "title", "year", "authors"]
STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm"/><numFmt numFmtId="165" formatCode="0&quot; days&quot;"/>'
    "</numFmts>"
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    '<xf numFmtId="22"/><xf numFmtId="23"/></cellXfs>'
)


def rows_of(path: Path) -> list[list[str]]:
    with Source(path) as source:
        text = b"".join(source.blocks()).decode()
    return list(csv.reader(io.StringIO(text)))


def cells(content: str, folder: Path, **more: object) -> list[str]:
    """The cells of the first row of a sheet with these cells."""
    text = f"<worksheet {MAIN}><sheetData><row>{content}</row></sheetData></worksheet>"
    return rows_of(write_workbook(folder / "a.xlsx", {"S": text}, styles=STYLES, **more))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("<c><v>2014</v></c>", "2014"),
        ("<c><v>2.014E3</v></c>", "2014"),
        ("<c><v>57094712500</v></c>", "57094712500"),
        ("<c><v>0.25</v></c>", "0.25"),
        ("<c><v>1,5 x</v></c>", "1,5 x"),
        ("<c><v>-999999999999999.0</v></c>", "-999999999999999"),
        ("<c><v>1e15</v></c>", "1e15"),  # Excel keeps 15 digits
        ('<c t="b"><v>1</v></c>', "TRUE"),
        ('<c t="e"><v>#REF!</v></c>', ""),
        ('<c t="str"><f>A1&amp;"x"</f><v>made</v></c>', "made"),
        ('<c t="inlineStr"><is><r><t>two</t></r><r><t xml:space="preserve"> runs</t></r></is></c>', "two runs"),
        ('<c t="inlineStr"><is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is></c>', "東京"),
        ('<c t="inlineStr"><is><t>a_x000D_\nb "c"\td</t></is></c>', 'a b "c" d'),
        ('<c t="s"><v>1</v></c>', "second"),
        ('<c t="s"><v>99</v></c>', ""),
        ('<c t="s"><v>-1</v></c>', ""),
        ('<c s="1"><v>41640</v></c>', "2014-01-01"),
        ('<c s="2"><v>41640.75</v></c>', "2014-01-01"),
        ('<c s="3"><v>41640</v></c>', "41640"),
        ('<c s="4"><v>41640.75</v></c>', "2014-01-01"),  # a built-in format of date and time
        ('<c s="5"><v>41640</v></c>', "41640"),  # no built-in format
        ('<c s="1"><v>1e300</v></c>', "1e300"),
        ('<c s="1"><v>0.5</v></c>', "0.5"),  # a time of day
        ('<c s="1"><v>1</v></c>', "1899-12-31"),
        ('<c s="1"><v>2958465</v></c>', "9999-12-31"),
        ('<c s="1"><v>2958466</v></c>', "2958466"),
        ('<c t="b"><v>0</v></c>', "FALSE"),
        ('<c t="s"><v>0</v></c>', "first"),
        ('<c t="s"><v>2</v></c>', ""),
        ('<c t="inlineStr"><is><t>a_x0041_b_x41_</t></is></c>', "aAb_x41_"),
        ('<c t="d"><v>2014-03-15T00:00:00</v></c>', "2014-03-15T00:00:00"),
        ("<c/>", ""),
    ],
)
def test_values(tmp_path: Path, cell: str, value: str) -> None:
    marks = '<c t="str"><v>first</v></c>', '<c t="str"><v>last</v></c>'
    assert cells(cell.join(marks), tmp_path, texts=["first", "second"]) == ["first", value, "last"]


@pytest.mark.parametrize(("written", "day"), [("1", "2014-01-01"), ("true", "2014-01-01"), ("0", "2009-12-31")])
def test_dates_may_be_counted_from_1904(tmp_path: Path, written: str, day: str) -> None:
    properties = f'<workbookPr date1904="{written}"/>'
    assert cells('<c s="1"><v>40178</v></c>', tmp_path, properties=properties) == [day]
    assert cells('<c s="1"><v>2958465</v></c>', tmp_path, properties='<workbookPr date1904="1"/>') == ["2958465"]


@pytest.mark.parametrize("format_number", [14, 17, 22, 27, 36, 50, 58])
def test_built_in_formats_of_dates(tmp_path: Path, format_number: int) -> None:
    styles = f'<cellXfs><xf numFmtId="{format_number}"/></cellXfs>'
    text = f'<worksheet {MAIN}><sheetData><row><c s="0"><v>41640</v></c></row></sheetData></worksheet>'
    assert rows_of(write_workbook(tmp_path / "a.xlsx", {"S": text}, styles=styles)) == [["2014-01-01"]]


@pytest.mark.parametrize("format_number", [0, 1, 13, 18, 21, 23, 26, 37, 49, 59])
def test_built_in_formats_of_times_and_numbers(tmp_path: Path, format_number: int) -> None:
    styles = f'<cellXfs><xf numFmtId="{format_number}"/></cellXfs>'
    text = f'<worksheet {MAIN}><sheetData><row><c s="0"><v>41640</v></c></row></sheetData></worksheet>'
    assert rows_of(write_workbook(tmp_path / "a.xlsx", {"S": text}, styles=styles)) == [["41640"]]


def test_rows_keep_their_numbers_and_get_the_same_width(tmp_path: Path) -> None:
    content = (
        f"<x:worksheet {MAIN.replace('xmlns', 'xmlns:x')}><x:sheetData>"
        '<x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c><x:c r="C1">'
        '<x:v>3</x:v></x:c></x:row><x:row r="4"><x:c r="B4"><x:v>5</x:v></x:c></x:row><x:row r="1048576"><x:c r="A1"/>'
        "</x:row></x:sheetData></x:worksheet>"
    )
    path = write_workbook(tmp_path / "a.xlsx", {"S": content})
    with Source(path) as source:
        assert source.head == b'"1","","3"\n\n\n"","5",""\n'


def test_shared_texts_may_have_several_runs_and_a_pronunciation(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.xlsx", [["東京", "two runs", "three"]])
    replace_in(path, "xl/sharedStrings.xml", "東京</t>", "東京</t><rPh><t>トウキョウ</t></rPh>")
    replace_in(path, "xl/sharedStrings.xml", "two runs</t>", 'two</t><r><t xml:space="preserve"> runs</t></r>')
    assert rows_of(path) == [["東京", "two runs", "three"]]


def test_cells_and_rows_without_a_place_follow_the_last_one(tmp_path: Path) -> None:
    rows = (
        '<row r="2"><c r="B2"><v>1</v></c><c><v>2</v></c></row>'
        "<row><c><v>3</v></c><c><v>4</v></c></row>"
        '<row r="3"><c><v>5</v></c></row>'  # a number that has passed
        '<row r="6"><c><v>6</v></c></row>'
    )
    path = write_workbook(tmp_path / "a.xlsx", {"S": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"})
    with Source(path) as source:
        assert source.head == b'\n"","1","2"\n"3","4",""\n"5","",""\n\n"6","",""\n'


def test_the_last_row_of_excel_is_at_its_place(tmp_path: Path) -> None:
    rows = '<row r="1048576"><c><v>1</v></c></row>'
    path = write_workbook(tmp_path / "a.xlsx", {"S": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"})
    with Source(path) as source:
        assert list(source.lines()) == [(1_048_576, b'"1"', "")]


def test_cells_beyond_the_last_column_and_row_of_excel_are_not_at_their_place(tmp_path: Path) -> None:
    last, beyond = letters(16_383), letters(16_384)
    rows = (
        f'<row r="1"><c r="{last}1"><v>1</v></c><c r="{beyond}1"><v>2</v></c></row>'
        '<row r="1048577"><c r="A1048577"><v>3</v></c></row>'
    )
    path = write_workbook(tmp_path / "a.xlsx", {"S": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"})
    first, second = rows_of(path)
    assert first == [""] * 16_383 + ["1"]
    assert second == ["3"] + [""] * 16_383


def test_rows_get_as_many_cells_as_the_longest_of_the_first_twenty(tmp_path: Path) -> None:
    rows = [["a"]] * 19 + [["a", "b"]] + [["a", "b", "c"]]
    assert [len(row) for row in rows_of(write_rows(tmp_path / "a.xlsx", rows))] == [2] * 20 + [3]


def test_a_sheet_may_have_more_rows_and_texts_than_are_read_at_once(tmp_path: Path) -> None:
    rows = [[f"text {number} {'x' * (number % 99)}", str(number)] for number in range(1, 3000)]
    for shared in (True, False):
        path = write_rows(tmp_path / "a.xlsx", rows, shared=shared)
        assert rows_of(path) == rows
        with Source(path) as source:
            positions = [source.position for _ in source.blocks()]
        assert positions == sorted(positions)
        assert 0 < positions[-1] <= path.stat().st_size


@pytest.mark.parametrize(
    ("merged", "expected"),
    [
        ("A1:A3", ["a", "a", "a", ""]),
        ("A1:A2", ["a", "a", "", ""]),
        ("A1:B3", ["a", "", "", ""]),  # a block of columns is a heading
        ("A1:A1", ["a", "", "", ""]),
        ("A3:A1", ["a", "", "", ""]),
        ("A2:A3", ["a", "", "", ""]),  # the first cell is empty
        ("A3:A4", ["a", "", "", ""]),
    ],
)
def test_merged_cells_below_the_first_one_get_its_value(tmp_path: Path, merged: str, expected: list[str]) -> None:
    rows = [["a", "1"], ["", "2"], ["", "3"], ["", "4"]]
    content = sheet(rows, behind=f'<mergeCells><mergeCell ref="{merged}"/></mergeCells>')
    assert [row[0] for row in rows_of(write_workbook(tmp_path / "a.xlsx", {"S": content}))] == expected


def test_a_merged_cell_with_a_value_of_its_own_keeps_it(tmp_path: Path) -> None:
    rows = [["x", "a"], ["y", "own"], ["z"], ["z", ""]]
    content = sheet(rows, behind='<mergeCells><mergeCell ref="B1:B3"/></mergeCells>')
    found = rows_of(write_workbook(tmp_path / "a.xlsx", {"S": content}))
    assert found == [["x", "a"], ["y", "own"], ["z", "a"], ["z", ""]]


def test_merged_cells_behind_the_cells_of_a_row_do_not_make_it_longer(tmp_path: Path) -> None:
    rows = [["a"], ["b"], ["c"]]
    merged = '<mergeCells><mergeCell ref="B1:B3"/><mergeCell ref="C1:C3"/></mergeCells>'
    assert rows_of(write_workbook(tmp_path / "a.xlsx", {"S": sheet(rows, behind=merged)})) == rows


def test_merged_cells_are_found_in_rows_without_a_number(tmp_path: Path) -> None:
    rows = "<row><c><v>1</v></c></row><row><c/><c><v>2</v></c></row>"
    merged = '<mergeCells><mergeCell ref="A1:A2"/></mergeCells>'
    text = f"<worksheet {MAIN}><sheetData>{rows}</sheetData>{merged}</worksheet>"
    assert rows_of(write_workbook(tmp_path / "a.xlsx", {"S": text})) == [["1", ""], ["1", "2"]]


@pytest.mark.parametrize(("most", "filled"), [(2, ["a", "b", "", "d"]), (3, ["a", "b", "c", "d"])])
def test_only_so_many_merged_cells_are_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, filled: list[str]
) -> None:
    monkeypatch.setattr(xlsx, "MAX_MERGED", most)
    merged = "".join(f'<mergeCell ref="{column}1:{column}2"/>' for column in "ABC")
    content = sheet([["a", "b", "c"], ["", "", "", "d"]], behind=merged)
    assert rows_of(write_workbook(tmp_path / "a.xlsx", {"S": content}))[1] == filled


@pytest.mark.parametrize("fill", [0, 90, 1 << 20])
def test_merged_cells_are_found_wherever_they_are_in_the_sheet(tmp_path: Path, fill: int) -> None:
    merged = "".join(f'<mergeCell ref="A{row}:A{row + 1}"/>' for row in range(1, 2001, 2))
    rows = [["a", "b"] if row % 2 else ["", "b"] for row in range(1, 2001)]
    path = write_workbook(tmp_path / "a.xlsx", {"S": sheet(rows, behind=f"<!--{' ' * fill}--><x>{merged}</x>")})
    assert rows_of(path) == [["a", "b"]] * 2000


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_not_read(tmp_path: Path, state: str) -> None:
    path = write_workbook(tmp_path / "a.xlsx", {"One": sheet([["one"]]), "Two": sheet([["two"]])}, hidden=["One"])
    replace_in(path, "xl/workbook.xml", 'state="hidden"', f'state="{state}"')
    assert rows_of(path) == [["two"]]
    replace_in(path, "xl/workbook.xml", f'state="{state}"', 'state="visible"')
    assert rows_of(path)[0] == ["one"]


def test_parts_may_be_named_by_absolute_paths(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.xlsx", [["one", "two"]])
    replace_in(path, "xl/_rels/workbook.xml.rels", 'Target="', 'Target="/xl/')
    assert rows_of(path) == [["one", "two"]]


def replace_in(path: Path, member: str, old: str, new: str) -> None:
    """Replace a text in a member of a ZIP file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old.encode() in parts[member]
    parts[member] = parts[member].replace(old.encode(), new.encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_merged_cells_have_one_value(tmp_path: Path) -> None:
    rows = [
        ["paper_id", "title", "author_name"],
        ["p1", "On ice", "Doe, J"],
        ["", "", "Roe, A"],
        ["p2", "Snow", "Poe, E"],
    ]
    merged = (
        '<mergeCells count="2"><mergeCell ref="A2:A3"/><mergeCell ref="B2:B3"/><mergeCell ref="A9:C9"/></mergeCells>'
    )
    path = write_workbook(tmp_path / "a.xlsx", {"S": sheet(rows, behind=merged)})
    documents = [reading.document for reading in read_documents(path) if reading.document]
    assert [(document.id, [author.name for author in document.authors]) for document in documents] == [
        ("p1", ["Doe, J", "Roe, A"]),
        ("p2", ["Poe, E"]),
    ]


def test_reads_the_first_sheet_with_records(tmp_path: Path) -> None:
    about = sheet([["About", "this file"], ["made by", "me"]])
    records = sheet([HEADER, ["w1", "On ice", "2014", "Doe, J; Roe, A"]])
    path = write_workbook(
        tmp_path / "a.xlsx", {"Hidden": records.replace("w1", "w0"), "About": about, "Data": records}, hidden=["Hidden"]
    )
    (reading,) = [one for one in read_documents(path) if one.document]
    assert reading.document
    assert (reading.document.id, reading.raw.number) == ("w1", 2)
    assert [one.document.id for one in read_documents(path, "table") if one.document] == ["w1"]


def test_unknown_columns_are_named_by_the_user(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.xlsx", [["Nummer", "Wer"], ["7", "Doe, J; Roe, A"]])
    found = [one.document for one in read_documents(path, "table", {"id": "Nummer", "authors": "Wer"}) if one.document]
    assert [len(document.authors) for document in found] == [2]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("export", ["scopus", "wos-tab"])
def test_reads_exports_that_were_saved_as_xlsx(tmp_path: Path, export: str, shared: bool) -> None:
    separator = "\t" if export == "wos-tab" else ","
    text = written(export).removeprefix(BOM_UTF8).decode()
    options: Any = {"quoting": csv.QUOTE_NONE} if export == "wos-tab" else {}
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, **options))
    path = write_rows(tmp_path / "export.xlsx", rows, shared=shared)
    with Source(path) as source:
        assert format_of(source).name == EXPORTS[export].format
    check(path, export)


# Damage


def outcome(path: Path) -> int:
    """The number of documents; -1 if the file is refused in one line."""
    try:
        return len([one for one in read_documents(path) if one.document])
    except InputError as error:
        return -1 if len(str(error).splitlines()) == 1 else -2


@pytest.mark.slow
def test_damaged_workbooks_are_input_errors(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.xlsx", [HEADER, *([f"w{number}", "T", "2014", "Doe, J"] for number in range(50))])
    content = path.read_bytes()
    rng = random.Random(0)
    outcomes = set()
    for _ in range(300):
        damaged = bytearray(content[: rng.randrange(len(content))] if rng.random() < 0.3 else content)
        for _ in range(rng.randrange(4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        outcomes.add(outcome(path))
    assert outcomes == {-1, 50}  # the checksum of a part covers all of it


def test_damage_inside_a_sheet_says_where(tmp_path: Path) -> None:
    content = sheet([HEADER, ["w1", "T", "2014", "Doe, J"]]).replace("</sheetData>", "<row><c></row>")
    path = write_workbook(tmp_path / "a.xlsx", {"S": content})
    with pytest.raises(InputError, match=r"a\.xlsx.*damaged.*mismatched tag"):
        list(read_documents(path))


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("sheet", '<!DOCTYPE x [<!ENTITY a "b">]><worksheet><sheetData/></worksheet>'),
        ("sheet", "<a>" * 10_000),
        ("texts", '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><sst><si><t>&a;</t></si></sst>'),
        ("book", '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><workbook>&c;</workbook>'),
        ("book", "<workbook>"),
        ("book", "<workbook><sheets/></workbook>"),
        ("relations", "x"),
    ],
)
def test_refuses_entities_depth_and_missing_parts(tmp_path: Path, part: str, content: str) -> None:
    path = write_rows(tmp_path / "a.xlsx", [HEADER, ["w1", "T", "2014", "Doe, J"]])
    places = {
        "sheet": "xl/worksheets/sheet1.xml",
        "texts": "xl/sharedStrings.xml",
        "book": "xl/workbook.xml",
        "relations": "xl/_rels/workbook.xml.rels",
    }
    replaced = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(replaced, "w") as new:
        for name in old.namelist():
            new.writestr(name, content if name == places[part] else old.read(name))
    with pytest.raises(InputError, match=r"spreadsheet|damaged"):
        list(read_documents(replaced))


def test_a_sheet_that_ends_too_early_is_damaged(tmp_path: Path) -> None:
    text = f"<worksheet {MAIN}><sheetData><row><c><v>1</v></c></row>"
    with pytest.raises(InputError, match=r"a\.xlsx.*damaged.*no element found"):
        rows_of(write_workbook(tmp_path / "a.xlsx", {"S": text}))


def test_blanks_between_elements_are_no_text(tmp_path: Path) -> None:
    content = (
        ' <row> <c t="inlineStr"> <is> <t>a</t> <r> <t>b</t> </r> </is> </c> <c t="str"> <f>x</f> <v>c</v> </c>'
        ' <c t="s"> <v>0</v> </c> </row> '
    )
    text = f"<worksheet {MAIN}> <sheetData>{content}</sheetData> </worksheet>"
    path = write_workbook(tmp_path / "a.xlsx", {"S": text}, ["d"])
    replace_in(path, "xl/sharedStrings.xml", "<si>", "<si> ")
    replace_in(path, "xl/sharedStrings.xml", "</si>", " <phoneticPr>x</phoneticPr> <t>e</t> </si> <si>f</si>")
    assert rows_of(path) == [["ab", "c", "de"]]


@pytest.mark.parametrize(("relation", "is_sheet"), [("worksheet", True), ("chartsheet", False)])
def test_only_sheets_of_cells_that_are_there_are_read(tmp_path: Path, relation: str, is_sheet: bool) -> None:
    sheets = {"One": sheet([["one"]]), "Two": sheet([["two"]]), "Three": sheet([["three"]])}
    path = write_workbook(tmp_path / "a.xlsx", sheets)
    replace_in(path, "xl/_rels/workbook.xml.rels", 'worksheet" Target="worksheets/sheet1.xml"',
               f'{relation}" Target="worksheets/sheet1.xml"')  # fmt: skip
    replace_in(path, "xl/_rels/workbook.xml.rels", "worksheets/sheet2.xml", "worksheets/missing.xml")
    replace_in(path, "xl/workbook.xml", "<sheets>", '<sheets><sheet name="x" sheetId="9" r:id="unknown"/>')
    with Source(path) as source:
        assert source.sheets == 1 + is_sheet
        assert source.head == (b'"one"\n' if is_sheet else b'"three"\n')
        source.show_sheet(is_sheet)
        assert b"".join(source.blocks()) == b'"three"\n'


def test_messages_about_sizes_say_how_many_mebibytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_workbook(tmp_path / "a.xlsx", {"S": sheet([["1"]])}, ["x" * (3 << 20)])
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/sharedStrings.xml").file_size
    monkeypatch.setattr(xlsx, "MAX_SHARED_BYTES", size)
    assert rows_of(path) == [["1"]]
    monkeypatch.setattr(xlsx, "MAX_SHARED_BYTES", size - 1)
    with pytest.raises(InputError, match=r"a\.xlsx: its texts take more than 3 MiB; save it as CSV\.$"):
        rows_of(path)


@pytest.mark.parametrize(("most", "is_read"), [(3, True), (2, False)])
def test_a_part_may_have_so_many_styles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_read: bool
) -> None:
    path = write_workbook(
        tmp_path / "a.xlsx", {"S": sheet([["1"]])}, styles='<cellXfs><xf/><xf numFmtId="1"/></cellXfs>'
    )
    monkeypatch.setattr(xlsx, "MAX_ELEMENTS", most)
    if is_read:
        assert rows_of(path) == [["1"]]
    else:
        with pytest.raises(InputError, match="more than 2 sheets or styles"):
            rows_of(path)


@pytest.mark.parametrize(
    ("size", "packed", "given", "position"),
    [(100, 50, 0, 0), (100, 50, 1, 0), (100, 50, 4, 2), (1, 9, 1, 9), (0, 9, 1, 9), (100, 50, 300, 50)],
)
def test_the_position_in_a_sheet_is_about_that_in_the_file(size: int, packed: int, given: int, position: int) -> None:
    info = zipfile.ZipInfo("sheet1.xml")
    info.file_size, info.compress_size = size, packed
    text = xlsx.SheetText(iter([(1, ["x" * 400])]), info)
    text.read(given)
    assert text.position == position


def test_bounds_texts_rows_and_styles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_rows(tmp_path / "a.xlsx", [HEADER, ["w1", "T" * 5000, "2014", "Doe, J"]])
    for name, value, reason in [
        ("MAX_SHARED_BYTES", 1000, "its texts take more than"),
        ("MAX_ROW_CHARACTERS", 1000, "row 2 has more than 1,000 characters"),
        ("MAX_ELEMENTS", 1, "sheets or styles"),
        ("MAX_PART_BYTES", 10, "has more than 0 MiB"),
    ]:
        with monkeypatch.context() as patched:
            patched.setattr(xlsx, name, value)
            with pytest.raises(InputError, match=reason):
                list(read_documents(path))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("row", "is_read"), [(["12345", "x" * 95], True), (["12345", "x" * 96], False)])
def test_characters_of_a_row_are_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: list[str], is_read: bool, shared: bool
) -> None:
    monkeypatch.setattr(xlsx, "MAX_ROW_CHARACTERS", 100)
    rows = [row, row]
    path = write_rows(tmp_path / "a.xlsx", rows, shared=shared)
    if is_read:
        assert rows_of(path) == rows
    else:
        with pytest.raises(InputError, match="row 1 has more than 100 characters"):
            rows_of(path)


def test_one_long_text_in_many_cells_is_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "UNCHECKED_BYTES", 1 << 20)
    row = "<row>" + '<c t="s"><v>0</v></c>' * 10 + "</row>"
    content = f"<worksheet {MAIN}><sheetData>{row * 2000}</sheetData></worksheet>"
    path = write_workbook(tmp_path / "a.xlsx", {"S": content}, ["x" * 100_000])
    with pytest.raises(InputError, match="2,000 times its size"), Source(path) as source:
        for _ in source.blocks():
            pass


@pytest.mark.parametrize(
    "members",
    [("[Content_Types].xml", "word/document.xml"), ("mimetype", "a.xhtml"), ("content.xml",), ("xl/workbook.bin",),
     ("xl/workbook.xml",)],
)  # fmt: skip
def test_other_archives_are_no_spreadsheets(tmp_path: Path, members: tuple[str, ...]) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        for member in members:
            archive.writestr(member, "")
    with (tmp_path / "a").open("rb") as stream:
        assert xlsx.open_workbook(stream, "a") is None


@pytest.mark.parametrize("member", ["xl/workbook.bin", "content.xml"])
def test_refuses_other_spreadsheets(tmp_path: Path, member: str) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("mimetype" if member == "content.xml" else "[Content_Types].xml", "")
        archive.writestr(member, "")
    with pytest.raises(InputError, match="save it as XLSX or CSV"):
        list(read_documents(tmp_path / "a"))


def test_bounds_the_list_of_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_rows(tmp_path / "a.xlsx", [HEADER])
    monkeypatch.setattr(zip_files, "MAX_LIST_BYTES", 100)
    with pytest.raises(InputError, match="has more than 10,000 members"), Source(path):
        pass


@pytest.mark.parametrize(("size", "is_read"), [(16 << 20, True), ((16 << 20) + 1, False)])
def test_a_part_may_have_16_mib(tmp_path: Path, size: int, is_read: bool) -> None:
    path = write_rows(tmp_path / "a.xlsx", [["one"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/styles.xml", b"<a>" + b" " * (size - 7) + b"</a>")
    if is_read:
        assert rows_of(path) == [["one"]]
    else:
        with pytest.raises(InputError, match=r"styles\.xml has more than 16 MiB"):
            rows_of(path)


@pytest.mark.parametrize(("depth", "is_read"), [(64, True), (65, False)])
def test_elements_may_be_64_levels_deep(tmp_path: Path, depth: int, is_read: bool) -> None:
    inner = "<x>" * (depth - 2) + "</x>" * (depth - 2)
    content = f"<worksheet {MAIN}><sheetData><row><c><v>1</v></c></row></sheetData><y>{inner}</y></worksheet>"
    path = write_workbook(tmp_path / "a.xlsx", {"S": content})
    if is_read:
        assert rows_of(path) == [["1"]]
    else:
        with pytest.raises(InputError, match="more than 64 levels deep"):
            rows_of(path)
