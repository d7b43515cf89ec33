"""The distinct names of each block, and which pairs of them are incompatible.

Gives exactly the answers of `names.compatibility.compatible`, but for all pairs of a block at once: comparing pair by
pair would take hours on blocks of thousands of names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, has_different_values, pairs_within_groups, starts
from homonym.names.compatibility import (
    MAX_NAMES,
    SHORTEST_PREFIX,
    Given,
    compatible,
    index_keys,
    language_of,
    may_be_left,
    runs,
    same_word,
    second_initials,
)
from homonym.names.parse import Name, decode_name

Matrix = NDArray[np.bool_]

# Number of names that are compared with all others at once: few enough to fit into memory.
STRIPE = 256


def mark_incompatible(names: Sequence[Name], clash: Matrix) -> None:
    """Fill the matrix `clash` of incompatible names.

    >>> from homonym.names.parse import parse_name
    >>> matrix = np.empty((3, 3), np.bool_)
    >>> mark_incompatible([parse_name(text) for text in ("Doe, Jane", "Doe, J", "Doe, John")], matrix)
    >>> np.argwhere(matrix).tolist()
    [[0, 2], [2, 0]]
    """
    by_surname: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        by_surname[name.surname].append(number)
    _compare_given_names(names, clash, language_of(names[0].surname) if len(by_surname) == 1 else "")
    for surname, numbers in by_surname.items() if len(by_surname) > 1 else ():
        if language := language_of(surname):
            part = np.empty((len(numbers), len(numbers)), np.bool_)
            _compare_given_names([names[number] for number in numbers], part, language)
            clash[np.ix_(numbers, numbers)] = part
    _compare_one_by_one(names, _given_names_in_surnames(names, by_surname), clash)
    suffix = np.array([name.suffix for name in names])
    for one in set(suffix.tolist()) - {""}:
        clash[np.ix_(suffix == one, (suffix != one) & (suffix != ""))] = True


def _compare_one_by_one(names: Sequence[Name], pairs: Iterable[tuple[int, int]], clash: Matrix) -> None:
    for i, j in pairs:
        clash[i, j] = clash[j, i] = not compatible(names[i], names[j])


def _given_names_in_surnames(names: Sequence[Name], by_surname: dict[str, list[int]]) -> set[tuple[int, int]]:
    """Pairs where given names of one are in the surname of the other: "Lopez, Ana Garcia" / "Garcia Lopez, Ana"."""
    surnames_with: dict[str, set[str]] = defaultdict(set)
    for surname in by_surname if len(by_surname) > 1 else ():
        for word in (*surname.split(), surname.replace(" ", "")):
            surnames_with[word].add(surname)
    return {
        (i, j)
        for i, name in enumerate(names)
        for word in (*name.given, "".join(name.given))
        for surname in surnames_with.get(word, set()) - {name.surname}
        for j in by_surname[surname]
    }


def _compare_given_names(names: Sequence[Name], clash: Matrix, language: str) -> None:
    """Compare given names of surnames of one language, or of different surnames if `language` is empty."""
    givens = [name.given[:MAX_NAMES] for name in names]
    table = _WordTable(givens, language)
    found = []
    for begin in range(0, len(givens), STRIPE):
        stripe = _Stripe(table, begin)
        clash[begin : begin + STRIPE] = ~stripe.matching()
        found.append(stripe.without_first_name(clash))
    dropped = np.concatenate(found)
    nothing_left = (table.size[dropped] == (2, 1)).any(axis=1)
    i, j = dropped[nothing_left].T
    clash[i, j] = clash[j, i] = False
    i, j = np.sort(np.concatenate([dropped[~nothing_left], _joined_words(givens)])).T
    undecided = np.unique((i * len(names) + j)[clash[i, j]])
    pairs = zip(*(numbers.tolist() for numbers in np.divmod(undecided, len(names))), strict=True)
    _compare_one_by_one(names, pairs, clash)
    if language == "chinese":
        _separate_by_second_initial(givens, clash)


def _joined_words(givens: Sequence[Given]) -> Integers:
    """The pairs of names that may be compatible because several words of one are one word of the other."""
    index: dict[str, list[int]] = defaultdict(list)
    for number, given in enumerate(givens):
        for key in runs(given):
            index[key].append(number)
    partners = {
        word: [number for key in index_keys(word).searched if key in index for number in index[key]]
        for word in _distinct_words(givens)
    }
    pairs = [(x, y) for x, given in enumerate(givens) for word in given for y in partners[word]]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _separate_by_second_initial(givens: Sequence[Given], clash: Matrix) -> None:
    """Separate "XM" from "Xiaoli", whose second syllable begins with L."""
    second = np.array([given[1] if len(given) > 1 and len(given[0] + given[1]) == 2 else "" for given in givens])
    possible = [second_initials(given[0]) if len(given) == 1 else frozenset() for given in givens]
    for letter in set(second.tolist()) - {""}:
        others = np.array([bool(letters) and letter not in letters for letters in possible])
        pairs = np.ix_(second == letter, others)
        clash[pairs] = clash.T[pairs] = True


def _distinct_words(givens: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(word for given in givens for word in given))


class _WordTable:
    """Given names as numbers of words, and which words can be the same name.

    `word[x, p]` is the word of name x at position p; positions that x does not have hold one extra word that matches
    every other. The words that match w are `match[match_start[w] : match_start[w + 1]]`.
    """

    def __init__(self, givens: Sequence[Given], language: str) -> None:
        words = _distinct_words(givens)
        number = {word: i for i, word in enumerate(words)}
        self.size = np.array([len(given) for given in givens])
        self.word = np.full((len(givens), max(2, self.size.max())), len(words))
        for x, given in enumerate(givens):
            self.word[x, : len(given)] = [number[word] for word in given]
        self.letters = np.array([*map(len, words), 0])
        self.may_be_left = np.array([*(may_be_left(word, language) for word in words), False])
        self.match_start, self.match = _matching_words(words, language)


def _matching_words(words: Sequence[str], language: str) -> tuple[Integers, Integers]:
    """For each word the words that can be the same name; one extra word matches all."""
    index: dict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(words):
        for key in index_keys(word).stored:
            index[key].append(number)
    candidates = {
        (number, other) if number < other else (other, number)
        for number, word in enumerate(words)
        for key in index_keys(word).searched
        for other in index.get(key, ())
    }
    pairs = [(a, b) for a, b in candidates if a == b or same_word(words[a], words[b], language)]
    pairs += [(number, len(words)) for number in range(len(words) + 1)]
    left, right = np.array(pairs, np.int64).T
    order = np.argsort(np.concatenate([left, right]), kind="stable")
    count = np.bincount(np.concatenate([left, right]), minlength=len(words) + 1)
    return starts(count), np.concatenate([right, left])[order]


class _Stripe:
    """Some names of a table (rows), to be compared with all its names (columns)."""

    def __init__(self, table: _WordTable, begin: int) -> None:
        self.table, self.begin = table, begin
        self.word, self.size = table.word[begin : begin + STRIPE], table.size[begin : begin + STRIPE]
        words, row = np.unique(self.word, return_inverse=True)
        self.match_row = row.reshape(self.word.shape)
        self.matches = np.zeros((len(words), len(table.letters)), np.bool_)
        for matches, word in zip(self.matches, words.tolist(), strict=True):
            matches[table.match[table.match_start[word] : table.match_start[word + 1]]] = True

    def matching(self) -> Matrix:
        """Which names match word by word, with words left out, or with the first two words swapped."""
        first = self._words_match(np.arange(len(self.word)), 0, np.arange(len(self.table.word)), 0)
        match = first.copy()
        for at in range(1, self.word.shape[1]):
            rows, columns = np.flatnonzero(self.size > at), np.flatnonzero(self.table.size > at)
            match[np.ix_(rows, columns)] &= self._words_match(rows, at, columns, at)
        row, column = np.nonzero(first & ~match & (self.size[:, None] != self.table.size))
        match[row, column] = self._match_with_words_left_out(row, column)
        written_out = self.table.letters[self.table.word[:, :2]].min(axis=1) > 1
        rows, columns = np.flatnonzero(written_out[self.begin : self.begin + STRIPE]), np.flatnonzero(written_out)
        match[np.ix_(rows, columns)] |= self._words_match(rows, 0, columns, 1) & self._words_match(rows, 1, columns, 0)
        return match

    def _words_match(self, rows: Integers, at: int, columns: Integers, there: int) -> Matrix:
        """Whether word `at` of some rows and word `there` of some columns can be the same name."""
        found: Matrix = self.matches[self.match_row[rows, at]][:, self.table.word[columns, there]]
        return found

    def _match_with_words_left_out(self, row: Integers, column: Integers) -> NDArray[np.bool_]:
        """For many pairs, whether the later words of the shorter name are found, in order, in the longer one."""
        short, long = np.sort([self.size[row], self.table.size[column]], axis=0)
        row_is_short = self.size[row] == short
        found = np.ones(len(row), np.int64)
        for at in range(1, self.word.shape[1]):
            of_row, of_column = np.where(row_is_short, found, at), np.where(row_is_short, at, found)
            match = self.matches[self.match_row[row, of_row], self.table.word[column, of_column]]
            found += match & (found < short) & (at < long)
        complete: NDArray[np.bool_] = found == short
        return complete

    def without_first_name(self, clash: Matrix) -> Integers:
        """Clashing pairs such as "J William" / "William", where one lacks the first word; the rest is not compared."""
        rows = np.flatnonzero(self.table.letters[self.word[:, 1]] >= SHORTEST_PREFIX)
        columns = np.flatnonzero(self.table.may_be_left[self.table.word[:, 0]])
        row, column = np.nonzero(self._words_match(rows, 1, columns, 0))
        pairs = np.stack([self.begin + rows[row], columns[column]], axis=1)
        return pairs[clash[pairs[:, 0], pairs[:, 1]]]


NO_NAME = "|||"

# Blocks with at most this many names are compared together: a table for each of them would take longer.
FEW_NAMES = 20

# Pairs per batch of small blocks: the larger the batch, the fewer pairs are compared twice.
SMALL_BLOCK_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class BlockNames:
    """The distinct names of each block, and which pairs of them are incompatible.

    `number[x]` is the number of a mention's name inside its block, which has `count[b]` names. Names i and j of block b
    are incompatible if `incompatible[start[b] + i · count[b] + j]`. Blocks with one name share the first cell (False).
    """

    number: Integers
    count: Integers
    start: Integers
    incompatible: NDArray[np.bool_]

    def are_incompatible(self, block: Integers, i: Integers, j: Integers) -> NDArray[np.bool_]:
        """Whether names i and j of a block are incompatible, elementwise."""
        found: NDArray[np.bool_] = self.incompatible[self.start[block] + i * self.count[block] + j]
        return found

    def without(self, mentions: Integers, block: Integers) -> BlockNames:
        """The same names, but those of some mentions count as unknown, so that they are compatible with all.

        Their blocks must have several names, and get one more.
        """
        concerned = np.unique(block[mentions])
        number, count, start = self.number.copy(), self.count.copy(), self.start.copy()
        number[mentions] = count[block[mentions]]
        parts, done = [], 0
        for one in concerned.tolist():
            size, begin = int(count[one]), int(start[one])
            larger = np.zeros((size + 1, size + 1), np.bool_)
            larger[:size, :size] = self.incompatible[begin : begin + size * size].reshape(size, size)
            parts += [self.incompatible[done:begin], larger.ravel()]
            done = begin + size * size
        added = np.zeros(len(count), np.int64)
        added[concerned] = 2 * count[concerned] + 1
        start[count > 1] += (np.cumsum(added) - added)[count > 1]
        count[concerned] += 1
        return BlockNames(number, count, start, np.concatenate([*parts, self.incompatible[done:]]))

    def count_incompatible(self, block: Integers) -> Integers:
        """For each mention, the mentions of its block with an incompatible name; `block[x]` is the block of x."""
        several = np.flatnonzero(self.count > 1)
        name_start = np.zeros(len(self.count), np.int64)
        name_start[several] = np.cumsum(self.count[several]) - self.count[several]
        concerned = np.flatnonzero(self.count[block] > 1)
        name = name_start[block[concerned]] + self.number[concerned]
        mentions = np.bincount(name, minlength=int(self.count[several].sum()))
        excluded = np.zeros(len(mentions), np.int64)
        block_of_name = np.repeat(several, self.count[several])
        number = np.arange(len(mentions)) - name_start[block_of_name]
        for row, column in pairs_within_groups(self.count[several]):
            clash = self.are_incompatible(block_of_name[row], number[row], number[column])
            excluded += np.bincount(row[clash], mentions[column[clash]], len(mentions)).astype(np.int64)
        found = np.zeros(len(block), np.int64)
        found[concerned] = excluded[name]
        return found


def no_names(mentions: int, blocks: int) -> BlockNames:
    """One name for all mentions of each block, so that no two are incompatible."""
    zeros = np.zeros(blocks, np.int64)
    return BlockNames(np.zeros(mentions, np.int64), zeros + 1, zeros, np.zeros(1, np.bool_))


def block_names(block_start: Integers, block: Integers, parsed: pa.ChunkedArray) -> BlockNames:
    """Compare the names of each block; a mention without a name is compatible with all."""
    coded = parsed.fill_null(NO_NAME).dictionary_encode().combine_chunks()
    code = coded.indices.to_numpy().astype(np.int64)
    has_several = has_different_values(code, block_start)
    result = no_names(len(block), len(has_several))
    concerned = np.flatnonzero(has_several[block])
    if not len(concerned):
        return result
    codes = len(coded.dictionary)
    distinct, name = np.unique(block[concerned] * codes + code[concerned], return_inverse=True)
    blocks, first, count = np.unique(distinct // codes, return_index=True, return_counts=True)
    result.number[concerned] = name - np.repeat(first, count)[name]
    result.count[blocks] = count
    result.start[blocks] = 1 + np.cumsum(count**2) - count**2
    clash = np.zeros(1 + int((count**2).sum()), np.bool_)
    texts = coded.dictionary.take(pa.array(distinct % codes))
    start, few = result.start[blocks], count <= FEW_NAMES
    small_block_texts = texts.filter(pa.array(np.repeat(few, count))).to_pylist()
    _compare_small_blocks(small_block_texts, count[few], start[few], clash)
    for at, begin, size in zip(*(a[~few].tolist() for a in (start, first, count)), strict=True):
        names = [decode_name(text) for text in texts[begin : begin + size].to_pylist()]
        mark_incompatible(names, clash[at : at + size * size].reshape(size, size))
    return BlockNames(result.number, result.count, result.start, clash)


def _compare_small_blocks(texts: list[str], sizes: Integers, start: Integers, clash: NDArray[np.bool_]) -> None:
    """Compare the names of consecutive small blocks; `start` is where the matrix of each block begins in `clash`."""
    first, size = np.repeat(starts(sizes)[:-1], sizes), np.repeat(sizes, sizes)
    line = np.repeat(start, sizes) + (np.arange(len(first)) - first) * size - first
    surname, given, given_texts = _without_surnames(texts)
    for row, column in pairs_within_groups(sizes, SMALL_BLOCK_PAIRS):
        row, column = row[row < column], column[row < column]
        same_surname = surname[row] == surname[column]
        found = np.empty(len(row), np.bool_)
        found[same_surname] = _incompatible_pairs(given_texts, given[row[same_surname]], given[column[same_surname]])
        found[~same_surname] = _incompatible_pairs(texts, row[~same_surname], column[~same_surname])
        row, column = row[found], column[found]
        clash[line[row] + column] = clash[line[column] + row] = True


def _without_surnames(texts: list[str]) -> tuple[Integers, Integers, list[str]]:
    """Names with their surname replaced by one of its language: surname numbers, numbers and texts of replaced names.

    The same given names occur with many surnames, and comparing them depends on the surname's language only.
    """
    surnames: dict[str, int] = {}
    example: dict[str, str] = {}
    replaced: dict[str, int] = {}
    surname, number_of = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
    for number, text in enumerate(texts):
        family, _, given = text.split("|", 2)
        surname[number] = surnames.setdefault(family, number)
        family = example.setdefault(language_of(family), family)
        number_of[number] = replaced.setdefault(f"{family}||{given}", len(replaced))
    return surname, number_of, list(replaced)


def _incompatible_pairs(texts: list[str], left: Integers, right: Integers) -> NDArray[np.bool_]:
    """Whether the names `left[i]` and `right[i]` are incompatible; equal pairs are compared once."""
    pairs = np.minimum(left, right) * len(texts) + np.maximum(left, right)
    distinct, position = np.unique(pairs, return_inverse=True)
    left, right = np.divmod(distinct, len(texts))
    names = {number: decode_name(texts[number]) for number in np.unique((left, right)).tolist()}
    found = [not compatible(names[i], names[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    return np.array(found, np.bool_)[position]
