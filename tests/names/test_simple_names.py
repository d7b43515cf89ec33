"""Names parsed many at once are the same as names parsed one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.features.blocking import SCHEMES, STANDARD, BlockedNames, blocked_columns, keys_of_names
from homonym.io.word_lists import lines_of, words_of
from homonym.names.parse import name_key
from homonym.names.simple_names import find_simple_names
from homonym.records.fields.degrees import DEGREES
from tests.support.profiles import examples

SURNAMES = ["DOE", "MUELLER", "LI", "WANG", "XIAOMING", "FEI", "PESKOFF", "NG", "PRK", "DAS", "VAN", "BROTHERS", "TRAN"]
GIVEN = ["JANE", "JO", "WEI", "XIAO", "ANN", "MD", "AUTHOR", "LISTED", "JR", "THI", "JEAN-PAUL", "O'NEIL", "ÉVA", "Ærø"]
GIVEN += ["İnci", "Şule", "Jose\u0301"]
INITIALS = ["J", "J.", "J.W.", "JW", "JAM", "JWKL", "M.D.", "M.D", "D", "Yu.", "É."]
WORDS = SURNAMES + GIVEN
PIECES = [*WORDS, *(word.capitalize() for word in WORDS), *map(str.lower, WORDS), *INITIALS, "", "et al", "王小明", "?"]


@given(
    st.lists(st.tuples(st.lists(st.sampled_from(PIECES), max_size=4), st.sampled_from([" ", ", ", ",", "  "]))),
    st.sampled_from(sorted(SCHEMES)),
)
@settings(max_examples=examples(1000))
def test_columns_agree_with_names_parsed_one_by_one(pieces: list[tuple[list[str], str]], blocking: str) -> None:
    assert_same([separator.join([" ".join(words[:1]), " ".join(words[1:])]) for words, separator in pieces], blocking)


@given(st.lists(st.text("AEBbc .,-éŻßİı\u0301\n?", max_size=9)), st.sampled_from(sorted(SCHEMES)))
@settings(max_examples=examples(1000))
def test_columns_agree_on_any_text(texts: list[str], blocking: str) -> None:
    assert_same(texts, blocking)


def assert_same(texts: list[str], blocking: str) -> None:
    _, *columns = blocked_columns(pa.array(texts, pa.string()), blocking)
    found = list(zip(*(column.to_pylist() for column in columns), strict=True))
    one_by_one = BlockedNames(blocking)
    assert found == [tuple(one_by_one[text] or (None,) * 5) for text in texts]
    assert keys_of_names(texts) == list(map(name_key, texts))


@pytest.mark.parametrize("blocking", sorted(SCHEMES))
@pytest.mark.parametrize("form", ["{}, Jane", "Jane {}", "{} J", "Doe, {}"])
def test_columns_agree_on_all_listed_words(blocking: str, form: str) -> None:
    lists = ("titles", "particles", "group_words", "chinese_surnames", "compound_surnames_latin", "short_given_names")
    words = {word.rstrip(":") for name in lists for word in words_of(name)}
    words |= {line.split()[0] for line in lines_of("suffixes")} | DEGREES
    assert_same([form.format(word.capitalize()) for word in sorted(words)], blocking)
    assert_same([form.format(word) for word in sorted(words)], blocking)


def test_common_forms_are_simple() -> None:
    texts = ["Doe, Jane W.", "J. W. Doe", "Doe JW", "DOE JW", "Doe, J.W.", "Jane Doe", "Doe, J", "Wang, Xiaoli"]
    texts += ["Şahin, Çağla", "É. Müller"]
    for blocking in SCHEMES:
        assert find_simple_names(pa.array(texts), standard=blocking in STANDARD)[0].all()


def test_a_slice_of_an_array_is_parsed_like_the_array() -> None:
    texts = pa.array(["Roe, R", "Doe, Jane", "van Poe, E", "Poe JW"])
    columns = blocked_columns(texts.slice(1, 2), "auto")
    assert columns.key.to_pylist() == ["DOE, J", "VAN POE, E"]
