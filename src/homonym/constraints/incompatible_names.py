"""Which names the mentions of a block have, and which of these exclude each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import starts
from homonym.constraints.segments import differing, within
from homonym.names.compatibility import (
    MOST_NAMES,
    SHORTEST_PREFIX,
    Given,
    compatible,
    language_of,
    may_be_left,
    meeting_places,
    runs,
    same_word,
    second_initials,
)
from homonym.names.parse import Name, decode_name

Integers = NDArray[np.int64]
Square = NDArray[np.bool_]

#: Names that are compared with all others at once: few enough for the memory.
STRIPE = 256


def mark_incompatible(names: Sequence[Name], clash: Square) -> None:
    """Fill the square of who excludes whom.

    >>> from homonym.names.parse import parse_name
    >>> square = np.empty((3, 3), np.bool_)
    >>> mark_incompatible([parse_name(text) for text in ("Doe, Jane", "Doe, J", "Doe, John")], square)
    >>> np.argwhere(square).tolist()
    [[0, 2], [2, 0]]
    """
    having: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        having[name.surname].append(number)
    _compare(names, clash, language_of(names[0].surname) if len(having) == 1 else "")
    for surname, few in having.items() if len(having) > 1 else ():
        if language := language_of(surname):
            part = np.empty((len(few), len(few)), np.bool_)
            _compare([names[number] for number in few], part, language)
            clash[np.ix_(few, few)] = part
    _decide(names, _strangers(names, having), clash)
    suffix = np.array([name.suffix for name in names])
    for other in set(suffix.tolist()) - {""}:
        clash[np.ix_(suffix == other, (suffix != other) & (suffix != ""))] = True


def _decide(names: Sequence[Name], pairs: Iterable[tuple[int, int]], clash: Square) -> None:
    for i, j in pairs:
        clash[i, j] = clash[j, i] = not compatible(names[i], names[j])


def _strangers(names: Sequence[Name], having: dict[str, list[int]]) -> set[tuple[int, int]]:
    """Names with a given name in the other's surname, or all of them: "Lopez, Ana Garcia" / "Garcia Lopez, Ana"."""
    inside: dict[str, set[str]] = defaultdict(set)
    for surname in having if len(having) > 1 else ():
        for word in (*surname.split(), surname.replace(" ", "")):
            inside[word].add(surname)
    return {
        (i, j)
        for i, name in enumerate(names)
        for word in (*name.given, "".join(name.given))
        for surname in inside.get(word, set()) - {name.surname}
        for j in having[surname]
    }


def _compare(names: Sequence[Name], clash: Square, language: str) -> None:
    """Compare given names, beside surnames of this language or beside different ones."""
    givens = [name.given[:MOST_NAMES] for name in names]
    table = _Table(givens, language)
    found = []
    for begin in range(0, len(givens), STRIPE):
        stripe = _Stripe(table, begin)
        clash[begin : begin + STRIPE] = ~stripe.agreeing()
        found.append(stripe.headless(clash))
    headless = np.concatenate(found)
    nothing_left = (table.size[headless] == (2, 1)).any(axis=1)
    i, j = headless[nothing_left].T
    clash[i, j] = clash[j, i] = False
    i, j = np.sort(np.concatenate([headless[~nothing_left], _joined(givens)])).T
    doubtful = np.unique((i * len(names) + j)[clash[i, j]])
    _decide(names, zip(*(numbers.tolist() for numbers in np.divmod(doubtful, len(names))), strict=True), clash)
    if language == "chinese":
        _part_by_initials(givens, clash)


def _joined(givens: Sequence[Given]) -> Integers:
    """The pairs of names that may go together because several words of one are one word of the other."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for number, given in enumerate(givens):
        for place in runs(given):
            waiting[place].append(number)
    met = {
        word: [number for place in meeting_places(word).looks if place in waiting for number in waiting[place]]
        for word in _words(givens)
    }
    pairs = [(x, y) for x, given in enumerate(givens) for word in given for y in met[word]]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _part_by_initials(givens: Sequence[Given], clash: Square) -> None:
    """Part "XM" from "Xiaoli", whose second syllable begins with L."""
    second = np.array([given[1] if len(given) > 1 and len(given[0] + given[1]) == 2 else "" for given in givens])
    seconds = [second_initials(given[0]) if len(given) == 1 else frozenset() for given in givens]
    for letter in set(second.tolist()) - {""}:
        others = np.array([len(letters) > 0 and letter not in letters for letters in seconds])
        pairs = np.ix_(second == letter, others)
        clash[pairs] = clash.T[pairs] = True


def _words(givens: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(word for given in givens for word in given))


class _Table:
    """Given names as numbers of words, and which of these words can be one name.

    `word[x, p]` is the word of name x at position p, or the last word of all, which goes with every other, where it has
    none; the words that go with w are `near[near_start[w] : near_start[w + 1]]`.
    """

    def __init__(self, givens: Sequence[Given], language: str) -> None:
        words = _words(givens)
        number = {word: place for place, word in enumerate(words)}
        self.size = np.array([len(given) for given in givens])
        self.word = np.full((len(givens), max(2, self.size.max())), len(words))
        for x, given in enumerate(givens):
            self.word[x, : len(given)] = [number[word] for word in given]
        self.letters = np.array([*map(len, words), 0])
        self.may_be_left = np.array([*(may_be_left(word, language) for word in words), False])
        self.near_start, self.near = _near(words, language)


def _near(words: Sequence[str], language: str) -> tuple[Integers, Integers]:
    """The words that can be one name with each, and those of one more word, which goes with all."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(words):
        for place in meeting_places(word).waits:
            waiting[place].append(number)
    met = {
        (number, other) if number < other else (other, number)
        for number, word in enumerate(words)
        for place in meeting_places(word).looks
        for other in waiting.get(place, ())
    }
    pairs = [(a, b) for a, b in met if a == b or same_word(words[a], words[b], language)]
    pairs += [(number, len(words)) for number in range(len(words) + 1)]
    left, right = np.array(pairs, np.int64).T
    order = np.argsort(np.concatenate([left, right]), kind="stable")
    count = np.bincount(np.concatenate([left, right]), minlength=len(words) + 1)
    return starts(count), np.concatenate([right, left])[order]


class _Stripe:
    """Some names of a table, the rows, and what their words say beside all names, the columns."""

    def __init__(self, table: _Table, begin: int) -> None:
        self.table, self.begin = table, begin
        self.word, self.size = table.word[begin : begin + STRIPE], table.size[begin : begin + STRIPE]
        words, place = np.unique(self.word, return_inverse=True)
        self.place = place.reshape(self.word.shape)
        self.same = np.zeros((len(words), len(table.letters)), np.bool_)
        for row, word in zip(self.same, words.tolist(), strict=True):
            row[table.near[table.near_start[word] : table.near_start[word + 1]]] = True

    def agreeing(self) -> Square:
        """Which names go together word by word, with words left out, or with the first two swapped."""
        first = self._same(np.arange(len(self.word)), 0, np.arange(len(self.table.word)), 0)
        agree = first.copy()
        for at in range(1, self.word.shape[1]):
            rows, columns = np.flatnonzero(self.size > at), np.flatnonzero(self.table.size > at)
            agree[np.ix_(rows, columns)] &= self._same(rows, at, columns, at)
        row, column = np.nonzero(first & ~agree & (self.size[:, None] != self.table.size))
        agree[row, column] = self._thinned(row, column)
        written = self.table.letters[self.table.word[:, :2]].min(axis=1) > 1
        rows, columns = np.flatnonzero(written[self.begin : self.begin + STRIPE]), np.flatnonzero(written)
        agree[np.ix_(rows, columns)] |= self._same(rows, 0, columns, 1) & self._same(rows, 1, columns, 0)
        return agree

    def _same(self, rows: Integers, at: int, columns: Integers, there: int) -> Square:
        """Whether the words of some rows and those of some columns, each at its position, can be one name."""
        same: Square = self.same[self.place[rows, at]][:, self.table.word[columns, there]]
        return same

    def _thinned(self, row: Integers, column: Integers) -> NDArray[np.bool_]:
        """Whether the later words of the shorter name are among those of the longer one, for many pairs."""
        short, long = np.sort([self.size[row], self.table.size[column]], axis=0)
        row_is_short = self.size[row] == short
        found = np.ones(len(row), np.int64)
        for at in range(1, self.word.shape[1]):
            of_row, of_column = np.where(row_is_short, found, at), np.where(row_is_short, at, found)
            same = self.same[self.place[row, of_row], self.table.word[column, of_column]]
            found += same & (found < short) & (at < long)
        complete: NDArray[np.bool_] = found == short
        return complete

    def headless(self, clash: Square) -> Integers:
        """Pairs such as "J William" and "William" among those that clash: what follows is still to be compared."""
        rows = np.flatnonzero(self.table.letters[self.word[:, 1]] >= SHORTEST_PREFIX)
        columns = np.flatnonzero(self.table.may_be_left[self.table.word[:, 0]])
        row, column = np.nonzero(self._same(rows, 1, columns, 0))
        pairs = np.stack([self.begin + rows[row], columns[column]], axis=1)
        return pairs[clash[pairs[:, 0], pairs[:, 1]]]


NO_NAME = "|||"

#: Blocks with up to so many names are compared together, as a table of its own for each would take longer.
FEW_NAMES = 20

#: Pairs of these that are looked at together: the more, the fewer are compared again.
PAIRS_OF_FEW = 1 << 22


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
        names = [decode_name(text) for text in texts[begin : begin + size].to_pylist()]
        mark_incompatible(names, clash[at : at + size * size].reshape(size, size))
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
    names = {number: decode_name(texts[number]) for number in np.unique((left, right)).tolist()}
    rival = [not compatible(names[i], names[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    return np.array(rival, np.bool_)[place]
