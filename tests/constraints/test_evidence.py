"""The user's pairs as tables, and the messages about pairs and identifiers that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from homonym.constraints.evidence import (
    MentionEvidence,
    UserPairs,
    locate_pairs,
    mention_list,
    read_user_pairs,
    require_known_identifiers,
    write_user_pairs,
)
from homonym.constraints.incompatible_names import BlockNames, no_names
from homonym.errors import InputError, SettingsError
from homonym.settings import Settings

PAIRS = UserPairs(("a", "b", "a"), ("b", "c", "c"), (True, False, False))


def test_pairs_among_some_mentions() -> None:
    assert PAIRS.among("abc") == PAIRS
    assert PAIRS.among("ac") == UserPairs(("a",), ("c",), (False,))
    assert PAIRS.among("ab") == UserPairs(("a",), ("b",), (True,))
    assert PAIRS.among("b") == UserPairs((), (), ())


def test_written_pairs_are_read_again(tmp_path: Path) -> None:
    write_user_pairs(tmp_path / "pairs.csv", PAIRS)
    lines = (tmp_path / "pairs.csv").read_text().splitlines()
    assert lines == ['"mention_a","mention_b","relation"', '"a","b","same"', '"b","c","different"',
                     '"a","c","different"']  # fmt: skip
    assert read_user_pairs(tmp_path / "pairs.csv") == PAIRS


def test_rows_that_are_no_pairs_are_left_out_and_members_are_different(tmp_path: Path) -> None:
    rows = [
        "mention_a\tmention_b\trelation\tmembers",
        "a\tb\tSame\t",
        "a\ta\tsame\t",
        "mention_a\tmention_b\trelation\tmembers",
        "a\tb\tunsure\t",
        "a\t\tname\t",
        "a\tb\tWrong-Record\t",
        ' c \td\tdifferent\t["e","d","c","f","e"]',
        'c\tg\tsame\t["h"]',
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n")
    assert read_user_pairs(tmp_path / "pairs.tsv") == UserPairs(
        ("a", "c", "c", "c", "c", "c"), ("b", "d", "e", "f", "g", "h"), (True, False, False, False, True, False)
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a\t\tsame\t", "a mention is missing; give both mention_a and mention_b"),
        ("\tb\tdifferent\t", "a mention is missing; give both mention_a and mention_b"),
        ("a\tb\tmaybe\t", "the relation is 'maybe'; write same or different"),
        ("a\ta\tdifferent\t", "a cannot be different from itself; correct or remove the row"),
        ("a\tb\tdifferent\t[", r"members is not a list in JSON \(.+\)"),
        ("a\tb\tdifferent\t{}", "members is not a list of mention ids"),
        ("a\tb\tdifferent\t[1]", "members is not a list of mention ids"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "pairs").write_text(f"mention_a\tmention_b\trelation\tmembers\nx\ty\tsame\t\n{row}\n")
    with pytest.raises(InputError, match=rf"pairs, line 3: {message}\.$"):
        read_user_pairs(tmp_path / "pairs")


def test_lists_of_mentions() -> None:
    assert mention_list(' ["a", "b"] ') == ("a", "b")
    assert mention_list(" ") == ()


def test_pairs_are_located_in_their_blocks() -> None:
    ids, block, warnings = pa.array(["a", "b", "c", "d"]), np.array([0, 0, 0, 1]), list[str]()
    same, different = locate_pairs(ids, block, UserPairs(("c", "b", "a", "a", "c"), ("a", "a", "c", "d", "b"),
                                                         (True, True, True, True, False)), warnings)  # fmt: skip
    assert (same.tolist(), different.tolist(), warnings) == ([[0, 1], [0, 2]], [[1, 2]], [])


def test_warns_about_pairs_of_unknown_mentions() -> None:
    ids, block, warnings = pa.array(["a", "b"]), np.array([0, 0]), list[str]()
    same, different = locate_pairs(ids, block, UserPairs(("a", "x", "b"), ("b", "a", "y"), (True,) * 3), warnings)
    assert (same.tolist(), different.tolist()) == ([[0, 1]], [])
    locate_pairs(ids, block, UserPairs(("a",), ("z",), (True,)), warnings)
    locate_pairs(ids, block, UserPairs((), (), ()), warnings)
    assert warnings == [
        "2 pairs ignored: there is no mention x, for example.",
        "1 pair ignored: there is no mention z, for example.",
        "the file of pairs has no rows.",
    ]


@pytest.mark.parametrize(
    ("mention", "is_old"),
    [("x.csv:2#0", True), ("x\n:12#34", True), ("x.csv:2", False), (":2#0", False), ("x.csv:2#0a", False),
     ("doi:1#0", False), ("PMID:7#0", False), ("h:1#0", False), ("x.csv#0", False)],
)  # fmt: skip
@pytest.mark.parametrize("second", [False, True])
def test_mentions_named_by_line_are_refused(mention: str, is_old: bool, second: bool) -> None:
    a, b = ("a", mention) if second else (mention, "b")
    pairs = UserPairs(("a", a), ("b", b), (True, True))
    arguments = (pa.array(["a", "b"]), np.array([0, 0]), pairs, list[str]())
    if not is_old:
        locate_pairs(*arguments)
        return
    with pytest.raises(
        InputError, match=r"(?s)there is no mention .* If it was named by file and line, as in homonym 0\.6,"
    ):
        locate_pairs(*arguments)


def test_unknown_kinds_of_identifiers_get_a_proposal() -> None:
    def proposal(kind: str) -> str:
        with pytest.raises(SettingsError) as caught:
            require_known_identifiers(Settings(identifiers=kind), lambda kind: False)
        before, _, after = str(caught.value).partition("; ")
        unknown = f"no mention has an identifier of the kind {kind!r}, which homonym does not know"
        assert before == f"setting identifiers: {unknown}"
        return after

    assert proposal("orcd") == "use orcid, or a kind that the data has."
    assert proposal("zzzz").count(",") == 5  # five kinds
    require_known_identifiers(Settings(identifiers="zzzz,orcid"), lambda kind: kind == "zzzz")


def evidence(names: BlockNames | None = None, **given: object) -> MentionEvidence:
    """Three blocks of two mentions without any evidence but the given."""
    nothing, none = np.empty((0, 2), np.int64), np.full(6, -1)
    fields = {"ids": {}, "shared_document": none, "same_pairs": nothing, "different_pairs": nothing} | given
    start, block = np.array([0, 2, 4, 6]), np.repeat([0, 1, 2], 2)
    return MentionEvidence(start, block, names or no_names(6, 3), **fields)  # type: ignore[arg-type]


def test_blocks_with_cannot_links() -> None:
    def found(names: BlockNames | None = None, **given: object) -> list[bool]:
        return [bool(one) for one in evidence(names, **given).blocks_with_cannot_links()]

    assert found() == [False] * 3
    assert found(ids={"orcid": np.array([0, 1, 2, 2, -1, 3])}) == [True, False, False]
    assert found(ids={"email": np.array([0, 1, 2, 2, -1, 3])}) == [False] * 3
    assert found(shared_document=np.array([-1, -1, -1, -1, 0, 0])) == [False, False, True]
    assert found(different_pairs=np.array([[2, 3]])) == [False, True, False]
    clash = np.array([False] * 5 + [False, True, True, False])
    names = BlockNames(np.array([0, 1, 0, 0, 0, 1]), np.array([2, 1, 2]), np.array([1, 0, 5]), clash)
    assert found(names) == [False, False, True]


def test_identifiers_can_be_taken_away() -> None:
    ids = {"orcid": np.arange(6), "isni": np.zeros(6, np.int64)}
    left = evidence(ids=ids).without_identifiers({"orcid": np.arange(6) % 2 == 0})
    assert {kind: numbers.tolist() for kind, numbers in left.ids.items()} == {
        "orcid": [-1, 1, -1, 3, -1, 5], "isni": [0] * 6
    }  # fmt: skip
