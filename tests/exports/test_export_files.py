"""Exported files as other programs read them: thesauri, tables, networks, linked data; with hostile names and texts."""

from __future__ import annotations

import csv
import errno
import json
import sys
from collections import Counter
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import networkx
import openpyxl
import pyarrow.parquet as pq
import pytest
from lxml import etree

from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.export import export
from homonym.commands.extract import extract
from homonym.errors import HomonymError, InputError, OutputError, SettingsError
from homonym.exports import networks, spreadsheets
from homonym.exports.result_tables import open_result
from homonym.exports.targets import TARGETS
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MENTIONS
from homonym.records.reader import read_documents
from homonym.settings import Settings
from tests.exports.conftest import make_result
from tests.support.command import homonym_command

# Most tests make whole results.
pytestmark = pytest.mark.slow

OUTPUTS = {name: f"out{(target.suffixes or ('',))[0]}" for name, target in TARGETS.items()}

#: The elements of GEXF 1.3 that a static, undirected graph uses, with their order, required attributes and types, and
#: what refers to what. It is stricter than the schema of GEXF: edges must have ids, and references must lead somewhere.
GEXF_SCHEMA = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="http://gexf.net/1.3" xmlns:g="http://gexf.net/1.3"
           targetNamespace="http://gexf.net/1.3" elementFormDefault="qualified">
  <xs:element name="gexf"><xs:complexType><xs:sequence>
    <xs:element name="meta" minOccurs="0"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">
      <xs:element name="creator" type="xs:string"/><xs:element name="keywords" type="xs:string"/>
      <xs:element name="description" type="xs:string"/></xs:choice>
      <xs:attribute name="lastmodifieddate" type="xs:date"/></xs:complexType></xs:element>
    <xs:element name="graph"><xs:complexType><xs:sequence>
      <xs:element name="attributes" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="attribute" maxOccurs="unbounded"><xs:complexType>
          <xs:attribute name="id" type="xs:string" use="required"/>
          <xs:attribute name="title" type="xs:string" use="required"/>
          <xs:attribute name="type" use="required"><xs:simpleType><xs:restriction base="xs:string">
            <xs:enumeration value="integer"/><xs:enumeration value="long"/><xs:enumeration value="double"/>
            <xs:enumeration value="float"/><xs:enumeration value="boolean"/><xs:enumeration value="string"/>
            <xs:enumeration value="anyURI"/></xs:restriction></xs:simpleType></xs:attribute>
        </xs:complexType></xs:element></xs:sequence>
        <xs:attribute name="class" use="required"><xs:simpleType><xs:restriction base="xs:string">
          <xs:enumeration value="node"/><xs:enumeration value="edge"/></xs:restriction></xs:simpleType></xs:attribute>
      </xs:complexType></xs:element>
      <xs:element name="nodes"><xs:complexType><xs:sequence>
        <xs:element name="node" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
          <xs:element name="attvalues" minOccurs="0"><xs:complexType><xs:sequence>
            <xs:element name="attvalue" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
              <xs:attribute name="for" type="xs:string" use="required"/>
              <xs:attribute name="value" type="xs:string" use="required"/></xs:complexType></xs:element>
          </xs:sequence></xs:complexType></xs:element></xs:sequence>
          <xs:attribute name="id" type="xs:string" use="required"/><xs:attribute name="label" type="xs:token"/>
        </xs:complexType></xs:element></xs:sequence>
        <xs:attribute name="count" type="xs:nonNegativeInteger"/></xs:complexType></xs:element>
      <xs:element name="edges"><xs:complexType><xs:sequence>
        <xs:element name="edge" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
          <xs:attribute name="id" type="xs:string"/><xs:attribute name="source" type="xs:string" use="required"/>
          <xs:attribute name="target" type="xs:string" use="required"/><xs:attribute name="weight" type="xs:double"/>
        </xs:complexType></xs:element></xs:sequence>
        <xs:attribute name="count" type="xs:nonNegativeInteger"/></xs:complexType></xs:element>
    </xs:sequence>
      <xs:attribute name="defaultedgetype"><xs:simpleType><xs:restriction base="xs:string">
        <xs:enumeration value="directed"/><xs:enumeration value="undirected"/><xs:enumeration value="mutual"/>
      </xs:restriction></xs:simpleType></xs:attribute>
      <xs:attribute name="mode"><xs:simpleType><xs:restriction base="xs:string">
        <xs:enumeration value="static"/><xs:enumeration value="dynamic"/>
      </xs:restriction></xs:simpleType></xs:attribute></xs:complexType>
      <xs:key name="node"><xs:selector xpath="g:nodes/g:node"/><xs:field xpath="@id"/></xs:key>
      <xs:key name="edge"><xs:selector xpath="g:edges/g:edge"/><xs:field xpath="@id"/></xs:key>
      <xs:key name="attribute"><xs:selector xpath="g:attributes/g:attribute"/><xs:field xpath="@id"/></xs:key>
      <xs:keyref name="source" refer="node"><xs:selector xpath="g:edges/g:edge"/><xs:field xpath="@source"/></xs:keyref>
      <xs:keyref name="target" refer="node"><xs:selector xpath="g:edges/g:edge"/><xs:field xpath="@target"/></xs:keyref>
      <xs:keyref name="for" refer="attribute"><xs:selector xpath="g:nodes/g:node/g:attvalues/g:attvalue"/>
        <xs:field xpath="@for"/></xs:keyref></xs:element>
  </xs:sequence><xs:attribute name="version" fixed="1.3" use="required"/></xs:complexType></xs:element>
</xs:schema>
"""


@pytest.fixture(scope="session")
def exported(hostile_result: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The hostile result in every target."""
    folder = tmp_path_factory.mktemp("exported")
    paths = {name: folder / f"{name}-{output}" for name, output in OUTPUTS.items()}
    for name, path in paths.items():
        export(hostile_result, name, path)
    return paths


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines(keepends=True)))


def expected_edges(result: Path) -> dict[frozenset[str], int]:
    rows = pq.read_table(result / MENTIONS, columns=["document_id", "author_id"]).to_pylist()
    documents: dict[str, set[str]] = {}
    for row in rows:
        documents.setdefault(row["document_id"], set()).add(row["author_id"])
    pairs = (frozenset(pair) for authors in documents.values() for pair in combinations(sorted(authors), 2))
    return dict(Counter(pairs))


def test_thesaurus_has_two_columns_and_no_chains(exported: dict[str, Path], hostile_result: Path) -> None:
    head, *lines = exported["vosviewer"].read_text().split("\n")[:-1]
    assert head == "label\treplace by"
    pairs = [tuple(line.split("\t")) for line in lines]
    assert all(len(pair) == 2 for pair in pairs)
    assert len({label for label, _ in pairs}) == len(pairs)
    labels = {label.lower(): label for label in open_result(hostile_result).labels}
    for label, replacement in pairs:
        assert label == label.lower()
        assert labels[replacement.lower()] == replacement
        assert label not in labels


def test_thesaurus_covers_the_names_of_exported_files(namesakes: Path, tmp_path: Path) -> None:
    done = export(namesakes, "vosviewer", tmp_path / "t.txt")
    assert "left out, because each belongs to several authors" in done.warnings[0]
    table = dict(line.split("\t") for line in (tmp_path / "t.txt").read_text().splitlines()[1:])
    export(namesakes, "wos", tmp_path / "w.txt")
    short = [line[3:] for line in (tmp_path / "w.txt").read_text().splitlines() if line.startswith("AU ")]
    full = [line[3:] for line in (tmp_path / "w.txt").read_text().splitlines() if line.startswith("AF ")]
    assert len(set(short)) == 60
    assert [table.get(name.lower(), name) for name in short] == full


def test_alias_file_has_the_name_to_keep_first(exported: dict[str, Path]) -> None:
    lines = exported["citespace"].read_text().splitlines()
    assert "Smith, John Jr.#Smith, John, Jr." in lines
    assert all(line.count("#") == 1 for line in lines)


def test_csv_is_harmless_in_spreadsheets(exported: dict[str, Path], hostile_result: Path) -> None:
    text = exported["csv"].read_text("utf-8")
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(text[1:].splitlines(keepends=True)))
    assert len(rows) == pq.read_metadata(hostile_result / MENTIONS).num_rows
    assert not [cell for row in rows for cell in row.values() if cell[:1] in tuple("=+-@\t\r")]
    assert {row["title"] for row in rows} >= {"'=1+1", "Tab line break"}


def test_csv_has_the_papers_of_a_person_together_by_year(exported: dict[str, Path], hostile_result: Path) -> None:
    rows = list(csv.DictReader(exported["csv"].read_text("utf-8")[1:].splitlines(keepends=True)))
    mentions = pq.read_table(hostile_result / "mentions.parquet").to_pylist()
    assert len(rows) == len(mentions)
    order = [(row["author_id"], int(row["year"] or 10**9), row["document_id"]) for row in rows]
    people = [key for key, _ in groupby(order, key=lambda row: row[0])]
    assert len(people) == len(set(people))
    assert all(first[1:] <= second[1:] for first, second in pairwise(order) if first[0] == second[0])
    confidence = {row["mention_id"]: row["confidence"] for row in mentions}
    assert {row["mention_id"]: float(row["confidence"]) if row["confidence"] else None for row in rows} == confidence


def test_csv_is_a_result_and_labels(namesakes: Path, tmp_path: Path) -> None:
    export(namesakes, "csv", tmp_path / "people.csv")
    for result, gold in ((namesakes, tmp_path / "people.csv"), (tmp_path / "people.csv", tmp_path / "people.csv")):
        found = evaluate(result, gold)
        assert (found.bcubed.f1, found.mentions) == (1, pq.read_metadata(namesakes / MENTIONS).num_rows)


def test_excel_has_three_sheets_of_text(exported: dict[str, Path], hostile_result: Path) -> None:
    book = openpyxl.load_workbook(exported["excel"])
    assert book.sheetnames == ["authors", "papers", "mentions"]
    sizes = {name: book[name].max_row - 1 for name in book.sheetnames}
    tables = {"authors": AUTHORS, "papers": DOCUMENTS, "mentions": MENTIONS}
    assert sizes == {name: pq.read_metadata(hostile_result / file).num_rows for name, file in tables.items()}
    titles = [row[1].value for row in book["papers"].iter_rows(min_row=2)]
    assert "=1+1" in titles
    assert not [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]


def test_excel_continues_on_further_sheets(
    hostile_result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreadsheets, "EXCEL_ROWS", 11)
    monkeypatch.setattr(spreadsheets, "EXCEL_CELL", 20)
    done = export(hostile_result, "excel", tmp_path / "x.xlsx")
    assert "shortened to the 20 characters" in done.warnings[0]
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert "papers 2" in book.sheetnames
    assert book["papers 2"].cell(1, 1).value == "document_id"


def test_excel_on_a_full_disk_is_one_sentence_and_leaves_nothing(
    hostile_result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ZipFile, "write", full)
    with pytest.raises(OutputError, match=r"x\.xlsx cannot be written: No space left on device; nothing was kept"):
        export(hostile_result, "excel", tmp_path / "x.xlsx")
    assert not list(tmp_path.iterdir())


def test_excel_without_its_library_says_how_to_install(
    hostile_result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(SettingsError, match="pip install xlsxwriter"):
        export(hostile_result, "excel", tmp_path / "x.xlsx")
    assert not list(tmp_path.iterdir())


def test_bibliometrix_table_separates_authors_by_semicolons(exported: dict[str, Path], hostile_result: Path) -> None:
    rows = rows_of(exported["bibliometrix"])
    documents = list(open_result(hostile_result).documents())
    assert [len(row["AU"].split(";")) if row["AU"] else 0 for row in rows] == [len(d.mentions) for d in documents]
    assert all("," not in row["AU"] and row["AU"] == row["AU"].upper() for row in rows)
    assert len({row["SR"] for row in rows}) == len({row["UT"] for row in rows}) == len(rows)


def test_gexf_is_valid(exported: dict[str, Path], hostile_result: Path) -> None:
    tree = etree.parse(exported["gexf"])
    etree.XMLSchema(etree.fromstring(GEXF_SCHEMA)).assertValid(tree)
    space = {"g": "http://gexf.net/1.3"}
    ids = {
        node.get("id"): node.xpath("string(.//g:attvalue[@for='0']/@value)", namespaces=space)
        for node in tree.iterfind(".//g:node", space)
    }
    found = {
        frozenset((ids[edge.get("source")], ids[edge.get("target")])): int(edge.get("weight"))
        for edge in tree.iterfind(".//g:edge", space)
    }
    assert found == expected_edges(hostile_result)


def test_networkx_reads_gexf_with_the_types_of_attributes(exported: dict[str, Path], hostile_result: Path) -> None:
    graph = networkx.read_gexf(exported["gexf"], version="1.3")
    names = networkx.get_node_attributes(graph, "author_id")
    found = {frozenset((names[a], names[b])): weight for a, b, weight in graph.edges.data("weight")}
    assert not graph.is_directed()
    assert found == expected_edges(hostile_result)
    authors = {row["author_id"]: row for row in pq.read_table(hostile_result / AUTHORS).to_pylist()}
    for _, node in graph.nodes(data=True):
        author = authors[node["author_id"]]
        assert (node["documents"], node.get("first_year")) == (author["documents"], author["first_year"])
        assert node.get("confidence") == pytest.approx(author["confidence"])


def test_graphml_and_gephi_have_the_same_network(exported: dict[str, Path], hostile_result: Path) -> None:
    graph = networkx.read_graphml(exported["graphml"])
    names = networkx.get_node_attributes(graph, "author_id")
    found = {frozenset((names[a], names[b])): weight for a, b, weight in graph.edges.data("weight")}
    assert found == expected_edges(hostile_result)
    nodes = rows_of(exported["gephi"] / "nodes.csv")
    edges = rows_of(exported["gephi"] / "edges.csv")
    ids = {row["Id"]: row["author_id"] for row in nodes}
    assert {frozenset((ids[row["Source"]], ids[row["Target"]])): int(row["Weight"]) for row in edges} == found
    assert len(nodes) == graph.number_of_nodes() == len({row["Label"] for row in nodes})


def test_long_author_lists_make_no_edges(hostile_result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "MAX_COAUTHORS", 5)
    done = export(hostile_result, "gephi", tmp_path / "out")
    assert "with more than 5 authors left out of the edges" in done.warnings[0]


def test_s2and_files_are_read_with_clusters_as_labels(exported: dict[str, Path], hostile_result: Path) -> None:
    found: dict[str, set[str]] = {}
    for reading in read_documents(exported["s2and"] / "papers.json", None):
        for author in reading.document.authors if reading.document else ():
            found.setdefault(author.label or "", set()).add(f"{reading.document and reading.document.id}")
    rows = pq.read_table(hostile_result / MENTIONS).to_pylist()
    wanted: dict[str, set[str]] = {}
    for row in rows:
        wanted.setdefault(row["author_id"], set()).add(row["document_id"])
    assert found == wanted
    seeds = json.loads((exported["s2and"] / "cluster_seeds.json").read_text())
    assert {relation for others in seeds.values() for relation in others.values()} == {"require"}


def test_quickstatements_are_lines_of_fields(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": "a", "title": 'On "x"\t|y', "year": 2010, "ids": {"doi": "10.1000/x"},
         "authors": [{"name": "Doe, Jane", "ids": {"orcid": "0000-0002-1825-0097"}},
                     {"name": "Roe, R", "ids": {"wikidata": "Q42"}}]},
        {"id": "b", "title": "On y", "ids": {"wikidata": "Q7"},
         "authors": [{"name": "Roe, R", "ids": {"wikidata": "Q42"}}]},
        {"id": "c", "title": "On z", "authors": [{"name": "Poe, E"}]},
    ]  # fmt: skip
    result = make_result(tmp_path, documents, Settings(kappa=7, background="none", identifiers="wikidata"))
    done = export(result, "quickstatements", tmp_path / "q.txt")
    lines = [line.split("\t") for line in (tmp_path / "q.txt").read_text().splitlines()]
    assert ["LAST", "P496", '"0000-0002-1825-0097"'] in lines
    assert ["LAST", "P356", '"10.1000/X"'] in lines
    assert ["LAST", "P2093", '"Doe, Jane"', "P1545", '"1"'] in lines
    assert ["LAST", "P50", "Q42", "P1545", '"2"'] in lines
    assert ["Q7", "P50", "Q42", "P1545", '"1"'] in lines
    assert ["LAST", "Len", '"On ”x” ¦y"'] in lines
    assert "1 author without ORCID" in done.warnings[0]


def test_jsonld_links_articles_to_people(exported: dict[str, Path], hostile_result: Path) -> None:
    graph = json.loads(exported["jsonld"].read_text())["@graph"]
    people = {item["@id"] for item in graph if item["@type"] == "Person"}
    articles = [item for item in graph if item["@type"] == "ScholarlyArticle"]
    assert len(people) == pq.read_metadata(hostile_result / AUTHORS).num_rows
    assert {author["@id"] for item in articles for author in item.get("author", ())} == people
    assert "<" not in exported["jsonld"].read_text()


def test_files_are_text_without_control_characters(exported: dict[str, Path]) -> None:
    for path in exported.values():
        for file in [path] if path.is_file() else path.iterdir():
            if file.suffix not in (".xlsx", ".json"):
                text = file.read_text("utf-8")
                assert not [letter for letter in text if letter < " " and letter not in "\t\n"], file


def test_same_result_gives_same_bytes(exported: dict[str, Path], hostile_result: Path, tmp_path: Path) -> None:
    for name, path in exported.items():
        if path.is_file() and name != "excel":  # a workbook has the time of its creation
            export(hostile_result, name, tmp_path / path.name)
            assert (tmp_path / path.name).read_bytes() == path.read_bytes()


# Wrong input and output


def test_rejects_what_is_no_result(tmp_path: Path, hostile_result: Path) -> None:
    table = tmp_path / "authors.csv"
    table.write_text("mention_id,author_id\n")
    for wrong in (table, tmp_path, hostile_result / MENTIONS):
        with pytest.raises(InputError, match="is not a result directory of homonym; make one with"):
            export(wrong, "ris", tmp_path / "x.ris")
    with pytest.raises(InputError, match="does not exist; name a result directory"):
        export(tmp_path / "no", "ris", tmp_path / "x.ris")
    with pytest.raises(SettingsError, match="there is no export to 'endnote'; use one of vosviewer, citespace"):
        export(hostile_result, "endnote", tmp_path / "x.ris")


def test_rejects_result_without_documents(tmp_path: Path, hostile_result: Path) -> None:
    extract(hostile_result, tmp_path / "mentions.jsonl")
    cluster(tmp_path / "mentions.jsonl", tmp_path / "result", Settings(kappa=7, background="none"))
    with pytest.raises(InputError, match="results of homonym cluster have no documents"):
        export(tmp_path / "result", "wos", tmp_path / "x.txt")


def test_rejects_damaged_tables(tmp_path: Path, namesakes: Path) -> None:
    for damaged in (AUTHORS, MENTIONS, DOCUMENTS):
        folder = tmp_path / damaged
        folder.mkdir()
        for file in namesakes.iterdir():
            (folder / file.name).write_bytes(file.read_bytes()[:-40] if file.name == damaged else file.read_bytes())
        with pytest.raises(InputError, match=f"{damaged} cannot be read"):
            export(folder, "wos", tmp_path / "x.txt")
    assert not (tmp_path / "x.txt").exists()


def test_output_never_replaces_what_is_not_its_own(tmp_path: Path, namesakes: Path) -> None:
    with pytest.raises(OutputError, match="is inside of the result"):
        export(namesakes, "csv", namesakes / "x.csv")
    with pytest.raises(OutputError, match="is inside of the result"):
        export(namesakes, "gephi", namesakes)
    (tmp_path / "link.csv").symlink_to(namesakes / "conflicts.csv")
    with pytest.raises(OutputError, match="is inside of the result"):
        export(namesakes, "csv", tmp_path / "link.csv")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(OutputError, match=r"has other files in it, such as mine\.txt"):
        export(namesakes, "gephi", tmp_path / "full")
    with pytest.raises(OutputError, match=r"writes a file that ends in \.bib"):
        export(namesakes, "bibtex", tmp_path / "x.txt")
    with pytest.raises(OutputError, match=r"nodes\.csv and edges\.csv to a directory"):
        export(namesakes, "gephi", tmp_path / "x.csv")
    with pytest.raises(OutputError, match="does not exist; create the directory first"):
        export(namesakes, "gephi", tmp_path / "no" / "out")


@pytest.mark.parametrize("to", ["gephi", "jsonld"])
def test_failed_export_keeps_the_old_one(
    to: str, tmp_path: Path, namesakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / ("out" if to == "gephi" else "out.jsonld")
    export(namesakes, to, output)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    export(namesakes, to, output)
    monkeypatch.setattr("homonym.exports.result_tables.ResultTables.author_rows", _fail)
    with pytest.raises(HomonymError):
        export(namesakes, to, output)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert len(list(tmp_path.iterdir())) == 1


def _fail(self: object) -> None:
    raise OSError(28, "No space left on device")


def test_command_prints_one_sentence(tmp_path: Path, namesakes: Path) -> None:
    done = homonym_command("export", namesakes, "--to", "wos", "-o", tmp_path / "x.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"124 authors → wos\n{tmp_path / 'x.txt'}\n"
    wrong = homonym_command("export", tmp_path, "--to", "wos", "-o", tmp_path / "y.txt")
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1


def test_documents_that_a_table_of_mentions_cannot_have_are_reported(tmp_path: Path) -> None:
    records = [{"id": "a", "authors": ["Doe, J"]}, {"id": "b", "authors": ["CMS Collaboration"], "title": "Muons"}]
    result = tmp_path / "result"
    (tmp_path / "in.jsonl").write_bytes("\n".join(map(json.dumps, records)).encode())
    disambiguate(tmp_path / "in.jsonl", result)
    done = export(result, to="csv", output=tmp_path / "out.csv")
    assert done.warnings == ["1 document without an author left out: a row is one author."]
    assert export(result, to="excel", output=tmp_path / "out.xlsx").warnings == []
