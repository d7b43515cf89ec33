"""The word lists in names/data: what every file must be."""

from __future__ import annotations

from importlib.resources import files

import pytest

from homonym.io.word_lists import lines_of, words_by_kind, words_of

NAMES = sorted(file.name.removesuffix(".txt") for file in files("homonym.names").joinpath("data").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_every_word_list_explains_its_format_in_the_first_line(name: str) -> None:
    text = files("homonym.names").joinpath("data", f"{name}.txt").read_text("utf-8")
    assert text.startswith("# ")
    assert lines_of(name) == tuple(text.splitlines()[1:])


@pytest.mark.parametrize("name", NAMES)
def test_words_are_in_upper_case(name: str) -> None:
    words = set().union(*words_by_kind(name).values()) if name == "particles" else words_of(name)
    assert words
    assert all(word == word.upper() for word in words)


def test_forms_of_a_given_name_are_on_one_line_once() -> None:
    groups = [line.split() for line in lines_of("given_name_forms")]
    assert all(len(group) == len(set(group)) for group in groups)
