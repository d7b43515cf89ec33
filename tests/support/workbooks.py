"""XLSX files made by hand, so that tests decide on every detail of them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def letters(column: int) -> str:
    """The name of a column, from 0."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def sheet(rows: Sequence[Sequence[str]], texts: list[str] | None = None, behind: str = "") -> str:
    """A sheet of texts, which are shared if there is a list of shared texts, and otherwise in the cells."""
    written = []
    for number, row in enumerate(rows, 1):
        cells = "".join(_cell(f"{letters(column)}{number}", text, texts) for column, text in enumerate(row) if text)
        written.append(f'<row r="{number}">{cells}</row>')
    return f"<worksheet {MAIN}><sheetData>{''.join(written)}</sheetData>{behind}</worksheet>"


def _cell(place: str, text: str, texts: list[str] | None) -> str:
    if text.isdecimal() and not text.startswith("0"):
        return f'<c r="{place}"><v>{text}</v></c>'
    if texts is None:
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
    texts.append(text)
    return f'<c r="{place}" t="s"><v>{len(texts) - 1}</v></c>'


def write_workbook(
    path: Path,
    sheets: Mapping[str, str],
    texts: Iterable[str] = (),
    styles: str = "",
    properties: str = "",
    hidden: Iterable[str] = (),
) -> Path:
    """Write a workbook with these sheets (name to XML), shared texts and styles."""
    states = dict.fromkeys(hidden, ' state="hidden"')
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"{states.get(name, "")}/>'
        for number, name in enumerate(sheets, 1)
    )
    relations = "".join(
        f'<Relationship Id="rId{number}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number, _ in enumerate(sheets, 1)
    )
    relations += f'<Relationship Id="rIdS" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>'
    shared = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in texts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook {MAIN} xmlns:r="{RELATIONS}">{properties}<sheets>{listed}</sheets></workbook>',
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships {PACKAGE}>{relations}</Relationships>")
        archive.writestr("xl/sharedStrings.xml", f"<sst {MAIN}>{shared}</sst>")
        if styles:
            archive.writestr("xl/styles.xml", f"<styleSheet {MAIN}>{styles}</styleSheet>")
        for number, content in enumerate(sheets.values(), 1):
            archive.writestr(f"xl/worksheets/sheet{number}.xml", content)
    return path


def write_rows(path: Path, rows: Sequence[Sequence[str]], *, shared: bool = True) -> Path:
    """Write a workbook with one sheet of texts."""
    texts: list[str] = []
    content = sheet(rows, texts if shared else None)
    return write_workbook(path, {"Sheet1": content}, texts)
