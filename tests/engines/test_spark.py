"""The Spark engine gives the same bytes as the local one, on real worker processes."""

from __future__ import annotations

import gzip
import importlib.util
import os
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.clustering.agglomerative import GIANT_BLOCK
from homonym.commands.check import check
from homonym.commands.cluster import cluster
from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.generate import generate
from homonym.commands.result import Summary, conflicts_path, settings_path
from homonym.commands.run import Resources
from homonym.commands.update import update
from homonym.engines.local import LocalEngine
from homonym.engines.spark.engine import SparkEngine
from homonym.errors import InputError, OutputError, SettingsError
from homonym.io.result_directory import BAGS, DOCUMENTS, LOG
from homonym.runtime.own_files import require_spark_table
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.support.living import SETTINGS, document, tables, write_documents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK = Resources(engine="spark")
# Tasks are Python processes with both. Executors of a cluster have a Java of their own, too, which takes long to start.
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"

# Java would spend more time on compiling itself well than this little work takes. All that it has compiled must have
# room: otherwise it drops and compiles the same code again and again, which is a quarter of the time.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m -XX:MetaspaceSize=300m"
OPTIONS = {
    "log.level": "ERROR",
    "ui.enabled": "false",
    "ui.showConsoleProgress": "false",
    "sql.shuffle.partitions": "2",
    # Generating and compiling code takes longer than interpreting it for some hundred rows.
    "sql.codegen.wholeStage": "false",
    "sql.codegen.factoryMode": "NO_CODEGEN",
    "driver.extraJavaOptions": JAVA_OPTIONS,
    "executor.extraJavaOptions": JAVA_OPTIONS,
}

missing = [name for name in ("pyspark", "pandas") if importlib.util.find_spec(name) is None]
missing += [] if os.environ.get("JAVA_HOME") or shutil.which("java") else ["Java"]
needs_spark = pytest.mark.skipif(bool(missing), reason=f"Spark cannot run here: no {' and no '.join(missing)}")
# Sockets between Python and Java are closed when both end.
quiet = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
pytestmark = [pytest.mark.spark, quiet]


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The session that runs take; its master is LOCAL, unless a test asks for another one."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(getattr(request, "param", LOCAL)).appName("test")
    for name, value in OPTIONS.items():
        builder = builder.config(f"spark.{name}", value)
    started = builder.getOrCreate()
    yield started
    started.stop()


def same(local: Summary, spark: Summary) -> None:
    """Results, side files and summaries are the same."""
    if local.output.is_dir():
        names, others = ({path.name for path in summary.output.iterdir()} for summary in (local, spark))
        assert names == others
        for name in names - {LOG}:
            assert (local.output / name).read_bytes() == (spark.output / name).read_bytes(), name
    else:
        for beside in (lambda path: path, settings_path, conflicts_path):
            here, there = beside(local.output), beside(spark.output)
            assert here.exists() == there.exists()
            assert not here.exists() or here.read_bytes() == there.read_bytes()
    apart = {"output", "seconds", "log", "calibration", "confidence", "constraints"}
    for field in fields(Summary):
        if field.name not in apart:
            assert getattr(local, field.name) == getattr(spark, field.name), field.name
    for summary in (local, spark):
        assert not list(summary.output.parent.glob(".*.work"))
    assert spark.confidence == pytest.approx(local.confidence)
    assert bool(local.constraints) == bool(spark.constraints)
    if local.constraints and spark.constraints:
        assert replace(local.constraints, file=Path()) == replace(spark.constraints, file=Path())


FULL_NAMES = ["mention_id", "full_name", "namesakes"]


@pytest.fixture
def full_names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """The full names that the last run of each engine has found."""
    found: dict[str, list[Any]] = {}
    local, spark = LocalEngine.constrain, SparkEngine.constrain

    def constrain_local(self: LocalEngine, collection: Any, *arguments: Any) -> Any:
        rows = pq.read_table(collection.data.encoded.mentions_file, columns=FULL_NAMES)
        found["local"] = rows.sort_by("mention_id").to_pylist()
        return local(self, collection, *arguments)

    def constrain_spark(self: SparkEngine, *arguments: Any) -> Any:
        rows = self.spark.read.parquet(f"{self.place}/encoded").select(*FULL_NAMES).toArrow()
        found["spark"] = rows.sort_by("mention_id").to_pylist()
        return spark(self, *arguments)

    monkeypatch.setattr(LocalEngine, "constrain", constrain_local)
    monkeypatch.setattr(SparkEngine, "constrain", constrain_spark)
    return found


def assert_same_full_names(full_names: dict[str, list[Any]]) -> None:
    assert full_names["local"] == full_names["spark"]
    assert {row["full_name"] is None for row in full_names["local"]} >= {False}
    assert any(row["namesakes"] for row in full_names["local"])


def lines(documents: list[Any]) -> bytes:
    return b"".join((one if isinstance(one, bytes) else orjson.dumps(one)) + b"\n" for one in documents)


@needs_spark
def test_same_bytes_for_skewed_blocks(session: SparkSession, tmp_path: Path) -> None:
    corpus = Corpus(mentions=20_000, huge_blocks=2, huge_authors=500, abstracts=False, seed=3)
    packed = generate(tmp_path, corpus)
    plain = tmp_path / "documents.jsonl"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    local = disambiguate(plain, tmp_path / "local.parquet")
    spark = disambiguate(plain, tmp_path / "spark.parquet", resources=SPARK)
    same(local, spark)
    sizes = pq.read_table(local.output)["block"].value_counts().field("counts").to_pylist()
    assert local.mentions >= 20_000
    assert sorted(sizes)[-2] > GIANT_BLOCK


@needs_spark
def test_same_bytes_for_one_name(session: SparkSession, tmp_path: Path) -> None:
    authors = [{"name": "Wang, Wei"}, {"name": "Smith, John"}, {"name": "Wang, W"}]
    rows = [
        {"id": f"d{number}", "title": f"{word} of networks", "year": 1990 + number, "authors": authors[number % 2 :]}
        for number, word in enumerate(["Theory", "History", "Chemistry"] * 4)
    ]
    (tmp_path / "in.jsonl").write_bytes(lines(rows))
    local = disambiguate(tmp_path / "in.jsonl", tmp_path / "local.parquet")
    same(local, disambiguate(tmp_path / "in.jsonl", tmp_path / "spark.parquet", resources=SPARK))
    assert local.background
    assert local.background.share == 1


def difficult_documents(corpus: Path) -> list[list[Any]]:
    """Documents in three lots, with duplicates, broken records, missing names and references."""
    documents = [orjson.loads(line) for line in gzip.decompress(corpus.read_bytes()).splitlines()]
    random.Random(1).shuffle(documents)
    third = len(documents) // 3
    lots: list[list[Any]] = [documents[:third], documents[third : 2 * third], documents[2 * third :]]
    lots[2] += documents[5:15]  # that have come before, in another file
    lots[1] += [b"", b"{broken", b"   ", {"id": "unnamed", "authors": [{"name": "Doe, Jane"}, {"name": "?"}]}]
    lots[0].insert(3, b'{"id": "no authors"}')
    lots[0].append({"id": "citing", "authors": ["Doe, Jane"], "references": [documents[0]["id"], documents[7]["id"]],
                    "referenced_authors": [documents[7]["authors"][0]["name"]]})  # fmt: skip
    return lots


@needs_spark
def test_same_bytes_with_duplicates_rejected_records_and_pairs(
    session: SparkSession, tmp_path: Path, full_names: dict[str, list[Any]]
) -> None:
    lots = difficult_documents(generate(tmp_path, Corpus(mentions=3000, ambiguity=3.0, seed=5)))
    (tmp_path / "a b[1].jsonl").write_bytes(lines(lots[0]))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(lots[1])))
    (tmp_path / "c.jsonl").write_bytes(lines(lots[2]))
    inputs = [tmp_path / name for name in ("a b[1].jsonl", "b.jsonl.gz", "c.jsonl")]
    first = disambiguate(inputs, tmp_path / "first.parquet")
    block = pq.read_table(first.output).group_by("block").aggregate([("mention_id", "list")]).to_pylist()
    a, b, c, *_ = max(block, key=lambda row: len(row["mention_id_list"]))["mention_id_list"]
    elsewhere = next(row["mention_id_list"][0] for row in block if a not in row["mention_id_list"])
    rows = [f"{a},{b},same", f"{b},{c},different", f"{a},{c},same", f"{a},{elsewhere},same", f"{a},nobody,same"]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("\n".join(["mention_a,mention_b,relation", *rows]))

    def run(name: str, resources: Resources | None) -> Summary:
        return disambiguate(
            inputs, tmp_path / f"{name}.jsonl", pairs=pairs, rejects=tmp_path / f"{name}.rejects",
            save_statistics=tmp_path / f"{name}.csv", resources=resources,
        )  # fmt: skip

    local, spark = run("local", None), run("spark", SPARK)
    same(local, spark)
    assert local.problems.counts["duplicate"] == 10
    assert local.problems.counts["record"] == 2
    assert ["pair ignored" in warning for warning in local.warnings].count(True) == 1
    assert local.constraints
    assert local.constraints.contradictions
    assert_same_full_names(full_names)
    for ending in ("rejects", "csv", "collection.json"):
        assert (tmp_path / f"local.{ending}").read_bytes() == (tmp_path / f"spark.{ending}").read_bytes()


RIS = "TY  - JOUR\nTI  - {title}\nAU  - {author}\nAU  - Roe, Richard\nPY  - 2001\nER  - \n"
BIBTEX = "@article{{smith2020, title={{{title}}}, author={{{author} and Roe, Richard}}, year=2001}}\n"


@needs_spark
def test_same_bytes_for_identifiers_that_unite_names(session: SparkSession, tmp_path: Path) -> None:
    from tests.constraints.test_across_blocks import PAPERS

    (tmp_path / "in.jsonl").write_bytes(lines(PAPERS))
    (tmp_path / "pairs.csv").write_text("mention_a,mention_b,relation\nd008#0,d009#0,same\n")
    local, spark = (
        disambiguate(
            tmp_path / "in.jsonl",
            tmp_path / name,
            Settings(kappa=7),
            resources=resources,
            pairs=tmp_path / "pairs.csv",
        )
        for name, resources in (("local", None), ("spark", SPARK))
    )
    assert local.constraints is not None
    assert local.constraints.united == 3
    same(local, spark)


@needs_spark
def test_same_bytes_for_other_formats_and_chosen_ids(session: SparkSession, tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    exports.mkdir()
    titles = [
        f"{word} of {thing}" for word in ("Theory", "History", "Chemistry") for thing in ("coins", "graphs", "air")
    ]
    (exports / "a.ris").write_text("".join(RIS.format(title=t, author="Doe, Jane") for t in titles))
    (exports / "b.bib").write_text("".join(BIBTEX.format(title=t, author="Doe, John") for t in [*titles, titles[0]]))
    (exports / "c.jsonl").write_text('{"id": "c", "authors": ["Doe, J"], "title": "Coins"}\n')
    (exports / "nothing.bin").write_bytes(bytes(range(256)))
    (tmp_path / "pairs.csv").write_text("mention_a,mention_b,relation\nc#0,x#0,different\n")
    given = {"settings": Settings(background="none"), "pairs": tmp_path / "pairs.csv"}
    local = disambiguate(exports, tmp_path / "local", **given)  # type: ignore[call-overload]
    spark = disambiguate(exports, tmp_path / "spark", **given, resources=SPARK)  # type: ignore[call-overload]
    same(local, spark)
    documents = pq.read_table(local.output / DOCUMENTS).to_pylist()
    assert {tuple(row["record_ids"]) for row in documents if "smith2020~" in row["document_id"]} == {("smith2020",)}
    assert any("skipped" in warning for warning in local.warnings)


CSV = "Authors,Title,Year,EID,DOI,Affiliations\n"


@needs_spark
def test_same_bytes_for_copies_in_several_sources(session: SparkSession, tmp_path: Path) -> None:
    """Copies by DOI and by title, one that could belong to two documents, references, and two ORCIDs of one author."""
    exports = tmp_path / "exports"
    exports.mkdir()
    titles = [f"A long history of {thing} in the Roman empire" for thing in ("coins", "graphs", "air", "bread")]
    (exports / "a.csv").write_text(
        CSV + "".join(f'"Doe, J.; Roe, R.",{t},2001,2-s2.0-{i},10.1000/{i},MIT\n' for i, t in enumerate(titles))
    )
    (exports / "b.ris").write_text("".join(RIS.format(title=t, author="Doe, Jane") for t in [*titles, titles[0]]))
    (exports / "c.jsonl").write_bytes(
        lines([
            {"id": "c0", "ids": {"doi": "10.1000/0"}, "title": titles[0],
             "authors": [{"name": "Doe, J", "ids": {"orcid": "0000-0002-1825-0097"}}, {"name": "Roe, R"}]},
            {"id": "c00", "ids": {"doi": "10.1000/0"}, "references": ["2-s2.0-1", "2-s2.0-1", "c0"],
             "authors": [{"name": "Doe, J", "ids": {"orcid": "0000-0002-1694-233X"}}, {"name": "Poe, E"}]},
            {"id": "c3", "ids": {"doi": "10.1000/other"}, "title": titles[3], "year": 2001,
             "authors": ["Doe, J", "Roe, R"]},
            {"id": "c4", "references": ["c00", "c0", "2-s2.0-3"], "authors": ["Doe, J", "Roe, R"], "title": "Coins"},
        ])
    )  # fmt: skip
    local = disambiguate(exports, tmp_path / "local", rejects=tmp_path / "local.rejects")
    spark = disambiguate(exports, tmp_path / "spark", rejects=tmp_path / "spark.rejects", resources=SPARK)
    same(local, spark)
    assert (tmp_path / "local.rejects").read_bytes() == (tmp_path / "spark.rejects").read_bytes()
    assert local.problems.counts == {
        "record": 0,
        "author": 1,
        "field": 2,
        "duplicate": 6,
        "contributor": 0,
        "warning": 0,
    }


@needs_spark
def test_runs_in_one_session_have_tables_of_their_own(session: SparkSession, tmp_path: Path) -> None:
    from homonym.engines.spark.spark_counting import SparkQueries

    one, other = (SparkQueries(session, f"file:{tmp_path / name}") for name in ("one", "other"))
    for number, queries in enumerate((one, other)):
        queries.define("records", f"SELECT {number} AS n")
        queries.save("duplicates", f"SELECT n + 10 AS n FROM {queries.prefix}records")
    for number, queries in enumerate((one, other)):
        assert queries.number(f"SELECT n FROM {queries.prefix}records") == number
        assert queries.table("duplicates").toArrow()["n"].to_pylist() == [number + 10]
    one.drop()
    assert other.table("records").count() == 1
    other.drop()
    assert not [table.name for table in session.catalog.listTables() if table.name.startswith("homonym_")]


@needs_spark
def test_replaces_its_own_directory_but_no_file_that_came_during_the_run(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines([{"id": str(n), "authors": ["Doe, J"]} for n in range(3)]))

    def run() -> Summary:
        return disambiguate(tmp_path / "in.jsonl", f"file://{tmp_path / 'authors'}/", resources=SPARK)

    session.range(5).write.parquet(f"file://{tmp_path / 'authors'}")
    assert run().authors == 3
    assert pq.read_table(tmp_path / "authors").num_rows == 3
    found = SparkEngine.cluster

    def cluster_and_interfere(self: SparkEngine, *arguments: Any, **options: Any) -> Any:
        (tmp_path / "authors" / "notes.txt").write_text("precious")
        return found(self, *arguments, **options)

    monkeypatch.setattr(SparkEngine, "cluster", cluster_and_interfere)
    with pytest.raises(OutputError, match=r"has files that Spark did not write \(notes\.txt\)"):
        run()
    assert (tmp_path / "authors" / "notes.txt").read_text() == "precious"
    assert not [table.name for table in session.catalog.listTables() if table.name.startswith("homonym_")]


@needs_spark
def test_same_bytes_for_mentions_without_features(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines([{"id": str(n), "authors": ["Doe, J"]} for n in range(3)]))
    local = disambiguate(tmp_path / "in.jsonl", tmp_path / "local.csv")
    same(local, disambiguate(tmp_path / "in.jsonl", tmp_path / "spark.csv", resources=SPARK))
    assert local.authors == 3


@needs_spark
def test_same_bytes_for_files_without_authors_or_features_or_not_in_utf8(session: SparkSession, tmp_path: Path) -> None:
    """A file may give a part without mentions, or without features once its duplicates are dropped."""
    nameless = {"id": "x", "title": "Coins", "authors": []}
    lots = [[nameless], [{"id": str(n), "authors": ["Doe, J", "Roe, R"]} for n in range(3)], [nameless],
            [{"id": "y", "authors": ["Doe, J"]}, {"id": "0", "authors": ["Doe, J"]}]]  # fmt: skip
    inputs = [tmp_path / f"{number}.jsonl" for number in range(len(lots))]
    for path, lot in zip(inputs, lots, strict=True):
        path.write_bytes(lines(lot))
    (tmp_path / "latin.csv").write_bytes("id,authors\na,Müller J\nb,Poe E\n".encode("latin-1"))
    inputs.append(tmp_path / "latin.csv")
    local = disambiguate(inputs, tmp_path / "local.csv")
    same(local, disambiguate(inputs, tmp_path / "spark.csv", resources=SPARK))
    assert (local.records, local.mentions, local.problems.counts["duplicate"]) == (7, 9, 2)
    assert any("1 of 2 records not in UTF-8" in warning for warning in local.warnings)


@needs_spark
def test_refuses_unknown_kinds_of_identifiers_that_no_mention_has(session: SparkSession, tmp_path: Path) -> None:
    authors = [{"name": "Doe, Jane", "ids": {"Staff-ID": "7"}}]
    path = tmp_path / "documents.jsonl"
    path.write_bytes(b"".join(orjson.dumps({"id": str(n), "authors": authors}) + b"\n" for n in range(3)))
    for resources in (None, SPARK):
        done = disambiguate(path, tmp_path / "out.csv", Settings(identifiers="orcid,staffid"), resources=resources)
        assert done.authors == 1
        with pytest.raises(SettingsError, match="the kind 'stafid', which homonym does not know; use orcid, "):
            disambiguate(path, tmp_path / "out2.csv", Settings(identifiers="stafid"), resources=resources)


@needs_spark
def test_a_strict_run_fails_with_the_first_problem(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines([{"id": str(n), "authors": ["Doe, J"]} for n in range(9)] + [b"{"]))
    said = []
    for resources in (None, SPARK):
        with pytest.raises(InputError) as wrong:
            disambiguate(tmp_path / "in.jsonl", tmp_path / "out.csv", strict=True, resources=resources)
        said.append(str(wrong.value))
    assert said[0] == said[1]
    assert "line 10" in said[0]
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(lines([{"id": "a", "authors": ["Doe, J"]}]))
    return path


def test_says_how_to_install_pyspark(documents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"needs pyspark.* pip install 'pyspark.* brings it"):
        disambiguate(documents, documents.with_name("out.csv"), resources=Resources(engine="spark", master="local"))


@needs_spark
@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "sc://127.0.0.1:1"])
def test_rejects_a_master_that_does_not_answer(documents: Path, master: str) -> None:
    with pytest.raises(SettingsError, match=f"no answer from {master}; check --master"):
        disambiguate(documents, documents.with_name("out.csv"), resources=Resources(engine="spark", master=master))
    assert [path.name for path in documents.parent.iterdir()] == ["in.jsonl"]


def test_rejects_unsupported_options(documents: Path) -> None:
    output = documents.with_name("out.csv")
    with pytest.raises(SettingsError, match="the Spark engine cannot write a trace"):
        disambiguate(documents, output, trace=documents.with_name("trace.csv"), resources=SPARK)
    with pytest.raises(SettingsError, match="the spark engine is for disambiguate and cluster"):
        extract(documents, documents.with_name("out.jsonl"), resources=SPARK)
    with pytest.raises(InputError, match="name all inputs by URL"):
        disambiguate([documents, "s3a://bucket/more.jsonl"], output, resources=SPARK)


@needs_spark
def test_rebuild_of_a_spark_result_is_that_of_a_local_one(session: SparkSession, tmp_path: Path) -> None:
    old = write_documents(tmp_path / "old.jsonl", map(document, range(20)))
    new = write_documents(tmp_path / "new.jsonl", map(document, range(20, 26)))
    made = {}
    for name, resources in (("local", None), ("spark", SPARK)):
        result = disambiguate(old, tmp_path / name, SETTINGS, resources=resources).output
        decide(result, "different", "D0000#0", "D0001#0", reason="known", user="ann")
        made[name] = update(result, new, mode="rebuild", resources=resources)
        assert check(result).problems == []
    assert made["local"].events == made["spark"].events
    names = ("mentions", "authors", "documents", "ids")
    assert tables(tmp_path / "local", names) == tables(tmp_path / "spark", names)
    assert (tmp_path / "local" / BAGS).read_bytes() == (tmp_path / "spark" / BAGS).read_bytes()


@needs_spark
@pytest.mark.parametrize("session", [CLUSTER], indirect=True)
def test_executors_write_a_directory_from_mentions_with_given_statistics(
    session: SparkSession, tmp_path: Path, full_names: dict[str, list[Any]]
) -> None:
    assert session.sparkContext.master == CLUSTER
    corpus = generate(tmp_path, Corpus(mentions=1500, ambiguity=3.0, seed=7))
    extract(corpus, tmp_path / "all.jsonl", save_statistics=tmp_path / "statistics.parquet")
    mentions = (tmp_path / "all.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "some.jsonl").write_bytes(b"".join([*mentions[:900], mentions[5]]))
    extract(corpus, tmp_path / "rest.parquet")
    pq.write_table(pq.read_table(tmp_path / "rest.parquet").slice(900), tmp_path / "rest.parquet")
    inputs = [tmp_path / "rest.parquet", tmp_path / "some.jsonl"]
    given = {"settings": Settings(variant="max", constraints="none"), "statistics": tmp_path / "statistics.parquet"}
    local = cluster(inputs, tmp_path / "local.parquet", **given)  # type: ignore[arg-type]
    spark = cluster(inputs, f"file://{tmp_path / 'authors'}", **given, resources=SPARK)  # type: ignore[arg-type]
    files = sorted((tmp_path / "authors").glob("*.parquet"))
    rows = pa.concat_tables([pq.read_table(path) for path in files])
    assert rows.to_pylist() == pq.read_table(local.output).to_pylist()
    assert (local.limit, local.problems) == (spark.limit, spark.problems)
    assert settings_path(local.output).read_bytes() == settings_path(spark.output).read_bytes()
    assert_same_full_names(full_names)
    require_spark_table(tmp_path / "authors")  # so that the next run may replace it
