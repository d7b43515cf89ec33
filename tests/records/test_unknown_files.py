"""Files without records: homonym's own results are named with their command, other files get advice that can help."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.extract import extract
from homonym.errors import InputError
from homonym.io.inputs import Source
from homonym.records.reader import format_of, read_documents
from homonym.schema import AUTHORS, GOLD, ROUNDS, STATISTICS

PEOPLE = '[{"name": "Doe, J", "author": "p"}, {"name": "Roe, A", "author": "q"}]'
DOCUMENTS = "".join(f'{{"id": "{n}", "title": "On x{n}", "authors": {PEOPLE}}}\n' for n in range(6))


def reason(path: Path) -> str:
    with Source(path) as source, pytest.raises(InputError) as wrong:
        format_of(source)
    assert len(str(wrong.value).splitlines()) == 1
    return str(wrong.value)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands write."""
    folder = tmp_path_factory.mktemp("results")
    source = folder / "documents.jsonl"
    source.write_text(DOCUMENTS)
    for suffix in ("csv", "parquet", "jsonl", "csv.gz"):
        disambiguate(
            source, folder / f"authors.{suffix}", save_statistics=folder / "statistics.csv", trace=folder / "trace.csv"
        )
    extract(source, folder / "mentions.jsonl")
    extract(source, folder / "mentions.parquet")
    evaluate(folder / "authors.csv", source, json=folder / "evaluation.json")
    (folder / "pairs.csv").write_text("mention_a;mention_b;relation\na#0;b#0;same\n")
    (folder / "bad.jsonl").write_text(DOCUMENTS + "{\n")
    convert(folder / "bad.jsonl", folder / "out.jsonl", rejects=folder / "rejects.jsonl")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("authors.csv", "homonym evaluate"),
        ("authors.csv.gz", "homonym evaluate"),
        ("authors.parquet", "homonym evaluate"),
        ("authors.jsonl", "homonym evaluate"),
        ("authors.settings.toml", "--settings"),
        ("authors.run.json", "the log of a run"),
        ("statistics.csv", "--statistics"),
        ("trace.csv", "the trace"),
        ("mentions.jsonl", "use homonym cluster"),
        ("mentions.parquet", "use homonym cluster"),
        ("evaluation.json", "evaluate --json"),
        ("pairs.csv", "--pairs"),
        ("rejects.jsonl", "--rejects"),
    ],
)
def test_own_results_are_named_with_their_command(results: Path, name: str, said: str) -> None:
    message = reason(results / name)
    assert f"{name} has no records of documents: it is " in message
    assert said in message


@pytest.mark.parametrize("schema", [AUTHORS, GOLD, ROUNDS, STATISTICS])
def test_tables_of_every_layout_are_known(schema: pa.Schema, tmp_path: Path) -> None:
    pq.write_table(schema.empty_table(), tmp_path / "table.parquet")
    assert "has no records of documents" in reason(tmp_path / "table.parquet")


def test_documents_with_a_mention_among_them_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"mention_id": "m", "author_id": "x"}\n' + DOCUMENTS)
    with Source(path) as source:
        assert format_of(source).name == "documents"


def test_unknown_table_gets_the_advice_to_name_its_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("nom;prenom;revue\nDoe;Jane;x\n")
    message = reason(tmp_path / "t.csv")
    assert "say which of its columns (nom, prenom, revue) has the authors" in message
    assert "--columns authors=" in message


@pytest.mark.parametrize(
    "text",
    [
        "# Read me\n\nThese are, as you see, ours.\n",
        '{"a": 1, "b": 2}',
        "PK\x12\x04\x14, ]\x1c\x17<\nx, y, z\n",
    ],
)
def test_other_files_get_the_advice_to_export_them_or_make_a_table(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    message = reason(tmp_path / "x")
    assert "is in none of the formats that homonym reads" in message
    assert "CSV table" in message
    assert "--columns" not in message


def test_a_web_page_that_is_named_as_a_spreadsheet_gets_its_own_advice(tmp_path: Path) -> None:
    (tmp_path / "savedrecs.xls").write_text("<html><body><table><tr><th>Authors</th><th>Title</th></tr></table>")
    assert "it is a web page" in reason(tmp_path / "savedrecs.xls")
    assert "save it as XLSX" in reason(tmp_path / "savedrecs.xls")
    (tmp_path / "export.ris").write_text("<!DOCTYPE html><html><body><form>Sign in</form>")
    assert "page for signing in" in reason(tmp_path / "export.ris")


def test_a_file_that_is_compressed_twice_gets_its_own_advice(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(gzip.compress(b'{"id": "a", "authors": []}\n')))
    assert "it is compressed twice: decompress it once" in reason(tmp_path / "a.gz")


def test_text_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("Заглавие;Кто;Когда\nО льде;Иванов И.И.;2014\n".encode("cp1251"))
    assert "garbled here, save the table as UTF-8 first" in reason(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes("題名,人名\n氷について,山田太郎\n".encode("cp932"))
    assert "it is not in UTF-8" in reason(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("____\n\nDocument 1 of 2\n\nOn ice\n\nAuthor: Doe, Jane\n", "ProQuest: export RIS"),
        ("<1>\nUnique Identifier\n  7\nTitle\n  On ice\nAuthors\n  Doe J.\n", "Ovid: export RIS"),
        ("1: Doe JM, Roe R. On ice. J Ice. 2014\nMar;1(2):3-4. PMID: 24000009.\n", "save the format PubMed"),
        ("24000001\n24000002\n24000003\n", "save the format PubMed"),
        ("<eSummaryResult><DocSum><Id>7</Id></DocSum></eSummaryResult>", "efetch with retmode=xml"),
        ('<rdf:RDF xmlns:z="http://www.zotero.org/namespaces/export#"></rdf:RDF>', "CSL JSON"),
        ("<doi_records><doi_record/></doi_records>", "api.crossref.org"),
        ('<resource xmlns="http://datacite.org/schema/kernel-4"/>', "api.datacite.org"),
        ('<records xmlns="http://x.example/schema/wok5.4/public/FullRecord"><REC/></records>', "ask it for JSON"),
        ("00714cam a2200205 a 4500001001300000\x1e", "MARCXML"),
        ('{"error": {"code": 429}}', "error message of a service"),
        ('{"meta": {"count": 0}, "results": []}', "without any record"),
        ('{"expanded-result": [{"orcid-id": "0000-0002-1825-0097"}]}', "download their records"),
    ],
)
def test_other_exports_of_known_sources_get_their_own_advice(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        list(read_documents(path))
