"""The Spark engine: the steps of a run as Spark jobs over Parquet tables that all machines see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from homonym.calibration.confidence import Confidence
from homonym.calibration.limit import blocks_for_calibration
from homonym.clustering.arrays import Frequencies, starts
from homonym.collection.author_summaries import FACTS, summarise_authors, summary_tables
from homonym.collection.background import BackgroundUse, add_background, largest_name_query
from homonym.collection.document_table import ROW_GROUP, choose_documents
from homonym.collection.duplicates import find_copies, renamed_documents, renaming, repeated_mentions
from homonym.collection.layout import PLACED_IDENTIFIERS
from homonym.collection.namesakes import count_namesakes, ordered_name_counts
from homonym.collection.parts import MERGED, MergeLoss, reject_line
from homonym.collection.result_statistics import write_result_statistics
from homonym.collection.statistics import GivenStatistics, save_statistics
from homonym.collection.stored_bags import ROW_GROUP as BAG_ROW_GROUP
from homonym.constraints.across_blocks import (
    CANDIDATE_ROWS,
    UNITED_ROWS,
    UnitedAuthors,
    linking_kinds,
    unite_authors,
)
from homonym.constraints.conflicts import ConstraintConflict
from homonym.constraints.evidence import UserPairs, locate_pairs, require_known_identifiers
from homonym.constraints.found_constraints import ConstraintCounts, find_constraints
from homonym.constraints.must_link import DOCUMENT, NAME, PAIR
from homonym.engines.base import (
    CalibrationSample,
    ConstraintOutcome,
    Destination,
    EncodedCollection,
    FileCounts,
    FoundAuthors,
    FoundDuplicates,
    RecordsRead,
    encoding_warnings,
    merge_problems,
    missing_features_warning,
    no_authors_warnings,
    report_duplicates,
    require_usable,
)
from homonym.engines.spark import cluster_tasks, encode_tasks, read_tasks, spark_counting
from homonym.engines.spark.cluster_tasks import FOUND, ORDER, BlockPairs, ClusterJob, Schedule, excerpt, schedule
from homonym.engines.spark.encode_tasks import (
    AMENDED,
    AMENDING,
    BAG_PREFIX,
    BAG_ROWS,
    ENCODED,
    ENCODING,
    ID_BITS,
    NUMBERED_DOCUMENTS,
    NUMBERING,
)
from homonym.engines.spark.input_plan import (
    InputPlan,
    RecordPositions,
    RemoteInputs,
    escaped,
    plan_files,
    plan_remote,
)
from homonym.engines.spark.part_tables import joint_schema, spark_schema, store, stored
from homonym.engines.spark.read_tasks import FATAL, READ
from homonym.engines.spark.session import failures_as_messages, open_session, shipped
from homonym.engines.spark.spark_counting import FeatureTypes, SparkQueries
from homonym.errors import InputError
from homonym.io.result_directory import AUTHORS as AUTHORS_TABLE
from homonym.io.result_directory import BAGS
from homonym.io.result_directory import DOCUMENTS as DOCUMENTS_TABLE
from homonym.io.tables import SMALL_ROW_GROUP, write_table
from homonym.io.urls import is_url
from homonym.records.model import MAX_LISTED_PROBLEMS, Problems
from homonym.records.reader import Inputs
from homonym.runtime.own_files import GROUPS, remove_own, require_spark_table
from homonym.runtime.progress import Advance, Stages
from homonym.schema import AUTHOR_SUMMARIES, AUTHORS, DOCUMENTS, NAME_COUNTS, STATISTICS, STORED_BAGS
from homonym.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Maximum number of rows of the result that the driver holds at once. Rows are fetched by ranges of 2 to the power of
# the second number.
RESULT_ROWS, RANGE_BITS = 1_000_000, 18
# The same for authors and documents, whose rows are longer.
LONG_ROWS, LONG_RANGE_BITS = 50_000, 14


@dataclass(frozen=True)
class SparkParts:
    """The plan of the files that were read, and the settings with which they were."""

    plan: InputPlan
    settings: Settings


@dataclass(frozen=True)
class SparkCollection:
    """The feature types of an encoded collection, the schedule of its blocks, and the user's pairs."""

    types: FeatureTypes
    schedule: Schedule
    pairs: BlockPairs = field(default_factory=BlockPairs)


Read = RecordsRead[SparkParts]
Collection = EncodedCollection[SparkCollection]
Found = FoundAuthors["DataFrame"]


@contextmanager
def open_spark_engine(
    master: str | None,
    work: Path,
    shared_work: str | None,
    stages: Stages,
    *,
    strict: bool,
    rejects: IO[bytes] | None,
    warnings: list[str],
) -> Iterator[SparkEngine]:
    """An engine in a Spark session; its tables are in the work directory, or at a URL that all machines see."""
    with open_session(master) as spark, failures_as_messages():
        folder = work / "spark"
        remove_own(work, GROUPS["spark"])
        folder.mkdir(exist_ok=True)
        place = shared_work.rstrip("/") + "/spark" if shared_work else f"file:{folder.absolute()}"
        engine = SparkEngine(spark, place, folder, stages, strict, rejects, warnings)
        try:
            yield engine
        finally:
            engine.queries.drop()
            remove_own(work, GROUPS["spark"])  # a run on Spark cannot be resumed


@dataclass(frozen=True)
class SparkEngine:
    """The steps of a run on many machines; their tables are at `place`, which all machines see, as Parquet.

    `folder` is a directory of the driver.
    """

    spark: SparkSession
    place: str
    folder: Path
    stages: Stages
    strict: bool = False
    rejects: IO[bytes] | None = None
    warnings: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=lambda: ["read"])

    def read_documents(self, inputs: Inputs, settings: Settings, beside: Callable[[], object] | None = None) -> Read:
        """Read documents and extract their features; nothing runs `beside` that."""
        return self._read(inputs, settings, mentions=False)

    def read_mentions(self, inputs: Inputs, settings: Settings) -> Read:
        """Read mentions that come with their own features: first the files of lines, then the Parquet tables."""
        files = sorted(inputs.files, key=lambda path: path.suffix == ".parquet")
        return self._read(replace(inputs, files=files), settings, mentions=True)

    def encode(
        self,
        read: Read,
        given: GivenStatistics | None,
        save_statistics: Path | None = None,
        *,
        documents: bool = False,
    ) -> Collection:
        """Merge duplicates, count the features or take given counts, number the blocks, and encode all bags."""
        plan = read.data.plan
        with self.stages.stage("merge"):
            duplicates = self._find_duplicates(read.data)
        kept = self._report(read, duplicates)
        with self.stages.stage("count"):
            self._amend(duplicates.number, renames=not plan.mentions)
            blocks = self._schedule()
            types = own_types = self._count(given, int(blocks.size.sum()))
            leans = given is None and read.data.settings.uses_background
            use = self._background_use(types.mentions) if leans else None
            if use:
                types = self._add_background(types, use)
        with self.stages.stage("encode"):
            self._encode(blocks, use, documents=documents)
        if documents:
            with self.stages.stage("documents"):
                self._store_documents()
        if given:
            missing = self._vocabulary.where("NOT is_given").count()
            self.warnings.extend(missing_features_warning(missing, types.features))
        if save_statistics:
            self._save_statistics(own_types, save_statistics)
        mentions = int(blocks.size.sum())
        collection = SparkCollection(types, blocks)
        return EncodedCollection(
            kept.records, mentions, len(blocks.size), kept.problems, collection, use, read.of_mentions
        )

    def constrain(self, collection: Collection, settings: Settings, pairs: UserPairs | None) -> Collection:
        """Find the blocks of the user's pairs. All other constraints are found by the tasks that cluster."""
        with self.stages.stage("constrain"):
            require_known_identifiers(settings, self._has_identifier)
            by_block = self._find_blocks(pairs) if pairs else BlockPairs()
        return replace(collection, data=replace(collection.data, pairs=by_block))

    def _has_identifier(self, kind: str) -> bool:
        """Whether any mention has an identifier of this kind."""
        from pyspark.sql import functions as f

        texts = f.col("identifiers").cast("string")
        return bool(self._encoded.where(texts.contains(f'["{kind}",')).take(1))

    def sample(self, collection: Collection, settings: Settings) -> CalibrationSample:
        """Fetch the blocks that calibration uses to the driver."""
        number = collection.data.schedule.number
        sample = blocks_for_calibration(
            collection.data.schedule.size, lambda blocks: self._occurrences(number[blocks])
        )  # fmt: skip
        rows = self._blocks(number[sample.loaded]).orderBy(*ORDER).select(*ENCODED.names).toArrow()
        encoded = excerpt(rows, collection.data.types, self.folder)
        constraints = find_constraints(encoded, settings, collection.data.pairs.among(number[sample.loaded]))
        return CalibrationSample(encoded, constraints, sample)

    def _blocks(self, numbers: NDArray[np.int64]) -> DataFrame:
        """The encoded mentions of some blocks."""
        from pyspark.sql.functions import broadcast

        wanted = self.spark.createDataFrame(pa.table({"block_number": numbers}))
        return self._encoded.join(broadcast(wanted), "block_number")

    def _occurrences(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of occurrences of features in some blocks, which come in rising order."""
        from pyspark.sql import functions

        bytes_of = functions.sum(functions.octet_length("feature")).alias("bytes")
        rows = self._blocks(numbers).groupBy("block_number").agg(bytes_of).orderBy("block_number").toArrow()
        occurrences: NDArray[np.int64] = rows["bytes"].to_numpy() // np.dtype(np.int64).itemsize
        return occurrences

    def cluster(
        self, collection: Collection, settings: Settings, confidence: Confidence | None, *, trace: bool
    ) -> Found:
        """Cluster all blocks, each task those that the schedule assigns to it. There is no trace."""
        data, blocks = collection.data, collection.data.schedule
        job = ClusterJob(data.types, settings, data.pairs, confidence, blocks.first_places)
        with self.stages.stage("cluster"):
            tasks = self._encoded.repartitionById(len(blocks.first), "task").sortWithinPartitions(*ORDER)
            found = self._mapped(tasks, f"{_CLUSTERING}:cluster_blocks", joint_schema(FOUND), job=job)
            store(found, self._at("found"))
        rows = stored(self.spark, self._at("found"), "notes", FOUND).orderBy("place").toLocalIterator()
        notes = [orjson.loads(row["note"]) for row in rows]
        total, known = (math.fsum(part) for part in zip(*(note["confidence"] for note in notes), strict=True))
        outcome = _constraint_outcome(notes, settings)
        united = self._unite_blocks(settings, data.pairs.user_pairs)
        return FoundAuthors(
            mentions=collection.mentions,
            authors=sum(note["authors"] for note in notes) - united.gone,
            confidence=total / known if known else None,
            constraints=outcome.with_united(united, (*settings.trusted, PAIR)) if outcome else None,
            data=self._with_united(united),
        )

    def _unite_blocks(self, settings: Settings, pairs: UserPairs | None) -> UnitedAuthors:
        """Unite authors of different blocks; only their rows are fetched to the driver."""
        from pyspark.sql import functions as f

        authors = stored(self.spark, self._at("found"), "authors", FOUND)
        ids = stored(self.spark, self._at("found"), "mention_ids", FOUND)
        ids = ids.where(f.col("kind").isin(list(linking_kinds(settings))))
        placed = ids.join(authors.select("place", "block", "author_id"), "place")
        several = placed.groupBy("kind", "id").agg(f.count_distinct("block").alias("blocks")).where("blocks > 1")
        chosen = placed.join(several, ["kind", "id"]).select("author_id")
        if pairs:
            named = self.spark.createDataFrame(pa.table({"mention_id": sorted({*pairs.a, *pairs.b})}, _IDS))
            chosen = chosen.unionByName(authors.join(named, "mention_id").select("author_id"))
        rows = authors.join(chosen.distinct(), "author_id").orderBy("place").select(*CANDIDATE_ROWS.names).toArrow()
        if not len(rows):
            return unite_authors(
                CANDIDATE_ROWS.empty_table(), PLACED_IDENTIFIERS.empty_table(), pairs, settings.trusted
            )
        places = self.spark.createDataFrame(pa.table({"place": rows["place"]}))
        chosen_ids = ids.join(places, "place").orderBy("place", "kind").select(*PLACED_IDENTIFIERS.names).toArrow()
        return unite_authors(rows.cast(CANDIDATE_ROWS), chosen_ids.cast(PLACED_IDENTIFIERS), pairs, settings.trusted)

    def _with_united(self, united: UnitedAuthors) -> DataFrame:
        """The rows of the result after authors of different blocks were united."""
        from pyspark.sql import functions as f

        authors = stored(self.spark, self._at("found"), "authors", FOUND)
        if not len(united.rows):
            return authors
        changes = [f"{name} AS new_{name}" for name in UNITED_ROWS.names if name != "place"]
        changed = self.spark.createDataFrame(united.rows).selectExpr("place", "true AS is_changed", *changes)
        joined = authors.join(changed, "place", "left")
        for name in UNITED_ROWS.names[1:]:
            joined = joined.withColumn(name, f.expr(f"if(is_changed, new_{name}, {name})"))
        joined.select(*authors.columns).write.mode("overwrite").parquet(self._at("united"))
        return self.spark.read.parquet(self._at("united"))

    def write_authors(self, found: Found, destination: Destination, advance: Advance) -> None:
        """Write the table of authors as a file, or as a directory of Parquet files that are in order."""
        authors = found.data
        if not destination.directory:
            rows = _result_tables(authors, advance)
            write_table(destination.path, AUTHORS, rows, excel=destination.excel, row_group=SMALL_ROW_GROUP)
            return
        if not is_url(destination.directory):
            require_spark_table(destination.path)  # again, because it may have been filled during the run
        ordered = authors.repartitionByRange("place").sortWithinPartitions("place")
        ordered.select(*AUTHORS.names).write.mode("overwrite").parquet(destination.directory)

    def bags_stored(self, collection: Collection) -> AbstractContextManager[None]:
        """Nothing: the bags are stored with the encoded collection, and the cluster has no idle cores."""
        return nullcontext()

    def write_documents(self, collection: Collection, folder: Path) -> None:
        """Write the documents, their bags and the statistics to a result directory, each as one file."""
        stored_rows = self.spark.read.parquet(self._at("document_rows"))
        rows = _in_ranges(stored_rows, "number", LONG_ROWS, LONG_RANGE_BITS)
        tables = (table.select(DOCUMENTS.names).cast(DOCUMENTS) for table in rows)
        write_table(folder / DOCUMENTS_TABLE, DOCUMENTS, tables, row_group=ROW_GROUP)
        self._write_statistics(collection, folder)

    @contextmanager
    def summaries_written(self, collection: Collection, found: Found, folder: Path) -> Iterator[Callable[[], None]]:
        """Write the table of authors when the function is called: the cluster has no idle cores before."""
        yield partial(self._write_summaries, collection, found, folder)

    def _write_summaries(self, collection: Collection, found: Found, folder: Path) -> None:
        """Write the table of authors to a result directory, as one file."""
        self._name_facts(found.data, with_documents=not collection.of_mentions)
        summarise_authors(self.queries)

        def fetch(table: str, columns: str, order: str, first: int, following: int) -> pa.Table:
            chosen = f"author >= {first} AND author < {following}"
            query = f"SELECT {columns} FROM {self.queries.prefix}{table} WHERE {chosen} ORDER BY {order}"
            return self.spark.sql(query).toArrow()

        ranges = _ranges(self.queries.table("authors"), "author", LONG_ROWS, LONG_RANGE_BITS)
        tables = summary_tables(fetch, ranges)
        write_table(folder / AUTHORS_TABLE, AUTHOR_SUMMARIES, tables, row_group=SMALL_ROW_GROUP)

    def _write_statistics(self, collection: Collection, folder: Path) -> None:
        """Write what blocks take from the whole collection to a result directory, and the bags of documents."""
        types = collection.data.types
        vocabulary = self._vocabulary_in_use(collection.background).select("id", *STATISTICS.names)
        features = (rows.select(STATISTICS.names).cast(STATISTICS) for rows in _in_ranges(vocabulary, "id"))
        names = self.spark.sql(ordered_name_counts(self.queries.prefix)).toArrow().cast(NAME_COUNTS)
        mass = dict(zip(types.names, types.mass.tolist(), strict=True))
        write_result_statistics(folder, features, mass, types.mentions, [names])
        write_table(folder / BAGS, STORED_BAGS, self._bag_rows(), row_group=BAG_ROW_GROUP)

    def _bag_rows(self) -> Iterator[pa.Table]:
        """The bags of documents, in the order of the table of documents."""
        from pyspark.sql import functions as f

        bags = stored(self.spark, self._at("encoded"), "bags", ENCODING)
        bags = bags.select(*(f.col(name).alias(name.removeprefix(BAG_PREFIX)) for name in BAG_ROWS.names))
        documents = self.spark.read.parquet(self._at("document_rows")).select("document_id", "references", "number")
        for rows in _in_ranges(bags.join(documents, "document_id"), "number", LONG_ROWS, LONG_RANGE_BITS):
            yield rows.select(STORED_BAGS.names).cast(STORED_BAGS)

    def _name_facts(self, found: DataFrame, *, with_documents: bool) -> None:
        """Make the tables known to SQL that the table of authors is made of; `found` are the rows of the result."""
        self.queries.name("mention_ids", stored(self.spark, self._at("found"), "mention_ids", FOUND))
        authors = self._numbered("author_numbers", found, "author_id", "author")
        if with_documents:
            rows = self.spark.read.parquet(self._at("document_rows")).withColumnRenamed("number", "document")
            entries = rows.selectExpr("document", "explode(authors) AS a")
            affiliations = entries.selectExpr("document", "a.position", "explode(a.affiliations) AS affiliation")
            documents = rows.select("document_id", "document")
        else:
            affiliations = self.spark.createDataFrame([], "document BIGINT, position INT, affiliation STRING")
            documents = self._numbered("document_numbers", found, "document_id", "document")
        self.queries.name("mention_affiliations", affiliations)
        numbered = found.join(authors, "author_id").join(documents, "document_id", "left")
        self.queries.name("facts", numbered.select(*FACTS.names))

    def _numbered(self, table: str, rows: DataFrame, column: str, number: str) -> DataFrame:
        """Store the distinct values of a column with numbers in their order."""
        from pyspark.sql import functions as f

        values = rows.select(column).where(f"{column} IS NOT NULL").distinct()
        ordered = values.repartitionByRange(column).sortWithinPartitions(column)
        numbered = ordered.select(column, f.monotonically_increasing_id().alias(number))
        numbered.write.mode("overwrite").parquet(self._at(table))
        self.queries.name(table, self.spark.read.parquet(self._at(table)))
        return self.queries.table(table)

    def _store_documents(self) -> None:
        """Store the documents of the result, numbered in the order of their ids."""
        from pyspark.sql import functions as f

        self.queries.name("document_references", self._table("references").select("sequence", "id"))
        chosen = self.spark.sql(choose_documents(self.queries))
        ordered = chosen.repartitionByRange("document_id").sortWithinPartitions("document_id")
        numbered = ordered.select("*", f.monotonically_increasing_id().alias("number"))
        rows = self._mapped(numbered, f"{_ENCODING}:document_rows", NUMBERED_DOCUMENTS)
        rows.write.mode("overwrite").parquet(self._at("document_rows"))

    def _read(self, inputs: Inputs, settings: Settings, *, mentions: bool) -> Read:
        with self.stages.stage("read"):
            plan = self._plan(inputs, mentions=mentions)
            arguments = {"plan": plan, "settings": settings}
            frames = []
            if lines := [file.path for file in plan.files if file.by_lines]:
                columns = ("_metadata.file_path AS url", "_metadata.file_block_start AS start",
                           "CAST(value AS BINARY) AS line")  # fmt: skip
                rows = self.spark.read.option("lineSep", "\n").text(_urls(lines)).selectExpr(*columns)
                frames.append(self._mapped(rows, f"{_READING}:read_lines", joint_schema(READ), **arguments))
            if whole := [file.path for file in plan.files if not file.by_lines]:
                rows = self.spark.read.format("binaryFile").load(_urls(whole))
                rows = rows.selectExpr("_metadata.file_path AS url", "content")
                frames.append(self._mapped(rows, f"{_READING}:read_files", joint_schema(READ), **arguments))
            store(frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1]), self._at("read"))
            return self._read_counts(inputs, plan, settings)

    def _plan(self, inputs: Inputs, *, mentions: bool) -> InputPlan:
        if not isinstance(inputs, RemoteInputs):
            return plan_files(inputs, self.warnings, mentions=mentions)
        files = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(list(inputs.urls))
        rows = files.selectExpr("_metadata.file_path AS url", "length").toArrow().to_pylist()
        return plan_remote(inputs, sorted((row["url"], row["length"]) for row in rows), mentions=mentions)

    def _read_counts(self, inputs: Inputs, plan: InputPlan, settings: Settings) -> Read:
        from pyspark.sql import functions as f

        problems = self._read_problems(plan)
        sums = "count(*) AS n", "coalesce(sum(authors), 0) AS m"
        parts = self._table("records").groupBy("part").agg(*map(f.expr, sums)).toArrow().to_pylist()
        records, mentions = (sum(row[name] for row in parts) for name in ("n", "m"))
        if not records:
            raw_records = self._table("parts").selectExpr("coalesce(sum(read), 0) AS n").toArrow()["n"][0].as_py()
            require_usable(0, inputs, "mentions" if plan.mentions else "documents", raw_records, problems)
        encodings = self._table("parts").where("western > 0").select("part", "western").toArrow().to_pylist()
        western = {row["part"]: row["western"] for row in encodings}
        counts = FileCounts()
        for row in sorted(parts, key=itemgetter("part")):
            name = plan.files[plan.at(row["part"])].name
            counts.add(name, row["n"], row["m"], western.get(row["part"], 0))
        without_authors = counts.without_authors()
        self.warnings.extend(no_authors_warnings(without_authors) + encoding_warnings(counts))
        formats = Counter(file.form for file in plan.files if file.form)
        parts_read = SparkParts(plan, settings)
        return RecordsRead(records, mentions, problems, formats, parts_read, plan.mentions, without_authors)

    def _read_problems(self, plan: InputPlan) -> Problems:
        """The problems of all records; also writes the rejected records."""
        found, rows = Problems(), self._table("problems")
        counts = {row["lost"]: row["count"] for row in rows.groupBy("lost").count().toArrow().to_pylist()}
        if not counts:
            return found
        ordered = rows.orderBy("sequence", "ordinal")
        if FATAL in counts:
            raise InputError(ordered.where(f"lost = '{FATAL}'").limit(1).toArrow()["reason"][0].as_py())
        positions = self._positions(plan)
        for row in (ordered if self.rejects else ordered.limit(MAX_LISTED_PROBLEMS)).toLocalIterator():
            problem, reject = positions.problem(row.asDict())
            found.add(problem, strict=self.strict)
            if self.rejects:
                self.rejects.write(reject)
        for lost, number in counts.items():
            found.counts[lost] = number
        return found

    def _positions(self, plan: InputPlan) -> RecordPositions:
        """The positions of records in their files; needed only if there is a problem to report."""
        return RecordPositions.of(plan, self._table("splits").toArrow().to_pylist())

    def _find_duplicates(self, parts: SparkParts) -> FoundDuplicates:
        """Find the duplicates of a run, and merge the copies of each document."""
        self._name_tables()
        if parts.plan.mentions:
            self.queries.save("duplicates", repeated_mentions(self.queries.prefix))
            return FoundDuplicates(*spark_counting.count_duplicates(self.queries, MAX_LISTED_PROBLEMS))
        undecided = find_copies(self.queries, parts.plan.sequences)
        found = FoundDuplicates(*spark_counting.count_duplicates(self.queries, MAX_LISTED_PROBLEMS))
        if found.number:
            copies = spark_counting.copies_by_document(self.queries)
            merged = self._mapped(copies, f"{_READING}:merge_copies", joint_schema(READ), settings=parts.settings)
            store(merged, self._at(MERGED))
            self.places.append(MERGED)
            self._name_tables()
            rows = stored(self.spark, self._at(MERGED), "problems", READ).groupBy("lost").count().toArrow().to_pylist()
            lost = {row["lost"]: row["count"] for row in rows}
            found = found._replace(lost=lost, first_losses=list(self._losses(MAX_LISTED_PROBLEMS)) if lost else [])
        self.queries.save("renamed", renaming(self.queries))
        renamed = self.spark.sql(renamed_documents(self.queries.prefix)).toArrow().to_pylist()[0]
        self.stages.note("merge", copies=found.number, by_title=found.by_title, undecided=undecided)
        return found._replace(renamed=renamed["number"], new_id=renamed["new_id"])

    def _losses(self, number: int | None = None) -> Iterator[MergeLoss]:
        """What merging has lost; all of it, or the first few."""
        rows = stored(self.spark, self._at(MERGED), "problems", READ).orderBy("start", "ordinal")
        for row in (rows.limit(number) if number else rows).toLocalIterator():
            yield MergeLoss(row["sequence"], row["line"], row["lost"], row["reason"])

    def _name_tables(self) -> None:
        """Make the tables of records known to SQL."""
        for name in ("records", "keys", "documents"):
            self.queries.name(name, self._table(name))

    def _report(self, read: Read, duplicates: FoundDuplicates) -> Read:
        """The records that were read, each document once, with problems for all duplicates."""
        plan = read.data.plan
        positions = cache(partial(self._positions, plan))

        def locate(sequence: int, line: int) -> tuple[str, str, int]:
            return positions().locate(sequence, line)

        if self.rejects and duplicates.lost:
            for problem in merge_problems(self._losses(), locate):
                self.rejects.write(reject_line(problem))
        self.warnings.extend(duplicates.warnings())
        return report_duplicates(read, duplicates, locate, mentions=plan.mentions, strict=self.strict)

    def _amend(self, duplicates: int, *, renames: bool) -> None:
        """Drop duplicates from the parts, rename documents, add referenced authors; number the blocks."""
        from pyspark.sql import functions as f

        records, references = (self._table(name) for name in ("records", "references"))
        about = []
        if duplicates:
            lost = records.join(self._duplicates.select("sequence"), "sequence")
            about.append(_about(lost, AMENDING, encode_tasks.DUPLICATE, sequence="sequence"))
        if renames:
            names = records.select("part", "sequence").join(self.queries.table("renamed"), "sequence")
            about.append(_about(names, AMENDING, encode_tasks.RENAMED, sequence="sequence", text="id"))
        if not references.isEmpty():
            cited = spark_counting.referenced(references, records, self._duplicates)
            cells = {name: name for name in ("sequence", "names", "holders")}
            about.append(_about(cited, AMENDING, encode_tasks.REFERENCED, **cells))
        rows = _about_parts(self._table("parts"), AMENDING, about)
        store(self._mapped(rows, f"{_ENCODING}:amend", joint_schema(AMENDED)), self._at("amended"))
        sizes = self._kept_mentions.groupBy("block").agg(f.count("*").alias("size"))
        sizes.repartitionByRange("block").sortWithinPartitions("block").select(
            f.monotonically_increasing_id().alias("number"), "block", "size"
        ).write.mode("overwrite").parquet(self._at("blocks"))

    def _schedule(self) -> Schedule:
        rows = self.spark.read.parquet(self._at("blocks")).select("number", "size").orderBy("number").toArrow()
        return schedule(rows["number"].to_numpy(), rows["size"].to_numpy())

    def _count(self, given: GivenStatistics | None, mentions: int) -> FeatureTypes:
        import duckdb

        elsewhere, mass = None, None
        if given:
            with duckdb.connect(self.folder / "given.duckdb") as connection:
                elsewhere, mass = spark_counting.take_statistics(self.spark, given, connection, self._at("given"))
        features = stored(self.spark, self._at("amended"), "features", AMENDED)
        counted_features = spark_counting.count_features(features, elsewhere)
        counted_features.write.mode("overwrite").parquet(self._at("vocabulary"))
        return spark_counting.types_of(self._vocabulary, mass, given.mentions if given else mentions)

    def _background_use(self, mentions: int) -> BackgroundUse | None:
        """How much the collection leans on the background."""
        self.queries.name("kept_mentions", self._kept_mentions)
        kept = f"SELECT block, document FROM {self.queries.prefix}kept_mentions"
        return BackgroundUse.of(mentions, self.queries.number(largest_name_query(kept)))

    def _add_background(self, types: FeatureTypes, use: BackgroundUse) -> FeatureTypes:
        """Write the vocabulary with the background added; a collection of few names is small enough for the driver."""
        rows = self._vocabulary.orderBy("id").toArrow()
        number = rows["id"].to_numpy()
        first = np.append(np.searchsorted(number, types.first), len(number)).astype(np.int64)
        own = Frequencies(types.names, first, rows["count"].to_numpy(), types.mass, types.mentions)
        found = add_background(own, rows["feature"].to_pylist(), use)
        rows = rows.set_column(rows.column_names.index("count"), "count", pa.array(found.total))
        self.spark.createDataFrame(rows).write.mode("overwrite").parquet(self._at("with_background"))
        return replace(types, mass=found.mass, mentions=found.mentions)

    def _count_namesakes(self, use: BackgroundUse | None) -> DataFrame:
        """The expected number of namesakes of each full name."""
        self.queries.name("kept_mentions", self._kept_mentions)
        count_namesakes(self.queries, f"SELECT full_name FROM {self.queries.prefix}kept_mentions", use)
        return self.queries.table("namesakes")

    def _encode(self, blocks_in_tasks: Schedule, use: BackgroundUse | None, *, documents: bool) -> None:
        features = stored(self.spark, self._at("amended"), "features", AMENDED).where("NOT again")
        vocabulary = self._vocabulary_in_use(use)
        known = vocabulary.selectExpr("id AS number", "type", "feature", "count AS total")
        numbers = features.select("part", "id", "type", "feature").join(known, ["type", "feature"])
        blocks = self._table("mentions").select("part", "block").distinct()
        blocks = blocks.join(self.spark.read.parquet(self._at("blocks")), "block")
        names = self._table("mentions").select("part", "full_name").distinct()
        names = names.join(self._count_namesakes(use), "full_name")
        about = [
            _about(numbers, NUMBERING, encode_tasks.NUMBER, sequence="id", number="number", total="total"),
            _about(blocks, NUMBERING, encode_tasks.BLOCK, text="block", number="number"),
            _about(names, NUMBERING, encode_tasks.NAMESAKES, text="full_name", total="namesakes"),
        ]
        rows = _about_parts(stored(self.spark, self._at("amended"), "parts", AMENDED), NUMBERING, about)
        arguments = {"first_blocks": blocks_in_tasks.first_numbers}
        if documents:
            arguments["first_features"] = self._first_features()
        store(self._mapped(rows, f"{_ENCODING}:encode", joint_schema(ENCODING), **arguments), self._at("encoded"))

    def _first_features(self) -> NDArray[np.int64]:
        """The number of features before those of each partition of the vocabulary."""
        from pyspark.sql import functions as f

        partition = f.shiftright("id", ID_BITS).alias("partition")
        rows = self._vocabulary.groupBy(partition).count().toArrow()
        size = np.zeros(max(rows["partition"].to_pylist(), default=-1) + 1, np.int64)
        size[rows["partition"].to_numpy()] = rows["count"].to_numpy()
        return starts(size)

    def _vocabulary_in_use(self, use: BackgroundUse | None) -> DataFrame:
        """All features with #(f), with that of the background if it is in use."""
        return self.spark.read.parquet(self._at("with_background")) if use else self._vocabulary

    def _save_statistics(self, types: FeatureTypes, path: Path) -> None:
        """Save #(f) of the run, with the database and the writer of the local engine."""
        import duckdb

        known = Frequencies(types.names, np.empty(0, np.int64), np.empty(0), types.mass, types.mentions)
        with duckdb.connect(self.folder / "statistics.duckdb") as connection:
            connection.execute("CREATE TABLE vocabulary (id BIGINT, type VARCHAR, feature VARCHAR, count DOUBLE)")
            for rows in _in_ranges(self._vocabulary.select("id", "type", "feature", "count"), "id"):
                connection.register("rows", rows)
                connection.execute("INSERT INTO vocabulary SELECT * FROM rows")
                connection.unregister("rows")
            save_statistics(connection, known, path)

    def _find_blocks(self, pairs: UserPairs) -> BlockPairs:
        """The user's pairs by block; warns of pairs that cannot be used."""
        ids = self.spark.createDataFrame(pa.table({"mention_id": sorted({*pairs.a, *pairs.b})}, _IDS))
        found = self._encoded.select(*ORDER).join(ids, "mention_id").orderBy(*ORDER).select(*ORDER).toArrow()
        mention_ids, block = found["mention_id"].combine_chunks(), found["block_number"].to_numpy()
        by_block: dict[int, list[tuple[str, str, bool]]] = {}
        for same, places in zip((True, False), locate_pairs(mention_ids, block, pairs, self.warnings), strict=True):
            for a, b in places.tolist():
                row = (mention_ids[a].as_py(), mention_ids[b].as_py(), same)
                by_block.setdefault(int(block[a]), []).append(row)
        return BlockPairs(pairs, by_block)

    def _mapped(self, rows: DataFrame, task: str, schema: pa.Schema, **arguments: Any) -> DataFrame:
        return rows.mapInArrow(shipped(task, **arguments), spark_schema(schema))

    def _table(self, name: str) -> DataFrame:
        """A table of all parts, those of merged documents included once there are some."""
        first, *more = (stored(self.spark, self._at(place), name, READ) for place in self.places)
        return first.unionByName(more[0]) if more else first

    @property
    def _kept_mentions(self) -> DataFrame:
        """The mentions of all records but duplicates."""
        return self._table("mentions").join(self._duplicates.select("sequence"), "sequence", "left_anti")

    def _at(self, name: str) -> str:
        return f"{self.place}/{name}"

    @cached_property
    def queries(self) -> SparkQueries:
        """The queries that find duplicates."""
        return SparkQueries(self.spark, self._at("duplicates"))

    @property
    def _duplicates(self) -> DataFrame:
        return self.queries.table("duplicates")

    @property
    def _vocabulary(self) -> DataFrame:
        return self.spark.read.parquet(self._at("vocabulary"))

    @property
    def _encoded(self) -> DataFrame:
        return stored(self.spark, self._at("encoded"), "mentions", ENCODING)


_READING, _ENCODING, _CLUSTERING = (module.__name__ for module in (read_tasks, encode_tasks, cluster_tasks))
_IDS = pa.schema([("mention_id", pa.string())])


def _urls(paths: list[str]) -> list[str]:
    """Paths as Spark takes them; one without a scheme is a file that all machines see."""
    return [escaped(path) if is_url(path) else f"file:{escaped(path)}" for path in paths]


def _about(rows: DataFrame, schema: pa.Schema, kind: int, **columns: str) -> DataFrame:
    """Rows that say something about their part."""
    types = {field.name: field.dataType.simpleString() for field in spark_schema(schema)}
    given = {"part": "part", "kind": str(kind)} | columns
    return rows.selectExpr(*(f"CAST({given.get(name, 'NULL')} AS {kind}) AS {name}" for name, kind in types.items()))


def _about_parts(parts: DataFrame, schema: pa.Schema, about: list[DataFrame]) -> DataFrame:
    """Parts, each after all rows about it."""
    rows = _about(parts, schema, encode_tasks.PART, **{name: name for name in parts.columns})
    if not about:
        return rows
    for more in about:
        rows = rows.unionByName(more)
    return rows.repartition("part").sortWithinPartitions("part", "kind", "sequence")


def _result_tables(authors: DataFrame, advance: Advance) -> Iterator[pa.Table]:
    """All rows of the result, in order."""
    for rows in _in_ranges(authors, "place"):
        yield rows.select(AUTHORS.names).cast(AUTHORS)
        advance(len(rows))


def _in_ranges(rows: DataFrame, by: str, most: int = RESULT_ROWS, bits: int = RANGE_BITS) -> Iterator[pa.Table]:
    """Rows in the order of a column of integers, about `most` at a time."""
    for first, following in _ranges(rows, by, most, bits):
        yield rows.where(f"{by} >= {first} AND {by} < {following}").orderBy(by).toArrow()


def _ranges(rows: DataFrame, by: str, most: int, bits: int) -> Iterator[tuple[int, int]]:
    """Ranges of a column of integers, in order, with about `most` rows each."""
    from pyspark.sql import functions as f

    number = f.shiftright(by, bits).alias("range")
    found = rows.groupBy(number).count().orderBy("range").toArrow().to_pylist()
    while found:
        taken = int(np.searchsorted(np.cumsum([row["count"] for row in found]), most)) + 1
        yield found[0]["range"] << bits, found[:taken][-1]["range"] + 1 << bits
        found = found[taken:]


def _constraint_outcome(notes: list[dict[str, Any]], settings: Settings) -> ConstraintOutcome | None:
    """What constraints did in all tasks; None if there were no constraints."""
    counts = [note["counts"] for note in notes if "counts" in note]
    if not counts:
        return None
    conflicts = (row for note in notes for row in note.get("conflicts", ()))
    return ConstraintOutcome(
        ConstraintCounts(
            links=_added([count["links"] for count in counts], [*settings.trusted, PAIR]),
            linked=sum(count["linked"] for count in counts),
            apart=_added([count["apart"] for count in counts], [*settings.trusted, DOCUMENT, NAME, PAIR]),
        ),
        [ConstraintConflict(kind, block, tuple(mentions), what) for kind, block, mentions, what in conflicts],
    )


def _added(counts: list[Mapping[str, int]], kinds: list[str]) -> dict[str, int]:
    """Counts by kind, added up, in the order of the kinds.

    >>> _added([{"name": 1}, {"orcid": 2, "name": 3}], ["orcid", "pair", "name"])
    {'orcid': 2, 'name': 4}
    """
    sums = {kind: sum(count.get(kind, 0) for count in counts) for kind in kinds}
    return {kind: number for kind, number in sums.items() if number}
