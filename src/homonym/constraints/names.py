"""Which names the mentions of a block have, and which of these exclude each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.merging import starts
from homonym.collection.spelling import unspelled
from homonym.compatibility import compatible, language_of
from homonym.constraints.clashes import mark_clashes
from homonym.constraints.segments import differing, within

NO_NAME = "|||"

#: Blocks with up to so many names are compared together, as a table of its own for each would take longer.
FEW_NAMES = 20

#: Pairs of these that are looked at together: the more, the fewer are compared again.
PAIRS_OF_FEW = 1 << 22

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlockNames:
    """The names of each block and who of them is nobody else.

    `number[x]` is that of a mention's name inside its block, which has `count[b]` names. Names i and j of block b
    exclude each other if `clash[start[b] + i · count[b] + j]`. Blocks with one name share the first cell, which is no.
    """

    number: Integers
    count: Integers
    start: Integers
    clash: NDArray[np.bool_]

    def clashing(self, block: Integers, i: Integers, j: Integers) -> NDArray[np.bool_]:
        """Whether names i and j of a block exclude each other, for many at once."""
        found: NDArray[np.bool_] = self.clash[self.start[block] + i * self.count[block] + j]
        return found

    def against(self, block: Integers) -> Integers:
        """How many mentions of its block each mention is kept apart from by its name; `block` is that of each."""
        several = np.flatnonzero(self.count > 1)
        name_start = np.zeros(len(self.count), np.int64)
        name_start[several] = np.cumsum(self.count[several]) - self.count[several]
        concerned = np.flatnonzero(self.count[block] > 1)
        name = name_start[block[concerned]] + self.number[concerned]
        having = np.bincount(name, minlength=int(self.count[several].sum()))
        excluded = np.zeros(len(having), np.int64)
        of_name = np.repeat(several, self.count[several])
        place = np.arange(len(having)) - name_start[of_name]
        for row, column in within(self.count[several]):
            clash = self.clashing(of_name[row], place[row], place[column])
            excluded += np.bincount(row[clash], having[column[clash]], len(having)).astype(np.int64)
        found = np.zeros(len(block), np.int64)
        found[concerned] = excluded[name]
        return found


def no_names(mentions: int, blocks: int) -> BlockNames:
    """Names that say nothing."""
    nothing = np.zeros(blocks, np.int64)
    return BlockNames(np.zeros(mentions, np.int64), nothing + 1, nothing, np.zeros(1, np.bool_))


def block_names(block_start: Integers, block: Integers, parsed: pa.ChunkedArray) -> BlockNames:
    """Compare the names of each block; a mention without a name goes with everybody."""
    coded = parsed.fill_null(NO_NAME).dictionary_encode().combine_chunks()
    code = coded.indices.to_numpy().astype(np.int64)
    several = differing(code, block_start)
    result = no_names(len(block), len(several))
    concerned = np.flatnonzero(several[block])
    if not len(concerned):
        return result
    words = len(coded.dictionary)
    distinct, name = np.unique(block[concerned] * words + code[concerned], return_inverse=True)
    of_name, first, count = np.unique(distinct // words, return_index=True, return_counts=True)
    result.number[concerned] = name - np.repeat(first, count)[name]
    result.count[of_name] = count
    result.start[of_name] = 1 + np.cumsum(count**2) - count**2
    clash = np.zeros(1 + int((count**2).sum()), np.bool_)
    texts = coded.dictionary.take(pa.array(distinct % words))
    start, few = result.start[of_name], count <= FEW_NAMES
    of_few = texts.filter(pa.array(np.repeat(few, count))).to_pylist()
    _compare_few(of_few, count[few], start[few], clash)
    for at, begin, size in zip(*(a[~few].tolist() for a in (start, first, count)), strict=True):
        names = [unspelled(text) for text in texts[begin : begin + size].to_pylist()]
        mark_clashes(names, clash[at : at + size * size].reshape(size, size))
    return BlockNames(result.number, result.count, result.start, clash)


def _compare_few(texts: list[str], sizes: Integers, start: Integers, clash: NDArray[np.bool_]) -> None:
    """Compare the names of small blocks, one behind the other; `start` is where the square of each block begins."""
    first, size = np.repeat(starts(sizes)[:-1], sizes), np.repeat(sizes, sizes)
    line = np.repeat(start, sizes) + (np.arange(len(first)) - first) * size - first
    surname, stand_in, stand_ins = _stand_ins(texts)
    for row, column in within(sizes, PAIRS_OF_FEW):
        row, column = row[row < column], column[row < column]
        akin = surname[row] == surname[column]
        rival = np.empty(len(row), np.bool_)
        rival[akin] = _rivals(stand_ins, stand_in[row[akin]], stand_in[column[akin]])
        rival[~akin] = _rivals(texts, row[~akin], column[~akin])
        row, column = row[rival], column[rival]
        clash[line[row] + column] = clash[line[column] + row] = True


def _stand_ins(texts: list[str]) -> tuple[Integers, Integers, list[str]]:
    """A number for each surname; for each name, one that says the same beside its surname, and all of these.

    Given names come again under many surnames, and all that matters of these is their language.
    """
    families: dict[str, int] = {}
    of_language: dict[str, str] = {}
    stand_ins: dict[str, int] = {}
    surname, stand_in = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
    for number, text in enumerate(texts):
        family, _, given = text.split("|", 2)
        surname[number] = families.setdefault(family, number)
        family = of_language.setdefault(language_of(family), family)
        stand_in[number] = stand_ins.setdefault(f"{family}||{given}", len(stand_ins))
    return surname, stand_in, list(stand_ins)


def _rivals(texts: list[str], left: Integers, right: Integers) -> NDArray[np.bool_]:
    """Whether names exclude each other, for many pairs of their numbers."""
    pairs = np.minimum(left, right) * len(texts) + np.maximum(left, right)
    distinct, place = np.unique(pairs, return_inverse=True)
    left, right = np.divmod(distinct, len(texts))
    names = {number: unspelled(texts[number]) for number in np.unique((left, right)).tolist()}
    rival = [not compatible(names[i], names[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    return np.array(rival, np.bool_)[place]
