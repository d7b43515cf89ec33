"""Labels from every kind of file that may contain them."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.errors import InputError
from homonym.evaluation.gold import Gold, read_gold
from homonym.schema import GOLD

DOCUMENTS = """\
{"id": "W1", "authors": [{"name": "Doe, J", "author": "J1"}, {"name": "Roe, R"}, {"name": "Poe, E", "author": 3}]}
{"id": 2, "title": "Nobody is labelled here", "authors": [{"name": "Doe, J", "author": null}]}
{"id": "W3", "authors": [{"name": "Doe, J", "author": ""}, {"name": "Doe, J", "author": "J2"}]}
"""
FROM_DOCUMENTS = {"W1#0": "J1", "W1#2": "3", "W3#1": "J2"}

MENTIONS = """\
{"mention_id": "m1", "author": "a", "features": {"term": {"graph": 3}}}

{"mention_id": 2, "author": "b"}
{"mention_id": "m3"}
"""
FROM_MENTIONS = {"m1": "a", "2": "b"}


def written(folder: Path, text: str, name: str = "gold") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("z") else text.encode())
    return path


def labels(gold: Gold) -> dict[str, str]:
    assert gold.table.schema == GOLD
    return dict(zip(*(column.to_pylist() for column in gold.table.columns), strict=True))


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.jsonl.gz", "without-suffix"])
@pytest.mark.parametrize(("text", "expected"), [(DOCUMENTS, FROM_DOCUMENTS), (MENTIONS, FROM_MENTIONS)])
def test_reads_json_lines(tmp_path: Path, name: str, text: str, expected: dict[str, str]) -> None:
    gold = read_gold(written(tmp_path, text, name))
    assert labels(gold) == expected
    assert gold.skipped == 0


@pytest.mark.parametrize("name", ["gold.csv", "gold.csv.gz", "z"])
@pytest.mark.parametrize(
    "text",
    [
        "mention_id,author\nm1,a\n2,b\nm3,\n",
        "mention_id\tname\tauthor\r\nm1\tDoe, J\ta\r\n2\t\tb\r\n",
        "\nname;author_id;mention_id\nx;a;m1\n\ny;b;2\n",
        '\ufeff"author","mention_id","note"\n"a","m1","two\nlines"\n"b","2",""\n',
    ],
)
def test_reads_csv_with_any_separator_and_order(tmp_path: Path, name: str, text: str) -> None:
    assert labels(read_gold(written(tmp_path, text, name))) == FROM_MENTIONS


def test_prefers_the_column_author_to_author_id(tmp_path: Path) -> None:
    text = "mention_id,author_id,author\nm1,found,true\n"
    assert labels(read_gold(written(tmp_path, text))) == {"m1": "true"}


def test_reads_parquet_with_numbers_and_nulls(tmp_path: Path) -> None:
    path = tmp_path / "gold.parquet"
    pq.write_table(pa.table({"x": [0, 0, 0], "mention_id": [1, 2, 3], "author": ["a", None, "c"]}), path)
    assert labels(read_gold(str(path))) == {"1": "a", "3": "c"}


def test_reads_documents_with_positions(tmp_path: Path) -> None:
    text = "position,document_id,author\n0,W1,J1\n2.0,W1,3\n,W2,x\n1,W3,J2\n"
    assert labels(read_gold(written(tmp_path, text, "a.csv"))) == FROM_DOCUMENTS
    lines = '{"document_id": "W1", "position": 0, "author": "J1"}\n{"document_id": "W3", "position": 1, "author": "J2"}'
    assert labels(read_gold(written(tmp_path, lines, "a.jsonl"))) == {"W1#0": "J1", "W3#1": "J2"}


def test_counts_lines_that_cannot_be_parsed(tmp_path: Path) -> None:
    broken = 'garbage\n{"mention_id": "m1", "author": "a"}\n{"mention_id": "m\n[1]\n{"no": "id"}\n'
    strange = '{"mention_id": null, "author": "a"}\n{"id": "W1", "authors": 7}\n{"mention_id": "m2", "author": [1]}\n'
    gold = read_gold(written(tmp_path, broken + strange))
    assert (labels(gold), gold.skipped) == ({"m1": "a"}, 7)


def test_counts_rows_that_cannot_be_parsed(tmp_path: Path) -> None:
    gold = read_gold(written(tmp_path, "mention_id,author\nm1,a\nm2\nm3,b,c\n,d\nm4,e\n"))
    assert (labels(gold), gold.skipped) == ({"m1": "a", "m4": "e"}, 3)


def test_authors_given_as_strings_keep_their_position(tmp_path: Path) -> None:
    text = '{"id": "W1", "authors": ["Doe, J", {"name": "Roe, R", "author": "R1"}]}\n{"id": "W2"}\n'
    gold = read_gold(written(tmp_path, text))
    assert (labels(gold), gold.skipped) == ({"W1#1": "R1"}, 0)


def test_a_mention_given_twice_counts_once(tmp_path: Path) -> None:
    text = "mention_id,author\nm2,b\nm1,a\nm2,b\n"
    assert read_gold(written(tmp_path, text)).table.to_pydict() == {"mention_id": ["m2", "m1"], "author": ["b", "a"]}


@pytest.mark.parametrize(
    "text",
    [
        "mention_id,author\nm1,a\nm2,b\nm1,c\n",
        '{"mention_id": "m1", "author": "c"}\n{"mention_id": "m1", "author": "a"}\n',
    ],
)
def test_rejects_two_labels_for_one_mention(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="mention m1 has two labels, a and c"):
        read_gold(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ('{"mention_id": "m1"}\n', "holds no label; expected"),
        ('{\n"mention_id": "m1"\n}\n', r"holds no label \(3 lines could not be parsed; line 1: not valid JSON"),
        ("mention_id,author\n", "holds no label"),
        ("mention_id,name\nm1,x\n", "has the columns mention_id, name; expected"),
        ("id,author\nm1,x\n", "has the columns id, author; expected"),
        ("\n\n", "holds nothing"),
        ("PAR1 and then nothing of the kind", "cannot be read"),
    ],
)
def test_rejects_files_without_labels(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_gold(written(tmp_path, text))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_reads_other_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_bytes("mention_id,author\nm1,Müller\n".encode(encoding))
    assert labels(read_gold(path)) == {"m1": "Müller"}


def test_rejects_truncated_and_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    whole = gzip.compress(("mention_id,author\n" + "".join(f"m{i},{hash(i)}\n" for i in range(9999))).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"gold\.csv"):
        read_gold(path)
    with pytest.raises(InputError, match="missing"):
        read_gold(tmp_path / "missing.csv")


IDS = """\
{"id": "W1", "authors": [{"name": "Doe, J", "author": "J1", "ids": {"researcher_id": "A-1-2011"}}, {"name": "Roe, R"}]}
{"id": "W2", "authors": [{"name": "Doe, J", "ids": {"ResearcherID": ["A-1-2011"], "orcid": "0000-0002-1825-009x"}}]}
{"id": "W3", "authors": [{"name": "Doe, J", "ids": {"researcher-id": ["A-1-2011", "B-2-2012"], "orcid": null}}]}
{"id": "W4", "authors": [{"name": "Doe, J", "ids": {"researcherid": " B-2-2012 ", "researcher id": "B-2-2012"}}]}
{"id": "W5", "authors": [{"name": "Doe, J", "ids": {"researcherid": []}}, {"name": "Doe, J", "ids": "none"}]}
{"mention_id": "m1", "ids": {"Researcher ID": 7}}
{"mention_id": "m2", "researcherid": "C-3-2013", "author": "x"}
"""


@pytest.mark.parametrize("label", ["researcherid", "ResearcherID", "researcher-id", "RESEARCHER ID"])
def test_any_identifier_may_be_the_label(tmp_path: Path, label: str) -> None:
    gold = read_gold(written(tmp_path, IDS), label)
    expected = {"W1#0": "A-1-2011", "W2#0": "A-1-2011", "W4#0": "B-2-2012", "m1": "7", "m2": "C-3-2013"}
    assert (labels(gold), gold.skipped, gold.several) == (expected, 0, 1)


@pytest.mark.parametrize(
    "orcid",
    [
        "0000-0002-1825-009x",
        "https://orcid.org/0000-0002-1825-009X",
        "http://www.orcid.org/0000-0002-1825-009x/",
        "ORCID:0000-0002-1825-009X",
        ["https://orcid.org/0000-0002-1825-009X", "0000-0002-1825-009x"],
    ],
    ids=str,
)
def test_normalises_orcids(tmp_path: Path, orcid: str | list[str]) -> None:
    row = orjson.dumps({"mention_id": "m1", "ids": {"orcid": orcid}}).decode()
    assert labels(read_gold(written(tmp_path, row), "ORCID")) == {"m1": "0000-0002-1825-009X"}


def test_keeps_what_only_looks_like_an_orcid(tmp_path: Path) -> None:
    text = "mention_id,key\nm1,https://example.org/0000-0002-1825-009x\nm2,0000-0002-1825-00\n"
    expected = {"m1": "https://example.org/0000-0002-1825-009x", "m2": "0000-0002-1825-00"}
    assert labels(read_gold(written(tmp_path, text), "Key")) == expected


def test_reads_identifiers_from_columns(tmp_path: Path) -> None:
    csv = written(tmp_path, "mention_id;Researcher-ID;author\nm1;A-1;x\nm2;;y\n;B-2;z\n")
    gold = read_gold(csv, "researcher_id")
    assert (labels(gold), gold.skipped) == ({"m1": "A-1"}, 1)
    path = tmp_path / "gold.parquet"
    lists = [["A-1"], ["A-1", "B-2"], [], None, ["C-3", "C-3"]]
    pq.write_table(pa.table({"mention_id": [1, 2, 3, 4, 5], "orcid": pa.array(lists, pa.list_(pa.string()))}), path)
    gold = read_gold(path, "orcid")
    assert (labels(gold), gold.several) == ({"1": "A-1", "5": "C-3"}, 1)


def test_rejects_an_unknown_identifier_and_lists_those_present(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no author has the identifier scopus; use one of orcid, researcher_id, or"):
        read_gold(written(tmp_path, IDS), "scopus")
    with pytest.raises(InputError, match="no author has the identifier orcid or any other; use the label author"):
        read_gold(written(tmp_path, DOCUMENTS), "orcid")
    with pytest.raises(InputError, match="has the columns mention_id, author; expected mention_id and orcid"):
        read_gold(written(tmp_path, "mention_id,author\nm1,x\n"), "orcid")
    with pytest.raises(InputError, match="all 1 mention with a have several different ones"):
        read_gold(written(tmp_path, '{"mention_id": "m1", "ids": {"a": ["x", "y"]}}\n'), "a")


def test_counts_identifiers_of_wrong_types(tmp_path: Path) -> None:
    text = '{"mention_id": "m1", "ids": {"a": {"b": 1}}}\n{"mention_id": "m2", "ids": {"a": "x"}}\n'
    gold = read_gold(written(tmp_path, text), "a")
    assert (labels(gold), gold.skipped) == ({"m2": "x"}, 1)


def test_joins_labels_of_several_files(tmp_path: Path) -> None:
    files = [written(tmp_path, DOCUMENTS, "a.jsonl"), written(tmp_path, "mention_id,author\nm1,a\nW1#0,J1\n", "b.csv")]
    empty = written(tmp_path, '{"mention_id": "m9"}\nbroken\n', "c.jsonl")
    gold = read_gold([*map(str, files), empty])
    assert (labels(gold), gold.skipped) == (FROM_DOCUMENTS | {"m1": "a"}, 1)


def test_conflicting_labels_in_two_files_name_both(tmp_path: Path) -> None:
    first = written(tmp_path, "mention_id,author\nm1,a\nm2,b\n", "a.csv")
    other = written(tmp_path, "mention_id,author\nm2,b\n", "b.csv")
    clash = written(tmp_path, '{"mention_id": "m1", "author": "z"}\n', "c.jsonl")
    with pytest.raises(InputError, match=r"a\.csv and \S*c\.jsonl: mention m1 has two labels, a and z; keep"):
        read_gold([first, other, clash])


def test_author_id_in_documents_is_no_label(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no label"):
        read_gold(written(tmp_path, '{"id": "W1", "authors": [{"name": "Doe, J", "author_id": "x"}]}\n'))
