"""The tables of a result after an update: new mentions get authors, decisions are applied, ids and events follow.

An update works on the blocks that new or leaving mentions or decisions touch, and on blocks with other mentions of the
same authors, or of authors with the same identifiers. All other rows are copied. The steps are

1. the undecided authors of these blocks, without leaving mentions and with new ones;
2. clustering of the blocks with new mentions (assignment.py), authors of several blocks (uniting.py), and ids for
   new authors;
3. the authors that decisions make of these (shown_decisions.py, decided.py);
4. events, from the authors before and after (id_changes.py);
5. the tables of mentions, authors, ids and events (changed_tables.py).

This module has the first two. The third is in shown_decisions.py, and what all have in common in update_plan.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers
from homonym.constraints.across_blocks import UnitedAuthors, linking_kinds
from homonym.constraints.conflicts import ConstraintConflict, replace_conflicts
from homonym.corpus.assignment import ClusteredRows, cluster_rows
from homonym.corpus.changed_documents import inherited_rows
from homonym.corpus.decided import anchor_of
from homonym.corpus.decision_state import document_of
from homonym.corpus.epoch import add_counts, add_features
from homonym.corpus.id_matching import match_authors, weights_of
from homonym.corpus.ids import ids_of_blocks, mint
from homonym.corpus.shown_decisions import show_decisions
from homonym.corpus.table_changes import read_identifiers
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
from homonym.corpus.update_plan import (
    NULLABLE_ROWS,
    ORDER,
    TouchedBlocks,
    UpdatePlan,
    authors_among,
    authors_of_mentions,
    batches_of_blocks,
    mean_confidence,
    new_rows,
    nullable_rows,
    undecided_rows,
    without_decisions,
    years_of,
)
from homonym.io.result_directory import CONFLICTS, MENTIONS, UNDECIDED
from homonym.io.tables import look_up
from homonym.schema import AUTHORS as MENTION_ROWS

_NO_IDENTIFIERS: Mapping[str, str] = MappingProxyType({})


def touched_blocks(plan: UpdatePlan) -> TouchedBlocks:
    """Steps 1 to 3 for the modes assign and grow."""
    new = _rows_of_new_documents(plan)
    leaving = undecided_rows(plan, "document_id", sorted(plan.changes.leaving))
    touched = TouchedBlocks()
    new, touched.renamed = inherited_rows(new, leaving, plan.changes.changed)
    blocks = {*new["block"].to_pylist(), *leaving["block"].to_pylist(), *_decided_blocks(plan, new)}
    former = look_up(plan.result / MENTIONS, "block", pa.array(sorted(blocks, key=str.encode), pa.string()))
    base = without_decisions(plan.result, former)
    gone = pa.array(sorted(plan.changes.leaving), pa.string())
    base = pa.concat_tables([base.filter(pc.invert(pc.is_in(base["document_id"], gone))), new]).sort_by(ORDER)
    whole = set() if plan.mode == "assign" else _whole_authors(plan, base, former)
    clustered = _with_clusters(plan, base, whole, touched.conflicts)
    links = _links(plan, clustered, authors_among(former) | authors_among(leaving) | authors_among(base), former)
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


def _lost_authors(leaving: pa.Table, renamed: Mapping[str, str], rows: pa.Table) -> set[str]:
    """The authors that lost a mention."""
    kept, left = set(rows["mention_id"].to_pylist()), authors_of_mentions(leaving)
    return {author for mention, author in left.items() if renamed.get(mention, mention) not in kept}


def _rows_of_new_documents(plan: UpdatePlan) -> pa.Table:
    """The rows of the mentions of new and changed documents; they have no author yet."""
    if len(plan.changes.rows):
        add_features(plan.statistics, plan.new_part["features"])
    return new_rows(plan)


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
    for rows, bags in batches_of_blocks(plan, base.filter(is_worked_on)):
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
    found = authors_among(rows.filter(pc.is_in(rows["mention_id"], curated)))
    return found | authors_of_several_blocks(plan.result, authors_among(rows), former)


def _without_clusters(rows: pa.Table) -> pa.Table:
    rows = nullable_rows(rows)
    nulls = {new: pa.nulls(len(rows), NULLABLE_ROWS.field(name).type) for name, new in _COMPUTED.items()}
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
    year = years_of(plan, own, fresh)
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


def ages_of(known: pa.Table, ids: Iterable[str | None]) -> dict[str, int]:
    """The numbers of the updates in which ids were given."""
    wanted = pa.array(sorted({one for one in ids if one is not None}), pa.string())
    rows = known.filter(pc.is_in(known["author_id"], wanted))
    return dict(zip(rows["author_id"].to_pylist(), rows["created"].to_pylist(), strict=True))
