"""The Spark engine: the steps of engines/local.py as jobs over tables that all machines see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import Frequencies
from homonym.collection.encoded import Encoded
from homonym.collection.statistics import GivenStatistics, save_statistics
from homonym.constraints.evidence import UserPairs, locate_pairs
from homonym.engines.spark import cluster_tasks, encode_tasks, read_tasks, spark_counting
from homonym.engines.spark.cluster_tasks import FOUND, Schedule, Tasks, schedule
from homonym.engines.spark.encode_tasks import AMENDED, AMENDING, ENCODED, NUMBERING
from homonym.engines.spark.excerpt import ORDER, BlockPairs, excerpt
from homonym.engines.spark.inputs import Plan, RecordPositions, Remote, escaped, plan_files, plan_remote
from homonym.engines.spark.part_tables import joint_schema, spark_schema, store, stored
from homonym.engines.spark.read_tasks import FATAL, READ
from homonym.engines.spark.shipping import shipped
from homonym.engines.spark.spark_counting import Types
from homonym.errors import InputError
from homonym.messages import counted
from homonym.records.model import KEPT_PROBLEMS, Problems
from homonym.records.reader import Inputs
from homonym.runtime.progress import Stages
from homonym.schema import AUTHORS
from homonym.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows of the result that the driver holds at once.
RESULT_ROWS = 1_000_000
#: Rows are fetched by ranges of this many bits.
PIECE_BITS = 18


@dataclass
class SparkEngine:
    """The steps of a run on many machines; what they leave is at `place`, which all of them see, as Parquet.

    `folder` is a directory of the driver's own.
    """

    spark: SparkSession
    place: str
    folder: Path
    stages: Stages
    strict: bool = False
    rejects: IO[bytes] | None = None
    problems: Problems = field(default_factory=Problems)
    warnings: list[str] = field(default_factory=list)
    records: int = 0
    mentions: int = 0

    def read_documents(self, inputs: Inputs, settings: Settings) -> None:
        """Read documents and extract their features."""
        self._read(inputs, settings, mentions=False)

    def read_mentions(self, inputs: Inputs, settings: Settings) -> None:
        """Read mentions that bring their own features; tables come after lines, as they do locally."""
        files = sorted(inputs.files, key=lambda path: path.suffix == ".parquet")
        self._read(replace(inputs, files=files), settings, mentions=True)

    def connect(self) -> None:
        """Set duplicate records aside."""
        with self.stages.stage("count"):
            found = spark_counting.find_duplicates(self._table("records"), self._table("keys"), self._at("linked"))
            found.write.mode("overwrite").parquet(self._at("duplicates"))
            self._number_of_duplicates = number = self._duplicates.count()
            first = (
                spark_counting.first_duplicates(self._duplicates, self._table("records"), KEPT_PROBLEMS)
                if number
                else []
            )
        for again in first:
            self.problems.add(self.places.duplicate(again), strict=self.strict and self.plan.mentions)
        self.problems.counts["duplicate"] += number - len(first)
        self.records -= number

    def encode(self, given: GivenStatistics | None) -> None:
        """Count the features, or take given counts, number the blocks, and give each mention its bag."""
        with self.stages.stage("count"):
            self._amend()
            self._number_blocks()
            self._count(given)
        with self.stages.stage("encode"):
            self._encode()

    def save_statistics(self, path: Path) -> None:
        """Save #(f) of the run, through the same database and writer as locally."""
        import duckdb

        known = Frequencies(self.types.names, np.empty(0, np.int64), np.empty(0), self.types.mass, self.types.mentions)
        with duckdb.connect(self.folder / "statistics.duckdb") as connection:
            connection.execute("CREATE TABLE vocabulary (id BIGINT, type VARCHAR, feature VARCHAR, count DOUBLE)")
            for rows in _in_pieces(self._vocabulary.select("id", "type", "feature", "count"), "id"):
                connection.register("rows", rows)
                connection.execute("INSERT INTO vocabulary SELECT * FROM rows")
                connection.unregister("rows")
            save_statistics(connection, known, path)

    def missing_features(self) -> int:
        """How many features of the run the given statistics do not know."""
        return self._vocabulary.where("NOT known").count()

    def fetch(self, blocks: NDArray[np.int64]) -> tuple[Encoded, NDArray[np.int64]]:
        """Some blocks as a collection of their own on the driver, with the numbers that Spark knows them by."""
        from pyspark.sql.functions import broadcast

        numbers = self.schedule.number[blocks]
        wanted = self.spark.createDataFrame(pa.table({"block_number": numbers}))
        rows = self._encoded.join(broadcast(wanted), "block_number").orderBy(*ORDER).select(*ENCODED.names).toArrow()
        return excerpt(rows, self.types, self.folder), numbers

    def place_pairs(self, pairs: UserPairs | None) -> BlockPairs:
        """Find the blocks of the mentions that a user's pairs name; warns of those that cannot be honoured."""
        if pairs is None:
            return BlockPairs()
        ids = self.spark.createDataFrame(pa.table({"mention_id": sorted({*pairs.a, *pairs.b})}, _IDS))
        found = self._encoded.select(*ORDER).join(ids, "mention_id").orderBy(*ORDER).select(*ORDER).toArrow()
        mention_ids, block = found["mention_id"].combine_chunks(), found["block_number"].to_numpy()
        by_block: dict[int, list[tuple[str, str, bool]]] = {}
        for same, places in zip((True, False), locate_pairs(mention_ids, block, pairs, self.warnings), strict=True):
            for a, b in places.tolist():
                row = (mention_ids[a].as_py(), mention_ids[b].as_py(), same)
                by_block.setdefault(int(block[a]), []).append(row)
        return BlockPairs(given=True, by_block=by_block)

    def cluster(self, job: Tasks) -> None:
        """Cluster all blocks, each task those that the schedule gives it."""
        with self.stages.stage("cluster"):
            tasks = self._encoded.repartitionById(len(self.schedule.first), "task").sortWithinPartitions(*ORDER)
            store(self._mapped(tasks, f"{_CLUSTERING}:cluster_blocks", joint_schema(FOUND), job=job), self._at("found"))

    def notes(self) -> list[dict[str, Any]]:
        """What the batches of all tasks say about themselves, in the order of the result."""
        rows = stored(self.spark, self._at("found"), "notes", FOUND).orderBy("place").toLocalIterator()
        return [orjson.loads(row["note"]) for row in rows]

    def results(self) -> Iterator[pa.Table]:
        """All rows of the result, in order."""
        for rows in _in_pieces(self._authors, "place"):
            yield rows.select(AUTHORS.names).cast(AUTHORS)

    def write_results(self, place: str) -> None:
        """Write the result as a directory of Parquet files, which are in order like the rows in them."""
        ordered = self._authors.repartitionByRange("place").sortWithinPartitions("place")
        ordered.select(*AUTHORS.names).write.mode("overwrite").parquet(place)

    @cached_property
    def places(self) -> RecordPositions:
        """Where records stand in their files; asked for only if something is to be said about one."""
        return RecordPositions.of(self.plan, self._table("splits").toArrow().to_pylist())

    def _read(self, inputs: Inputs, settings: Settings, *, mentions: bool) -> None:
        with self.stages.stage("read"):
            self.plan = self._plan(inputs, mentions=mentions)
            lines = [file.path for file in self.plan.files if file.by_lines]
            whole = [file.path for file in self.plan.files if not file.by_lines]
            arguments = {"plan": self.plan, "settings": settings}
            frames = []
            if lines:
                rows = (
                    self.spark.read.option("lineSep", "\n")
                    .text(_urls(lines))
                    .selectExpr(
                        "_metadata.file_path AS url",
                        "_metadata.file_block_start AS start",
                        "CAST(value AS BINARY) AS line",
                    )
                )
                frames.append(self._mapped(rows, f"{_READING}:read_lines", joint_schema(READ), **arguments))
            if whole:
                rows = self.spark.read.format("binaryFile").load(_urls(whole))
                rows = rows.selectExpr("_metadata.file_path AS url", "content")
                frames.append(self._mapped(rows, f"{_READING}:read_files", joint_schema(READ), **arguments))
            store(frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1]), self._at("read"))
            self._take_counts(inputs)

    def _plan(self, inputs: Inputs, *, mentions: bool) -> Plan:
        if not isinstance(inputs, Remote):
            return plan_files(inputs, mentions=mentions, warn=self.warnings.append)
        files = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(list(inputs.urls))
        rows = files.selectExpr("_metadata.file_path AS url", "length").toArrow().to_pylist()
        return plan_remote(inputs, sorted((row["url"], row["length"]) for row in rows), mentions=mentions)

    def _take_counts(self, inputs: Inputs) -> None:
        """Count what was read, and take what was wrong with it."""
        self._take_problems()
        sums = "count(*) AS n", "coalesce(sum(authors), 0) AS m", "count_if(NOT id_is_key) AS named"
        row = self._table("records").selectExpr(*sums).toArrow().to_pylist()[0]
        self.records, self.mentions, self._named_by_hand = row["n"], row["m"], row["named"]
        if not self.records:
            read = self._table("parts").selectExpr("coalesce(sum(read), 0) AS n").toArrow()["n"][0].as_py()
            first = f" The first problem: {self.problems.kept[0]}" if self.problems.kept else ""
            what = "mentions" if self.plan.mentions else "documents"
            raise InputError(f"{inputs}: no usable {what} among {counted(read, 'record')}.{first}")

    def _take_problems(self) -> None:
        problems = self._table("problems")
        counts = {row["lost"]: row["count"] for row in problems.groupBy("lost").count().toArrow().to_pylist()}
        if not counts:
            return
        ordered = problems.orderBy("sequence", "ordinal")
        if FATAL in counts:
            raise InputError(ordered.where(f"lost = '{FATAL}'").limit(1).toArrow()["reason"][0].as_py())
        shown = ordered if self.rejects else ordered.limit(KEPT_PROBLEMS)
        for row in shown.toLocalIterator():
            problem, reject = self.places.problem(row.asDict())
            self.problems.add(problem, strict=self.strict)
            if self.rejects:
                self.rejects.write(reject)
        for lost, number in counts.items():
            self.problems.counts[lost] = number

    def _amend(self) -> None:
        """Leave duplicates out of the parts, rename documents, add referenced authors, and count by part."""
        from pyspark.sql import functions as f

        records, mentions, references = (self._table(name) for name in ("records", "mentions", "references"))
        about = []
        if self._number_of_duplicates:
            lost = records.join(self._duplicates.select("sequence"), "sequence")
            about.append(_about(lost, AMENDING, encode_tasks.DUPLICATE, sequence="sequence"))
        if self._named_by_hand:
            names = spark_counting.renamed(records, self._duplicates)
            about.append(_about(names, AMENDING, encode_tasks.RENAMED, sequence="sequence", text="id"))
        if not references.isEmpty():
            cited = spark_counting.referenced(references, records, self._duplicates)
            cells = {name: name for name in ("sequence", "names", "holders")}
            about.append(_about(cited, AMENDING, encode_tasks.REFERENCED, **cells))
        rows = _about_parts(self._table("parts"), AMENDING, about)
        store(self._mapped(rows, f"{_ENCODING}:amend", joint_schema(AMENDED)), self._at("amended"))
        kept = mentions.join(self._duplicates.select("sequence"), "sequence", "left_anti")
        sizes = kept.groupBy("block").agg(f.count("*").alias("size"))
        sizes.repartitionByRange("block").sortWithinPartitions("block").select(
            f.monotonically_increasing_id().alias("number"), "block", "size"
        ).write.mode("overwrite").parquet(self._at("blocks"))

    def _number_blocks(self) -> None:
        rows = self.spark.read.parquet(self._at("blocks")).select("number", "size").orderBy("number").toArrow()
        self.schedule: Schedule = schedule(rows["number"].to_numpy(), rows["size"].to_numpy())

    def _count(self, given: GivenStatistics | None) -> None:
        import duckdb

        elsewhere, mass = None, None
        if given:
            with duckdb.connect(self.folder / "given.duckdb") as connection:
                elsewhere, mass = spark_counting.take_statistics(self.spark, given, connection, self._at("given"))
        features = stored(self.spark, self._at("amended"), "features", AMENDED)
        counted_features = spark_counting.count_features(features, elsewhere)
        counted_features.write.mode("overwrite").parquet(self._at("vocabulary"))
        mentions = given.mentions if given else int(self.schedule.size.sum())
        self.types: Types = spark_counting.types_of(self._vocabulary, mass, mentions)

    def _encode(self) -> None:
        features = stored(self.spark, self._at("amended"), "features", AMENDED).where("NOT again")
        known = self._vocabulary.selectExpr("id AS number", "type", "feature", "count AS total")
        numbers = features.select("part", "id", "type", "feature").join(known, ["type", "feature"])
        blocks = self._table("mentions").select("part", "block").distinct()
        blocks = blocks.join(self.spark.read.parquet(self._at("blocks")), "block")
        about = [
            _about(numbers, NUMBERING, encode_tasks.NUMBER, sequence="id", number="number", total="total"),
            _about(blocks, NUMBERING, encode_tasks.BLOCK, text="block", number="number"),
        ]
        rows = _about_parts(stored(self.spark, self._at("amended"), "parts", AMENDED), NUMBERING, about)
        first = self.schedule.first_numbers
        encoded = self._mapped(rows, f"{_ENCODING}:encode", ENCODED, first_blocks=first)
        encoded.write.mode("overwrite").parquet(self._at("encoded"))

    def _mapped(self, rows: DataFrame, task: str, schema: pa.Schema, **arguments: Any) -> DataFrame:
        return rows.mapInArrow(shipped(task, **arguments), spark_schema(schema))

    def _table(self, name: str) -> DataFrame:
        return stored(self.spark, self._at("read"), name, READ)

    def _at(self, name: str) -> str:
        return f"{self.place}/{name}"

    @property
    def _duplicates(self) -> DataFrame:
        return self.spark.read.parquet(self._at("duplicates"))

    @property
    def _vocabulary(self) -> DataFrame:
        return self.spark.read.parquet(self._at("vocabulary"))

    @property
    def _encoded(self) -> DataFrame:
        return self.spark.read.parquet(self._at("encoded"))

    @property
    def _authors(self) -> DataFrame:
        return stored(self.spark, self._at("found"), "authors", FOUND)


_READING, _ENCODING, _CLUSTERING = (module.__name__ for module in (read_tasks, encode_tasks, cluster_tasks))
_IDS = pa.schema([("mention_id", pa.string())])


def _urls(paths: list[str]) -> list[str]:
    """Paths as Spark takes them: what has no scheme is a file that all machines see."""
    return [escaped(path) if "://" in path else f"file:{escaped(path)}" for path in paths]


def _about(rows: DataFrame, schema: pa.Schema, kind: int, **columns: str) -> DataFrame:
    """Rows that say something about their part."""
    types = {field.name: field.dataType.simpleString() for field in spark_schema(schema)}
    given = {"part": "part", "kind": str(kind)} | columns
    return rows.selectExpr(*(f"CAST({given.get(name, 'NULL')} AS {kind}) AS {name}" for name, kind in types.items()))


def _about_parts(parts: DataFrame, schema: pa.Schema, about: list[DataFrame]) -> DataFrame:
    """Parts, each after all that is said about it."""
    cells = {name: name for name in parts.columns}
    rows = _about(parts, schema, encode_tasks.PART, **cells)
    if not about:
        return rows
    for more in about:
        rows = rows.unionByName(more)
    return rows.repartition("part").sortWithinPartitions("part", "kind", "sequence")


def _in_pieces(rows: DataFrame, by: str) -> Iterator[pa.Table]:
    """Rows in the order of a column of whole numbers, so many at a time as the driver can hold."""
    from pyspark.sql import functions as f

    piece = f.shiftright(by, PIECE_BITS).alias("piece")
    found = rows.groupBy(piece).count().orderBy("piece").toArrow().to_pylist()
    while found:
        taken = int(np.searchsorted(np.cumsum([row["count"] for row in found]), RESULT_ROWS)) + 1
        first, last = found[0]["piece"] << PIECE_BITS, found[:taken][-1]["piece"] + 1 << PIECE_BITS
        yield rows.where(f"{by} >= {first} AND {by} < {last}").orderBy(by).toArrow()
        found = found[taken:]
