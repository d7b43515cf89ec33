"""The tables of a result after an update: new mentions get authors, decisions are applied, ids and events follow.

An update works on the blocks that new or leaving mentions or decisions touch, and on blocks with other mentions of the
same authors, or of authors with the same identifiers. All other rows are copied. The steps are

1. the undecided authors of these blocks, without leaving mentions and with new ones;
2. clustering of the blocks with new mentions (assignment.py), authors of several blocks (uniting.py), and ids for
   new authors;
3. the authors that decisions make of these (decided.py);
4. events, from the authors before and after;
5. the tables of mentions, authors, ids and events.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers
from homonym.collection.block_reload import DocumentBags, extract_records
from homonym.collection.result_statistics import ResultStatistics
from homonym.collection.stored_bags import rows_of_part
from homonym.constraints.across_blocks import UnitedAuthors, linking_kinds
from homonym.constraints.conflicts import ConstraintConflict, replace_conflicts
from homonym.constraints.evidence import UserPairs, write_user_pairs
from homonym.corpus.assignment import ClusteredRows, Epoch, cluster_rows
from homonym.corpus.decided import (
    Cause,
    Decided,
    Pair,
    Split,
    anchor_of,
    apply_decisions,
    complete_parts,
    consistent_parts,
)
from homonym.corpus.decision_state import document_of
from homonym.corpus.epoch import CorpusNote, add_counts, add_features
from homonym.corpus.event_table import CREATED, GROWN, MERGED, MOVED, RETIRED, REVIVED, SPLIT, Event
from homonym.corpus.id_matching import match_authors, weights_of
from homonym.corpus.ids import ACTIVE, GivenIds, ends_of_redirects, ids_of_blocks, mint, rows_of_ids
from homonym.corpus.intake import DocumentChanges
from homonym.corpus.renamed_mentions import append_renames, gone_mentions, is_same_person, places_of, returned_mentions
from homonym.corpus.table_changes import (
    read_identifiers,
    replace_authors,
    replace_rows,
    summaries_of,
    with_new_coauthors,
)
from homonym.corpus.uniting import (
    BlockLinks,
    Candidates,
    Identifier,
    authors_of_several_blocks,
    codes_of,
    find_links,
    joined_clusters,
    unite_groups,
)
from homonym.engines.base import DECIMALS
from homonym.io.result_directory import AUTHORS, CONFLICTS, DOCUMENTS, MENTIONS, PAIRS, UNDECIDED
from homonym.io.row_groups import FilePart
from homonym.io.tables import look_up, write_table
from homonym.schema import AUTHORS as MENTION_ROWS

# Number of mentions that are clustered at once, unless a block is larger.
ROWS_AT_ONCE = 20_000
# Number of such batches whose documents are read together: all row groups have some of them.
BATCHES_AT_ONCE = 8
ORDER = [("block", "ascending"), ("document_id", "ascending"), ("position", "ascending"), ("mention_id", "ascending")]


_NO_IDENTIFIERS: Mapping[str, str] = MappingProxyType({})


@dataclass
class TouchedBlocks:
    """The mentions of the blocks that an update works on.

    `before` and `after` are the authors that the result shows, by mention id; `base` are the rows with undecided
    authors after the update, and `shown` those with decisions. `renamed` maps mentions that got another id to it.
    `conflicts` are those of the blocks with new mentions.
    """

    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    base: pa.Table = field(default_factory=MENTION_ROWS.empty_table)
    shown: pa.Table = field(default_factory=MENTION_ROWS.empty_table)
    renamed: dict[str, str] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    former: pa.Table = field(default_factory=MENTION_ROWS.empty_table)
    conflicts: list[ConstraintConflict] = field(default_factory=list)

    @property
    def origin(self) -> dict[str, str]:
        """The authors that the result has shown so far, by the mention ids that hold now."""
        return renamed_keys(self.before, self.renamed)

    @property
    def is_changed(self) -> bool:
        """Whether any row has changed."""
        return not self.shown.cast(MENTION_ROWS).equals(self.former.cast(MENTION_ROWS))


@dataclass(frozen=True)
class UpdatePlan:
    """What an update is to do, and where.

    `place` is the result, `folder` the copy of it that is changed. Rows that do not change are read from `result`: that
    is `place`, or the directory of a new run if the collection is clustered from scratch.
    """

    place: Path
    result: Path
    folder: Path
    work: Path
    epoch: Epoch
    note: CorpusNote
    decided: Decided
    changes: DocumentChanges
    mode: str
    known_ids: pa.Table
    threads: int = 1
    # The identifiers of mentions by kind, filled where documents are read anyway.
    identifiers: dict[str, Mapping[str, str]] = field(default_factory=dict)
    # The parts of files of which some were copied from the result.
    copied: dict[str, list[FilePart]] = field(default_factory=dict)

    @cached_property
    def new_part(self) -> dict[str, pa.Table]:
        """The tables of a part for new and changed documents."""
        return extract_records(self.changes.rows["record"], self.epoch.settings)

    @cached_property
    def statistics(self) -> ResultStatistics:
        """The frequencies of the epoch, read once: they are used for new documents and for all batches of blocks."""
        return ResultStatistics.read(self.folder)

    def new_bags(self) -> pa.Table:
        """What a result stores of the features of new and changed documents."""
        document_id = self.changes.rows["document_id"].combine_chunks()
        return rows_of_part(self.new_part, document_id, self.statistics)


def touched_blocks(plan: UpdatePlan) -> TouchedBlocks:
    """Steps 1 to 3 for the modes assign and grow."""
    new = _new_rows(plan)
    leaving = _rows(plan, "document_id", sorted(plan.changes.leaving))
    touched = TouchedBlocks()
    new, touched.renamed = inherited_rows(new, leaving, plan.changes.changed)
    blocks = {*new["block"].to_pylist(), *leaving["block"].to_pylist(), *_decided_blocks(plan, new)}
    former = look_up(plan.result / MENTIONS, "block", pa.array(sorted(blocks, key=str.encode), pa.string()))
    base = without_decisions(plan.result, former)
    gone = pa.array(sorted(plan.changes.leaving), pa.string())
    base = pa.concat_tables([base.filter(pc.invert(pc.is_in(base["document_id"], gone))), new]).sort_by(ORDER)
    whole = set() if plan.mode == "assign" else _whole_authors(plan, base, former)
    clustered = _with_clusters(plan, base, whole, touched.conflicts)
    links = _links(plan, clustered, _authors(former) | _authors(leaving) | _authors(base), former)
    more = links.blocks - blocks
    further = look_up(plan.result / MENTIONS, "block", pa.array(sorted(more, key=str.encode), pa.string()))
    touched.blocks = sorted(blocks | more, key=str.encode)
    touched.former = pa.concat_tables([former, further]).sort_by(ORDER)
    touched.before = authors_of_mentions(touched.former)
    clustered = pa.concat_tables([clustered, _without_clusters(further)]).sort_by(ORDER)
    lost = _lost_authors(leaving, touched.renamed, clustered)
    touched.base = _with_authors(plan, clustered, links, touched, lost)
    touched.shown = show_decisions(plan, touched)
    touched.after = authors_of_mentions(touched.shown)
    return touched


def _authors(rows: pa.Table) -> set[str]:
    return set(pc.unique(rows["author_id"].drop_null()).to_pylist())


def _lost_authors(leaving: pa.Table, renamed: Mapping[str, str], rows: pa.Table) -> set[str]:
    """The authors that lost a mention."""
    kept, left = set(rows["mention_id"].to_pylist()), authors_of_mentions(leaving)
    return {author for mention, author in left.items() if renamed.get(mention, mention) not in kept}


def _new_rows(plan: UpdatePlan) -> pa.Table:
    """The rows of the mentions of new and changed documents; they have no author yet."""
    if not len(plan.changes.rows):
        return nullable_rows(MENTION_ROWS.empty_table())
    add_features(plan.statistics, plan.new_part["features"])
    return _without_authors(plan.new_part["mentions"])


def _without_authors(mentions: pa.Table) -> pa.Table:
    """Rows of the table of mentions for those of a part."""
    columns = {name: mentions[name] for name in ("mention_id", "document_id", "position", "name", "block")}
    missing = {name: pa.nulls(len(mentions), MENTION_ROWS.field(name).type) for name in MENTION_ROWS.names[5:]}
    return nullable_rows(pa.table(columns | missing).select(MENTION_ROWS.names))


_NULLABLE = pa.schema([one.with_nullable(True) for one in MENTION_ROWS])


def nullable_rows(rows: pa.Table) -> pa.Table:
    """Rows of the table of mentions, which may lack an author."""
    return rows.cast(_NULLABLE)


def _rows(plan: UpdatePlan, column: str, values: Sequence[str]) -> pa.Table:
    """Rows of the table of mentions with undecided authors."""
    return without_decisions(plan.result, look_up(plan.result / MENTIONS, column, pa.array(values, pa.string())))


def without_decisions(result: Path, rows: pa.Table) -> pa.Table:
    """Rows of the table of mentions with undecided authors."""
    path = result / UNDECIDED
    if not path.exists():
        return nullable_rows(rows)
    undecided = pq.read_table(path)
    place = pc.index_in(rows["mention_id"], undecided["mention_id"].combine_chunks())
    found = undecided.take(place)
    for name in ("author_id", "constraint", "confidence", "author_confidence"):
        column = pc.if_else(pc.is_valid(place), found[name], rows[name])
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return nullable_rows(rows)


def authors_of_mentions(rows: pa.Table) -> dict[str, str]:
    """The author of each mention."""
    return dict(zip(rows["mention_id"].to_pylist(), rows["author_id"].to_pylist(), strict=True))


def renamed_keys(authors: dict[str, str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Authors of mentions, by the ids that the mentions have now.

    If several mentions have become one, the author is that of the mention that kept its id.
    """
    if not renamed:
        return authors
    kept = {one: author for one, author in authors.items() if one not in renamed}
    return {renamed[one]: author for one, author in authors.items() if one in renamed} | kept


def inherited_rows(new: pa.Table, leaving: pa.Table, changed: frozenset[str]) -> tuple[pa.Table, dict[str, str]]:
    """New rows with what the same mention had before, and the mentions of changed documents that have another id.

    A mention of a changed document is the same if its author is the same by name and position, in the same block.
    """
    if not changed:
        return nullable_rows(new), {}
    old, renamed, kept = rows_by_document(leaving), dict[str, str](), set[str]()
    rows = new.to_pylist()
    by_document: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["document_id"] in changed:
            by_document[row["document_id"]].append(row)
    for document, mentions in by_document.items():
        mentions.sort(key=_position)
        former = old.get(document, [])
        places = places_of(mentions, former) if former else []
        for row, place in zip(mentions, places, strict=False):
            before = former[place.number] if place else None
            if before and place and place.by_name and before["block"] == row["block"]:
                row |= {name: before[name] for name in MENTION_ROWS.names[5:]}
                if before["mention_id"] != row["mention_id"]:
                    renamed[before["mention_id"]] = row["mention_id"]
            if before and before["mention_id"] == row["mention_id"] and is_same_person(place, before, row):
                kept.add(row["mention_id"])
    kept |= renamed.keys()
    left = [row for one in sorted(changed) for row in old.get(one, []) if row["mention_id"] not in kept]
    renamed |= gone_mentions(left, {row["mention_id"]: row["name"] for row in rows}, {*renamed.values()})
    return pa.Table.from_pylist(rows, schema=_NULLABLE), renamed


def follow_renames(plan: UpdatePlan) -> UpdatePlan:
    """The plan with decisions and pairs by the mention ids after the update; the result gets the renames."""
    return with_renames(plan, _renamed_mentions(plan))


def with_renames(plan: UpdatePlan, renamed: Mapping[str, str]) -> UpdatePlan:
    """The plan with decisions and pairs after some mentions got another id; the result gets the renames."""
    if not renamed:
        return plan
    append_renames(plan.folder, plan.decided.last, renamed)
    pairs = plan.epoch.pairs
    if pairs:
        a, b = (tuple(renamed.get(one, one) for one in side) for side in (pairs.a, pairs.b))
        pairs = UserPairs(a, b, pairs.same)
        write_user_pairs(plan.folder / PAIRS, pairs)
    return replace(plan, decided=Decided.read(plan.place, plan.folder), epoch=replace(plan.epoch, pairs=pairs))


def _renamed_mentions(plan: UpdatePlan) -> dict[str, str]:
    """The mentions that have another id after the update."""
    changes = plan.changes
    if not changes.leaving and not len(changes.rows):
        return {}
    named = plan.decided.find_named()
    if plan.epoch.pairs:
        named.update(plan.epoch.pairs.a, plan.epoch.pairs.b)
    if not named and not changes.changed:
        return {}
    leaving = _rows(plan, "document_id", sorted(changes.leaving)) if changes.leaving else _no_rows()
    return find_renames(new_rows(plan), leaving, changes, named)


def find_renames(new: pa.Table, leaving: pa.Table, changes: DocumentChanges, named: Set[str]) -> dict[str, str]:
    """The mentions that have another id after an update: those of changed documents, and some that users named.

    `new` has the rows of new and changed documents, and `leaving` those of changed and removed ones. Mentions that
    users named are gone with their document, and may come back with it.
    """
    own = new.filter(pc.is_in(new["document_id"], pa.array(sorted(changes.changed), pa.string())))
    renamed = inherited_rows(own, leaving, changes.changed)[1]
    removed = (row for row in leaving.to_pylist() if row["document_id"] in changes.removed)
    renamed |= gone_mentions(row for row in removed if row["mention_id"] in named)
    known = {*leaving["mention_id"].to_pylist()} - renamed.keys() | {*renamed.values()}
    fresh = new.filter(pc.invert(pc.is_in(new["mention_id"], pa.array(sorted(known), pa.string()))))
    return renamed | returned_mentions(rows_by_document(fresh), named)


def new_rows(plan: UpdatePlan) -> pa.Table:
    """The rows of the mentions of new and changed documents, without authors."""
    return _without_authors(plan.new_part["mentions"]) if len(plan.changes.rows) else _no_rows()


def _no_rows() -> pa.Table:
    return nullable_rows(MENTION_ROWS.empty_table())


def mentions_by_document(plan: UpdatePlan, documents: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the mentions of some documents, as they are after new records and before decisions."""
    wanted = pa.array(sorted(documents), pa.string())
    leaving = pa.array(sorted(plan.changes.leaving), pa.string())
    old = look_up(plan.place / MENTIONS, "document_id", wanted)
    kept, new = old.filter(pc.invert(pc.is_in(old["document_id"], leaving))), new_rows(plan)
    return rows_by_document(pa.concat_tables([nullable_rows(kept), new.filter(pc.is_in(new["document_id"], wanted))]))


def rows_by_document(rows: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Rows of the table of mentions by document, in the order of the authors."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.to_pylist():
        found[row["document_id"]].append(row)
    for mentions in found.values():
        mentions.sort(key=_position)
    return found


def _position(row: Mapping[str, Any]) -> int:
    return int(row["position"])


def _decided_blocks(plan: UpdatePlan, new: pa.Table) -> set[str]:
    """The blocks that decisions are about, or were about in the update before."""
    found = set[str]()
    if (plan.result / UNDECIDED).exists():
        found.update(pq.read_table(plan.result / UNDECIDED, columns=["block"])["block"].to_pylist())
    for column, values in (
        ("mention_id", {*_disputed(plan), *plan.decided.names, *plan.note.named}),
        ("document_id", plan.decided.wrong),
    ):
        if values:
            wanted = pa.array(sorted(values), pa.string())
            rows = look_up(plan.result / MENTIONS, column, wanted, [column, "block"])
            found.update(rows["block"].to_pylist())
            found.update(new.filter(pc.is_in(new[column], wanted))["block"].to_pylist())
    return found


def _disputed(plan: UpdatePlan) -> set[str]:
    """The mentions of pairs that say something else than the table of mentions, or have a mention that it lacks.

    Where decisions make other authors of undecided ones, the table of undecided rows has the blocks.
    """
    decided = plan.decided
    if not decided.pairs:
        return set()
    wanted = pa.array(sorted(decided.mentions), pa.string())
    author = authors_of_mentions(look_up(plan.result / MENTIONS, "mention_id", wanted, ["mention_id", "author_id"]))
    if plan.changes.leaving:
        author = {one: own for one, own in author.items() if document_of(one) not in plan.changes.leaving}
    return {
        mention
        for a, b, same in decided.pairs
        if a not in author or b not in author or (author[a] == author[b]) != same
        for mention in (a, b)
    }


# Step 2


# The columns that the clustering computes, and their names next to those of the result.
_COMPUTED = {name: f"found {name}" for name in ("constraint", "confidence", "author_confidence")}


def _with_clusters(plan: UpdatePlan, base: pa.Table, whole: Set[str], conflicts: list[ConstraintConflict]) -> pa.Table:
    """The rows with the number of their cluster and what the clustering computes; null in blocks without new mentions.

    Authors in `whole` are not divided. Adds to the conflicts.
    """
    without = base.filter(pc.is_null(base["author_id"]))
    blocks = pa.array(sorted(set(without["block"].to_pylist()), key=str.encode), pa.string())
    is_worked_on = pc.is_in(base["block"], blocks)
    done, first = [_without_clusters(base.filter(pc.invert(is_worked_on)))], 0
    for rows, bags in _batches(plan, base.filter(is_worked_on)):
        with TemporaryDirectory(dir=plan.work) as folder:
            found = cluster_rows(
                bags, rows, plan.epoch, Path(folder), separate=plan.mode == "assign", whole=whole, threads=plan.threads
            )
            conflicts += found.found.conflicts if found.found else []
            plan.identifiers.update(_identifiers(found))
        add_counts(plan.folder, found.counted)
        computed = {"cluster": pa.array(found.cluster.astype(np.int64) + first)}
        done.append(_with_columns(rows, computed | {new: found.column(name) for name, new in _COMPUTED.items()}))
        first += len(rows)
        del found  # its bags are large, and so is what Arrow keeps of the memory for documents
        pa.default_memory_pool().release_unused()
    return pa.concat_tables(done).sort_by(ORDER)


def _whole_authors(plan: UpdatePlan, rows: pa.Table, former: pa.Table) -> set[str]:
    """The authors of rows that are never divided: users have made decisions about them, or they have several names."""
    curated = pa.array(sorted(plan.decided.curated), pa.string())
    found = _authors(rows.filter(pc.is_in(rows["mention_id"], curated)))
    return found | authors_of_several_blocks(plan.result, _authors(rows), former)


def _without_clusters(rows: pa.Table) -> pa.Table:
    rows = nullable_rows(rows)
    nulls = {new: pa.nulls(len(rows), _NULLABLE.field(name).type) for name, new in _COMPUTED.items()}
    return _with_columns(rows, {"cluster": pa.nulls(len(rows), pa.int64())} | nulls)


def _with_columns(rows: pa.Table, columns: Mapping[str, pa.Array]) -> pa.Table:
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows


def _links(plan: UpdatePlan, rows: pa.Table, authors: set[str], former: pa.Table) -> BlockLinks:
    """What links mentions of clustered blocks with those of others; `authors` are those of all touched blocks.

    `former` are the rows of these blocks in the result.
    """
    kinds, blocks = linking_kinds(plan.epoch.settings), dict[Identifier, set[str]]()
    clustered = rows.filter(pc.is_valid(rows["cluster"]))
    for mention, block in zip(clustered["mention_id"].to_pylist(), clustered["block"].to_pylist(), strict=True):
        if (own := plan.identifiers[mention]) is not _NO_IDENTIFIERS:
            for identifier in own.items():
                if identifier[0] in kinds:
                    blocks.setdefault(identifier, set()).add(block)
    return find_links(plan.result, blocks, authors, former)


def _identifiers(found: ClusteredRows) -> dict[str, Mapping[str, str]]:
    """The identifiers of all mentions of some blocks; most mentions have none, and share one empty mapping."""
    mention_ids = found.rows["mention_id"].to_pylist()
    known: dict[str, Mapping[str, str]] = dict.fromkeys(mention_ids, _NO_IDENTIFIERS)
    rows = found.encoded.identifiers()
    own: dict[str, dict[str, str]] = defaultdict(dict)
    for place, kind, value in zip(*(rows[name].to_pylist() for name in ("place", "kind", "id")), strict=True):
        own[mention_ids[place]][kind] = value
    return known | own


def _batches(plan: UpdatePlan, rows: pa.Table) -> Iterator[tuple[pa.Table, DocumentBags]]:
    """Whole blocks of about ROWS_AT_ONCE rows, with the bags of their documents, which are read for several batches."""
    batches = list(_whole_blocks(rows))
    for first in range(0, len(batches), BATCHES_AT_ONCE):
        some = batches[first : first + BATCHES_AT_ONCE]
        documents = pa.chunked_array([one for batch in some for one in batch["document_id"].chunks], pa.string())
        bags = DocumentBags.read(plan.folder, documents, plan.epoch.settings, plan.statistics)
        yield from ((batch, bags) for batch in some)


def _whole_blocks(rows: pa.Table) -> Iterator[pa.Table]:
    """Whole blocks of about ROWS_AT_ONCE rows."""
    blocks = rows["block"].combine_chunks().dictionary_encode().indices.to_numpy()
    begins = np.append(np.flatnonzero(np.diff(blocks, prepend=-1)), len(rows))
    first = 0
    while first < len(rows):
        full = int(np.searchsorted(begins, first + ROWS_AT_ONCE, side="right")) - 1
        following = int(np.searchsorted(begins, first, side="right"))
        last = int(begins[max(full, following)])
        yield rows.slice(first, last - first).combine_chunks()
        first = last


def _with_authors(
    plan: UpdatePlan, rows: pa.Table, links: BlockLinks, touched: TouchedBlocks, lost: set[str]
) -> pa.Table:
    """The rows with authors for all mentions; authors that did not change keep their rows. Writes the conflicts."""
    is_clustered = pc.is_valid(rows["cluster"]).to_numpy()
    plain = rows.select(MENTION_ROWS.names)
    gone = touched.before.keys() - {*rows["mention_id"].to_pylist()}
    if not is_clustered.any():
        if gone:
            replace_conflicts(plan.folder / CONFLICTS, set(), gone, [])
        return mean_confidence(plain, lost) if lost else plain
    group = joined_clusters(rows["author_id"], rows["block"], rows["cluster"])
    computed = _computed(rows, pa.array(is_clustered))
    chosen = _concerned_groups(rows, group, is_clustered, plan, links, touched.before)
    united = _united(plan, computed, group, chosen)
    joined = {}
    for place, name in zip(united.rows["place"].to_pylist(), united.rows["author_id"].to_pylist(), strict=True):
        joined[int(group[place])] = int(name)
    if joined:
        group = np.array([joined.get(one, one) for one in group.tolist()])
    before = rows["author_id"].to_pylist()
    ids = _ids_of_groups(plan, plain, group, np.isin(group, group[is_clustered]))
    changed = {one for pair in zip(before, ids, strict=True) if pair[0] != pair[1] for one in pair}
    touched.conflicts += united.conflicts
    worked = rows.filter(pa.array(is_clustered))
    replaced = {*worked["mention_id"].to_pylist()} | gone
    replace_conflicts(plan.folder / CONFLICTS, {*worked["block"].to_pylist()}, replaced, touched.conflicts)
    is_changed = pa.array([one in changed for one in ids], pa.bool_())
    computed = _with_united(computed, united)
    for name in _COMPUTED:
        column = pc.if_else(is_changed, computed[name], plain[name])
        plain = plain.set_column(plain.column_names.index(name), name, column)
    plain = plain.set_column(plain.column_names.index("author_id"), "author_id", pa.array(ids, pa.string()))
    return mean_confidence(plain, lost - changed) if lost - changed else plain


def _computed(rows: pa.Table, is_clustered: pa.Array) -> pa.Table:
    """The rows with the columns that the clustering has computed, where it has."""
    plain = rows.select(MENTION_ROWS.names)
    for name, new in _COMPUTED.items():
        column = pc.if_else(is_clustered, rows[new], rows[name])
        plain = plain.set_column(plain.column_names.index(name), name, column)
    return plain


def _concerned_groups(
    rows: pa.Table,
    group: Integers,
    is_clustered: NDArray[np.bool_],
    plan: UpdatePlan,
    links: BlockLinks,
    before: Mapping[str, str],
) -> NDArray[np.bool_]:
    """Which rows are of groups that links concern, or of groups with new mentions and several blocks."""
    linked = np.zeros(len(rows), np.bool_)
    if links.identifiers:
        linked[:] = [
            before.get(one) in links.authors
            or not links.identifiers.isdisjoint(plan.identifiers.get(one, _NO_IDENTIFIERS).items())
            for one in rows["mention_id"].to_pylist()
        ]
    block = rows["block"].combine_chunks().dictionary_encode().indices.to_numpy()
    pairs = np.unique(np.stack([group, block]), axis=1)
    several = np.flatnonzero(np.bincount(pairs[0]) > 1)
    several = np.intersect1d(several, group[is_clustered])
    return np.isin(group, np.append(several, group[linked]))


def _united(plan: UpdatePlan, rows: pa.Table, group: Integers, chosen: NDArray[np.bool_]) -> UnitedAuthors:
    """Unite groups of different blocks; the places of the answer are those of all rows."""
    places = np.flatnonzero(chosen)
    own = rows.take(pa.array(places))
    unknown = own.filter(pa.array([one not in plan.identifiers for one in own["mention_id"].to_pylist()], pa.bool_()))
    if len(unknown):
        plan.identifiers.update(read_identifiers(plan.folder, pc.unique(unknown["document_id"])))
    settings = plan.epoch.settings
    known = group[chosen & pc.is_valid(rows["author_id"]).to_numpy()] if plan.mode == "assign" else group[:0]
    found = unite_groups(
        Candidates(own, group[chosen], plan.identifiers, linking_kinds(settings), {*known.tolist()}),
        plan.epoch.pairs,
        settings.trusted,
    )
    moved = found.rows.set_column(0, "place", pa.array(places[found.rows["place"].to_numpy()], pa.int64()))
    return found._replace(rows=moved)


def _with_united(rows: pa.Table, united: UnitedAuthors) -> pa.Table:
    """The rows with the constraints and the mean confidence of authors of several blocks."""
    if not len(united.rows):
        return rows
    for name in ("constraint", "author_confidence"):
        column = rows[name].to_pylist()
        for place, value in zip(united.rows["place"].to_pylist(), united.rows[name].to_pylist(), strict=True):
            column[place] = value
        number = rows.column_names.index(name)
        rows = rows.set_column(number, name, pa.array(column, rows.schema.field(name).type))
    return rows


def _ids_of_groups(plan: UpdatePlan, rows: pa.Table, group: Integers, chosen: NDArray[np.bool_]) -> list[str]:
    """The author ids of rows: those of old authors, which are carried over, and new ones for some groups."""
    ids: list[str] = rows["author_id"].to_pylist()
    changed = np.flatnonzero(chosen)[_are_rearranged(rows["author_id"].filter(pa.array(chosen)), group[chosen])]
    own = rows.take(pa.array(changed))
    before, number = own["author_id"].to_pylist(), group[changed].tolist()
    mention_ids, block = own["mention_id"].to_pylist(), own["block"].to_pylist()
    weight = weights_of(mention_ids, plan.decided.curated)
    kept = match_authors(before, number, weight=weight, age=ages_of(plan.known_ids, before))
    members: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(number):
        members[one].append(place)
    fresh = [place for one, places in members.items() if one not in kept for place in places]
    year = _years(plan, own, fresh)
    taken = {*ids_of_blocks(plan.known_ids, pc.unique(own["block"]))["author_id"].to_pylist()}
    for one, places in members.items():
        if one not in kept:
            anchor = anchor_of(places, mention_ids, year)
            kept[one] = mint(block[anchor], mention_ids[anchor], taken)
            taken.add(kept[one])
    for place, one in zip(changed.tolist(), number, strict=True):
        ids[place] = kept[one]
    return ids


def _are_rearranged(author_id: pa.ChunkedArray, group: Integers) -> NDArray[np.bool_]:
    """Which rows are of groups that are not exactly one author as before, or of authors that were not one group.

    >>> authors = pa.chunked_array([["a", "a", "b", None, "c", "c"]])
    >>> _are_rearranged(authors, np.array([0, 0, 2, 2, 4, 5])).tolist()
    [False, False, True, True, True, True]
    """
    author = codes_of(author_id)
    _, group = np.unique(group, return_inverse=True)
    pairs = np.unique((author + 1) * (len(group) + 1) + group)
    of_author, of_group = pairs // (len(group) + 1), pairs % (len(group) + 1)
    is_single = (np.bincount(of_author)[author + 1] == 1) & (np.bincount(of_group)[group] == 1)
    rearranged: NDArray[np.bool_] = (author < 0) | ~is_single
    return rearranged


def _years(plan: UpdatePlan, rows: pa.Table, places: Sequence[int] | None = None) -> list[int | None]:
    """The year of each row's document; of some rows only, if their places are given."""
    documents = rows["document_id"] if places is None else rows["document_id"].take(pa.array(places, pa.int64()))
    found = look_up(plan.folder / DOCUMENTS, "document_id", pc.unique(documents), ["document_id", "year"])
    year = dict(zip(*found.to_pydict().values(), strict=True))
    return [year.get(one) for one in rows["document_id"].to_pylist()]


def ages_of(known: pa.Table, ids: Iterable[str | None]) -> dict[str, int]:
    """The numbers of the updates in which ids were given."""
    wanted = pa.array(sorted({one for one in ids if one is not None}), pa.string())
    rows = known.filter(pc.is_in(known["author_id"], wanted))
    return dict(zip(rows["author_id"].to_pylist(), rows["created"].to_pylist(), strict=True))


def mean_confidence(rows: pa.Table, authors: set[str]) -> pa.Table:
    """The same rows with the mean confidence of some authors computed again."""
    ids, values = rows["author_id"].to_pylist(), rows["confidence"].to_pylist()
    known: dict[str, list[float]] = defaultdict(list)
    for one, value in zip(ids, values, strict=True):
        if one in authors and value is not None:
            known[one].append(value)
    mean = {one: round(sum(some) / len(some), DECIMALS) for one, some in known.items()}
    former = rows["author_confidence"].to_pylist()
    column = [mean.get(one) if one in authors else value for one, value in zip(ids, former, strict=True)]
    place = rows.column_names.index("author_confidence")
    return rows.set_column(place, "author_confidence", pa.array(column, pa.float64()))


# Step 3


def show_decisions(plan: UpdatePlan, touched: TouchedBlocks) -> pa.Table:
    """The rows with the authors that decisions make of undecided ones."""
    base = touched.base
    if not plan.decided.pairs and not plan.decided.wrong:
        return base
    before = base["author_id"].to_pylist()
    given = GivenIds.of_blocks(plan.known_ids, pc.unique(base["block"]))
    ids = apply_decisions(base, _years(plan, base), plan.decided, _splitter(plan), touched.origin, given)
    moved = {one for pair in zip(before, ids, strict=True) if pair[0] != pair[1] for one in pair}
    if not moved:
        return base
    rows = base.set_column(base.column_names.index("author_id"), "author_id", pa.array(ids, pa.string()))
    return mean_confidence(_with_decided_constraints(rows, plan.decided, moved), moved)


def _with_decided_constraints(rows: pa.Table, decided: Decided, authors: set[str]) -> pa.Table:
    """The rows with the pairs of decisions in the column of constraints, for mentions of these authors."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for a, b, same in decided.pairs:
        for mention in (a, b):
            kinds[mention].add("same:pair" if same else "not:pair")
    column = [
        ";".join(dict.fromkeys([*(text.split(";") if text else []), *sorted(kinds[mention], reverse=True)])) or None
        if mention in kinds and author in authors
        else text
        for mention, author, text in zip(
            *(rows[name].to_pylist() for name in ("mention_id", "author_id", "constraint")), strict=True
        )
    ]
    return rows.set_column(rows.column_names.index("constraint"), "constraint", pa.array(column, pa.string()))


def _splitter(plan: UpdatePlan) -> Split:
    """The function that clusters the mentions of authors again, each author for itself and without a limit."""
    settings = plan.epoch.settings
    free = settings.changed(alpha=0.0, beta=0.0, kappa=0.0, chance_limit=0.0)
    epoch = replace(plan.epoch, settings=free, confidence=None)

    def split(rows: pa.Table, author: Sequence[int], pairs: UserPairs) -> list[int]:
        mention_ids = rows["mention_id"].to_pylist()
        cluster = _clusters_of_authors(plan, rows, author, replace(epoch, pairs=pairs))
        place = {one: number for number, one in enumerate(mention_ids)}
        stated: dict[int, list[Pair]] = defaultdict(list)
        for a, b, same in zip(pairs.a, pairs.b, pairs.same, strict=True):
            stated[author[place[a]]].append((place[a], place[b], same))
        return _parts_of_authors(cluster, author, stated)

    return split


def _clusters_of_authors(plan: UpdatePlan, rows: pa.Table, author: Sequence[int], epoch: Epoch) -> list[int]:
    """The cluster of each row, where each author is as a collection of its own."""
    place = rows.column_names.index("author_id")
    rows = nullable_rows(rows.set_column(place, "author_id", pa.nulls(len(rows), pa.string())))
    blocks = [f"{one:09d} {block}" for one, block in zip(author, rows["block"].to_pylist(), strict=True)]
    rows = rows.set_column(rows.column_names.index("block"), "block", pa.array(blocks, pa.string()))
    found: dict[str, int] = {}
    for batch, bags in _batches(plan, rows.sort_by(ORDER)):
        with TemporaryDirectory(dir=plan.work) as folder:
            clustered = cluster_rows(bags, batch, epoch, Path(folder), separate=False, threads=plan.threads)
        numbers = (clustered.cluster + len(found)).tolist()
        found |= dict(zip(batch["mention_id"].to_pylist(), numbers, strict=True))
    return [found[one] for one in rows["mention_id"].to_pylist()]


def _parts_of_authors(cluster: Sequence[int], author: Sequence[int], stated: Mapping[int, Sequence[Pair]]) -> list[int]:
    """The part of each row: clusters with all must-links and cannot-links of their author, as large as possible."""
    places: dict[int, list[int]] = defaultdict(list)
    for row, one in enumerate(author):
        places[one].append(row)
    parts = [0] * len(cluster)
    for one, own in places.items():
        here = {row: number for number, row in enumerate(own)}
        pairs = [(here[a], here[b], same) for a, b, same in stated[one]]
        found = consistent_parts([cluster[row] for row in own], pairs)
        found = complete_parts(found, [(a, b) for a, b, same in pairs if not same])
        for row, part in zip(own, found, strict=True):
            parts[row] = own[0] + part
    return parts


# Step 4


@dataclass
class IdChanges:
    """What happens to ids in an update, and the events that say so."""

    events: list[Event] = field(default_factory=list)
    created: dict[str, str | None] = field(default_factory=dict)
    redirected: dict[str, str] = field(default_factory=dict)
    retired: list[str] = field(default_factory=list)
    revived: list[str] = field(default_factory=list)


def find_id_changes(
    before: dict[str, str], after: Mapping[str, str], renamed: Mapping[str, str], plan: UpdatePlan, reason: str
) -> IdChanges:
    """Compare the authors of mentions before and after; both are by mention id."""
    changes = IdChanges()
    old_ids, new_ids = {*before.values()}, {*after.values()}
    known = rows_of_ids(plan.known_ids, new_ids - old_ids)
    led_to = ends_of_redirects(plan.known_ids, {row["author_id"] for row in known if row["status"] != ACTIVE})
    origin = renamed_keys(before, renamed)
    others = {mention: author for mention, author in after.items() if origin.get(mention) != author}
    if not others and old_ids == new_ids:
        return changes
    sources: dict[str, Counter[str]] = defaultdict(Counter)
    targets: dict[str, Counter[str]] = defaultdict(Counter)
    for mention, author in others.items():
        if (old := origin.get(mention)) is not None:
            sources[author][old] += 1
            targets[old][author] += 1
    for mention, new in renamed.items():  # several mentions may have become one
        if mention in before and new in after and before[mention] not in {origin[new], after[new]}:
            targets[before[mention]][after[new]] += 1
    came_from: dict[str, str | None] = {}
    why = _Reasons(plan.decided.find_causes(), origin, after, reason)
    for author in sorted(new_ids - old_ids):
        former = _most(sources[author])
        if author in led_to:
            changes.revived.append(author)
            came_from[author] = led_to[author]
            changes.events.append(Event(REVIVED, author, led_to[author], reason=why.split(author)))
        elif former is None:
            changes.created[author] = None
            changes.events.append(Event(CREATED, author, reason=reason))
        else:
            changes.created[author] = came_from[author] = former
            changes.events.append(Event(SPLIT, author, former, reason=why.split(author)))
    for author in sorted(old_ids - new_ids):
        target = _most(targets[author])
        if target is None:
            changes.retired.append(author)
            changes.events.append(Event(RETIRED, author, reason="its documents were removed"))
        else:
            changes.redirected[author] = target
            changes.events.append(Event(MERGED, author, target, reason=why.merge(author, target)))
    for mention, author in sorted(others.items()):
        old = origin.get(mention)
        if old is None and author in old_ids:
            changes.events.append(Event(GROWN, author, None, mention, reason))
        if old is None or changes.redirected.get(old) == author:
            continue
        if came_from.get(author) == old:
            continue
        changes.events.append(Event(MOVED, author, old, mention, why.move(old, author)))
    return changes


class _Reasons:
    """The reasons of events: decisions and undos that joined or separated mentions in an update, else another reason.

    `origin` and `after` are the authors of mentions before and after.
    """

    def __init__(
        self, causes: Sequence[Cause], origin: Mapping[str, str], after: Mapping[str, str], reason: str
    ) -> None:
        self._other = reason
        # A decision between both authors comes before one that links an author with a third one.
        self._merges: dict[tuple[str, str], tuple[bool, int]] = {}
        self._splits: dict[str, int] = {}
        moved: dict[str, list[str]] = defaultdict(list)
        if causes:
            for mention, author in after.items():
                if origin.get(mention, author) != author:
                    moved[mention.rpartition("#")[0]].append(mention)
        for cause in causes:
            if not cause.b:
                for mention in moved.get(cause.a, ()):
                    self._add_document(cause, origin[mention], after[mention])
            elif cause.a in after and cause.b in after:
                olds, news = ({where.get(one) for one in (cause.a, cause.b)} for where in (origin, after))
                self._add_pair(cause, olds, news)

    def _add_document(self, cause: Cause, old: str, new: str) -> None:
        if cause.joins:
            self._merges[old, new] = max((True, cause.number), self._merges.get((old, new), (False, 0)))
        else:
            self._splits[new] = max(cause.number, self._splits.get(new, 0))

    def _add_pair(self, cause: Cause, olds: set[str | None], news: set[str | None]) -> None:
        """Note a pair that was of two authors and is of one now, or the reverse."""
        if cause.joins and len(olds) > 1 and len(news) == 1:
            for key in ((old, new) for old in olds if old for new in news if new):
                self._merges[key] = max((key[1] in olds, cause.number), self._merges.get(key, (False, 0)))
        elif not cause.joins and len(olds) == 1 and len(news) > 1:
            for new in filter(None, news):
                self._splits[new] = max(cause.number, self._splits.get(new, 0))

    def merge(self, old: str, new: str) -> str:
        """The reason why an author became part of another one."""
        return self._sentence(self._merges.get((old, new), (False, 0))[1])

    def split(self, new: str) -> str:
        """The reason why an author was separated from another one."""
        return self._sentence(self._splits.get(new, 0))

    def move(self, old: str, new: str) -> str:
        """The reason why a mention moved from one author to another."""
        merged = self._merges.get((old, new), (False, 0))[1]
        return self._sentence(max(merged, self._splits.get(new, 0), self._splits.get(old, 0)))

    def _sentence(self, number: int) -> str:
        return f"decision {number}" if number else self._other


def _most(counts: Counter[str]) -> str | None:
    """The most frequent id, of equally frequent ones the first."""
    return min(counts, key=lambda one: (-counts[one], one)) if counts else None


# Step 5


def write_changed_tables(plan: UpdatePlan, touched: TouchedBlocks) -> int:
    """Write the tables of mentions and authors, and the undecided rows; returns the number of changed authors."""
    folder = plan.folder
    if touched.is_changed:
        _note_parts(plan, MENTIONS, replace_rows(plan.result, folder, MENTIONS, touched.blocks, touched.shown))
    write_undecided(folder, touched.base, touched.shown)
    return write_changed_authors(plan, touched.former, touched.shown)


def write_undecided(folder: Path, base: pa.Table, shown: pa.Table) -> None:
    """Write the rows without decisions, where decisions change them."""
    path = folder / UNDECIDED
    differs = None
    for name in ("author_id", "constraint", "confidence", "author_confidence"):
        other = pc.invert(_are_equal(base[name], shown[name]))
        differs = other if differs is None else pc.or_(differs, other)
    rows = base.filter(differs)
    if len(rows):
        write_table(path, MENTION_ROWS, [rows.cast(MENTION_ROWS)])
    else:
        path.unlink(missing_ok=True)


def write_changed_authors(plan: UpdatePlan, former: pa.Table, shown: pa.Table) -> int:
    """Write the table of authors with the rows of changed authors, and of those on whose documents they are."""
    changed = _changed_ids(former, shown) | _named_ids(plan, shown) | _on_changed_documents(plan, shown)
    gone = {*former["author_id"].to_pylist()} - {*shown["author_id"].to_pylist()}
    if not changed and not gone:
        return 0
    names = _given_names(plan.decided, shown)
    rows = shown.filter(pc.is_in(shown["author_id"], pa.array(sorted(changed), pa.string())))
    blocking = plan.epoch.settings.blocking
    with TemporaryDirectory(dir=plan.work) as work:
        found = summaries_of(plan.folder, rows, blocking, Path(work), names, {}, plan.identifiers)
    known = dict(zip(found["author_id"].to_pylist(), found["name"].to_pylist(), strict=True))
    others = _coauthors_of_moved(plan, former, shown) - changed
    if others:
        more = look_up(plan.folder / MENTIONS, "author_id", pa.array(sorted(others), pa.string()))
        former_rows = look_up(plan.result / AUTHORS, "author_id", pa.array(sorted(others), pa.string()))
        with TemporaryDirectory(dir=plan.work) as work:
            found = pa.concat_tables([found, with_new_coauthors(former_rows, plan.folder, more, Path(work), known)])
    parts = replace_authors(plan.result, plan.folder, sorted(gone), found, _new_names(plan, known))
    _note_parts(plan, AUTHORS, parts)
    return len(changed)


def _note_parts(plan: UpdatePlan, name: str, parts: list[FilePart]) -> None:
    """Note the parts of a file that were copied from the result, and not from a new run."""
    if plan.result == plan.place:
        plan.copied[name] = parts


def _new_names(plan: UpdatePlan, names: Mapping[str, str | None]) -> dict[str, str | None]:
    """The names of authors that have another name than the result shows."""
    wanted = pa.array(sorted(names), pa.string())
    known = look_up(plan.result / AUTHORS, "author_id", wanted, ["author_id", "name"]).to_pydict()
    before = zip(known["author_id"], known["name"], strict=True)
    return {one: names[one] for one, name in before if name != names[one]}


def _changed_ids(former: pa.Table, shown: pa.Table) -> set[str]:
    """The authors that have rows which were others before, or have lost some."""
    place = pc.index_in(shown["mention_id"], former["mention_id"].combine_chunks())
    differs = pc.is_null(place)
    for name in ("author_id", "name", "author_confidence"):
        before = former[name].take(place)
        differs = pc.or_(differs, pc.invert(_are_equal(before, shown[name])))
    left = pc.invert(pc.is_in(former["mention_id"], shown["mention_id"].combine_chunks()))
    authors = _authors(shown.filter(differs)) | _authors(former.take(place.filter(differs).drop_null()))
    return (authors | _authors(former.filter(left))) & _authors(shown)


def _are_equal(a: pa.ChunkedArray, b: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which values are equal, or both null."""
    return pc.or_(pc.fill_null(pc.equal(a, b), False), pc.and_(pc.is_null(a), pc.is_null(b)))


def _on_changed_documents(plan: UpdatePlan, shown: pa.Table) -> set[str]:
    """The authors of documents that have changed: their years, affiliations or co-authors may be others.

    A new run of the whole collection has read these documents itself.
    """
    if plan.mode == "rebuild":
        return set()
    wanted = pa.array(sorted(plan.changes.changed), pa.string())
    return set(shown.filter(pc.is_in(shown["document_id"], wanted))["author_id"].to_pylist())


def _named_ids(plan: UpdatePlan, shown: pa.Table) -> set[str]:
    """The authors that users named, or whose names users took back."""
    wanted = pa.array(sorted({*plan.decided.names, *plan.note.named}), pa.string())
    return set(shown.filter(pc.is_in(shown["mention_id"], wanted))["author_id"].to_pylist()) if len(wanted) else set()


def _given_names(decided: Decided, shown: pa.Table) -> dict[str, str]:
    """The names that users gave, by author."""
    if not decided.names:
        return {}
    authors = authors_of_mentions(shown)
    return {authors[one]: name for one, name in decided.names.items() if one in authors}  # the newest is last


def _coauthors_of_moved(plan: UpdatePlan, former: pa.Table, shown: pa.Table) -> set[str]:
    """The authors on documents of which a mention has another author now: their lists of co-authors change.

    Authors of new and of leaving documents have changed themselves.
    """
    place = pc.index_in(shown["mention_id"], former["mention_id"].combine_chunks())
    is_moved = pc.fill_null(pc.not_equal(former["author_id"].take(place), shown["author_id"]), False)
    documents = pc.unique(shown["document_id"].filter(is_moved))
    if not len(documents):
        return set()
    rows = look_up(plan.folder / MENTIONS, "document_id", documents, ["document_id", "author_id"])
    return set(rows["author_id"].to_pylist())
