"""Incompatible names, all pairs at once: always the answer of `compatible` for each pair."""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from itertools import combinations, product

import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.constraints import incompatible_names
from homonym.constraints.incompatible_names import mark_incompatible
from homonym.names.compatibility import compatible
from homonym.names.parse import Name, encode_name, parse_name
from tests.support.profiles import examples
from tests.support.real_data import DATA, needs_real_data

# Words that often match each other (joined, swapped, dropped, short, misspelled), and any letters.
WORDS = st.one_of(
    st.sampled_from(
        "J W X M L JANE JOHN WILLIAM BILL WILL XIAO MING LI XIAOMING XIAOM XIAOLI MINGXIAO YAN YANG JEAN PIERRE "
        "JEANPIERRE TH THOMAS YU IURII HIDEKI SUSAN CHRISTOPHER CHRISTOPER GARCIA LOPEZ WANG".split()
    ),
    st.text("AIJMX", min_size=1, max_size=7),
)
GIVEN = st.lists(WORDS, max_size=5).map(tuple)
SUFFIXES = st.sampled_from(["", "", "", "JR", "III"])


def named(surname: str, words: tuple[str, ...], suffix: str = "") -> Name:
    return Name(surname, "".join(word[0] for word in words), words, suffix)


def of_surnames(*surnames: str) -> st.SearchStrategy[list[Name]]:
    name = st.builds(named, st.sampled_from(surnames), GIVEN, SUFFIXES)
    return st.lists(name, min_size=1, max_size=30, unique=True)


BLOCKS = st.one_of(
    of_surnames("DOE"), of_surnames("WANG"), of_surnames("NAKAMURA"),
    of_surnames("DOE", "WANG", "LI", "NAKAMURA", "GARCIA LOPEZ", "LOPEZ", "XIAOMING", "XIAO MING", ""),
)  # fmt: skip


def clashing(block: list[Name]) -> list[tuple[int, int]]:
    square = np.empty((len(block), len(block)), np.bool_)
    mark_incompatible(block, square)
    return [(int(i), int(j)) for i, j in np.argwhere(square)]


def expected(block: list[Name]) -> list[tuple[int, int]]:
    return [(i, j) for i, j in product(range(len(block)), repeat=2) if not compatible(block[i], block[j])]


@settings(max_examples=examples(400))
@given(BLOCKS)
def test_marks_exactly_the_incompatible_pairs(block: list[Name]) -> None:
    assert clashing(block) == expected(block)


# All pairs of two words, some of three, and words alone.
MANY_WORDS = "J W X M JANE WILLIAM BILL XIAO MING XIAOMING XIAOLI YAN YANG JEANPIERRE JEAN PIERRE YU GARCIA".split()
MANY_GIVEN = [(), *((word,) for word in MANY_WORDS), *product(MANY_WORDS[:12], repeat=2)]
MANY_GIVEN += [("J", "W", "M"), ("JANE", "W", "XIAO"), ("JEAN", "PIERRE", "M"), ("XIAO", "MING", "LI"), ("X", "M", "L")]


@pytest.mark.parametrize(
    "surnames",
    [["DOE"], ["WANG"], ["NAKAMURA"], ["GARCIA LOPEZ", "LOPEZ"], ["DOE", "WANG"], ["XIAO MING", "WANG", "DOE", "LI"]],
)
def test_marks_the_incompatible_pairs_of_many_names(surnames: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incompatible_names, "STRIPE", 64)
    names = [named(surname, given) for given in MANY_GIVEN for surname in surnames]
    block = random.Random(0).sample(names, 160)
    assert clashing(block) == expected(block)


@settings(max_examples=examples(50))
@given(BLOCKS, st.integers(1, 7))
def test_result_does_not_depend_on_the_stripe_size(block: list[Name], stripe: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incompatible_names, "STRIPE", stripe)
        assert clashing(block) == expected(block)


@settings(max_examples=examples(100))
@given(st.lists(BLOCKS, min_size=1, max_size=5), st.sampled_from([0, 4, 1000]))
def test_small_blocks_together_equal_large_blocks_alone(blocks: list[list[Name]], few: int) -> None:
    """Small blocks are compared together, large ones alone, with the same result."""
    start = np.cumsum([0, *map(len, blocks)])
    block = np.repeat(np.arange(len(blocks)), np.diff(start))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incompatible_names, "FEW_NAMES", few)
        patch.setattr(incompatible_names, "SMALL_BLOCK_PAIRS", 50)
        parsed = pa.chunked_array([[encode_name(name) for members in blocks for name in members]])
        found = incompatible_names.block_names(start, block, parsed)
    for number, members in enumerate(blocks):
        for (i, a), (j, b) in product(enumerate(members, start[number]), repeat=2):
            i_and_j = (np.array([found.number[mention]]) for mention in (i, j))
            assert found.are_incompatible(np.array([number]), *i_and_j)[0] == (not compatible(a, b))


@pytest.mark.parametrize("few", [0, 1000])
def test_uses_the_language_of_each_surname(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incompatible_names, "FEW_NAMES", few)
    texts = [f"{surname}||{given}|" for surname in ("DOE", "WANG") for given in ("YAN", "YANG", "X M", "XIAOLI")]
    yan, yang, x_m, xiaoli = range(4)
    alone = incompatible_names.block_names(np.array([0, 4, 8]), np.repeat([0, 1], 4), pa.chunked_array([texts]))
    mixed = incompatible_names.block_names(np.array([0, 8]), np.zeros(8, np.int64), pa.chunked_array([texts]))
    for found, of_wang in ((alone, 1), (mixed, 0)):
        for block, first, two_people in ((0, 0, False), (of_wang, 4, True)):
            for a, b in ((yan, yang), (yang, yan), (x_m, xiaoli), (xiaoli, x_m)):
                i, j = found.number[[first + a]], found.number[[first + b]]
                assert found.are_incompatible(np.array([block]), i, j)[0] == two_people


def test_compares_joined_words_and_initials() -> None:
    texts = ["Wang, Xiao M", "Wang, Xiaoming", "Wang, Xiao L", "Wang, XM", "Wang, Xiao-Ming", "Wang, M X"]
    found = [(i, j) for i, j in clashing([parse_name(text) for text in texts]) if i < j]
    assert found == [(0, 2), (0, 5), (1, 2), (1, 5), (2, 3), (2, 4), (2, 5), (3, 5), (4, 5)]


def test_accepts_names_with_fifty_words() -> None:
    many = ("ANNA",) * 50
    block = [named("DOE", many), named("DOE", many[:49]), named("DOE", ("OTTO",) * 50), named("DOE", ())]
    assert clashing(block) == [(0, 2), (1, 2), (2, 0), (2, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("surname", ["DOE", "WANG"])
def test_few_pairs_are_compared_one_by_one(surname: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, compared = random.Random(1), []

    def recorded(a: Name, b: Name) -> bool:
        compared.append((a, b))
        return compatible(a, b)

    words = ["".join(chosen.choices("AEINORST", k=chosen.randint(1, 6))) for _ in range(300)]
    block = sorted({named(surname, ("J" + chosen.choice(words), *chosen.choices(words, k=i % 3))) for i in range(1000)})
    monkeypatch.setattr(incompatible_names, "compatible", recorded)
    found = clashing(block)
    assert len(found) > len(block) ** 2 / 2
    assert len(compared) < len(block) ** 2 / 200


@pytest.mark.slow
@needs_real_data
@pytest.mark.parametrize("part", ["aminer", "pubmed"])
def test_matches_compatible_on_real_names(part: str) -> None:
    with gzip.open(DATA / part / "documents.jsonl.gz") as lines:
        people = {parse_name(author["name"]) for line in lines for author in orjson.loads(line)["authors"]}
    by_surname = defaultdict(list)
    for name in sorted(people):
        by_surname[name.surname].append(name)
    mixed = random.Random(1).sample(sorted(people), 300)
    for block in (mixed, *by_surname.values()):
        pairs = combinations(range(len(block)), 2)
        found = [pair for pair in clashing(block) if pair[0] < pair[1]]
        assert found == [(i, j) for i, j in pairs if not compatible(block[i], block[j])]


MATRICES = st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=5)


@settings(max_examples=examples(200))
@given(MATRICES, st.data())
def test_counts_and_unknown_names_follow_the_matrices(blocks: list[list[int]], data: st.DataObject) -> None:
    """`blocks` has the names of the mentions of each block; which names exclude each other is drawn."""
    blocks = [[sorted(set(members)).index(one) for one in members] for members in blocks]
    sizes = [len(set(members)) for members in blocks]
    matrices = [np.zeros((size, size), np.bool_) for size in sizes]
    for matrix in matrices:
        for i, j in combinations(range(len(matrix)), 2):
            matrix[i, j] = matrix[j, i] = data.draw(st.booleans())
    several = [size > 1 for size in sizes]
    start = np.cumsum([1, *(size**2 if more else 0 for size, more in zip(sizes, several, strict=True))])[:-1]
    cells = [np.zeros(1, np.bool_), *(m.ravel() for m, more in zip(matrices, several, strict=True) if more)]
    block = np.repeat(np.arange(len(blocks)), [len(members) for members in blocks])
    number = np.array([one for members in blocks for one in members], np.int64)
    names = incompatible_names.BlockNames(
        number, np.array([max(1, size) for size in sizes]), np.where(several, start, 0), np.concatenate(cells)
    )

    def excludes(x: int, y: int) -> bool:
        return bool(block[x] == block[y] and matrices[block[x]][number[x], number[y]])

    mentions = range(len(block))
    count = names.count_incompatible(block)
    assert count.tolist() == [sum(excludes(x, y) for y in mentions) for x in mentions]
    unknown = [x for x in mentions if several[block[x]] and data.draw(st.booleans())]
    rest = names.without(np.array(unknown, np.int64), block)
    for x, y in product(mentions, repeat=2):
        if block[x] == block[y]:
            found = rest.are_incompatible(block[[x]], rest.number[[x]], rest.number[[y]])[0]
            assert found == (excludes(x, y) and x not in unknown and y not in unknown)
