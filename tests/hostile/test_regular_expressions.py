"""No regular expression takes exponential time: a repetition inside another can, if both may match the same text."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import homonym

#: Repetitions inside repetitions that were checked by hand: each pass of the outer one begins with other characters
#: than the inner one repeats.
CHECKED = {"homonym.names.parse._NO_PERSON", "homonym.names.parse.COMMON"}
#: Repetitions up to this number count as bounded.
FEW = 8


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(item, depth + 1)


def all_patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    for module in pkgutil.walk_packages(homonym.__path__, "homonym."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                yield from ((f"{module.name}.{name}", pattern) for pattern in patterns_in(value))


def may_explode(pattern: re.Pattern[Any]) -> bool:
    """Whether an unbounded repetition is inside another one, without a possessive quantifier between them."""
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    return _nested(parser.parse(pattern.pattern, flags & (re.VERBOSE | re.IGNORECASE)), inside=False)


def _nested(items: Any, *, inside: bool) -> bool:
    for operation, argument in items:
        if operation in (code.MAX_REPEAT, code.MIN_REPEAT):
            many = argument[1] > FEW
            found = (many and inside) or _nested(argument[2], inside=inside or many)
        elif operation is code.POSSESSIVE_REPEAT:
            found = _nested(argument[2], inside=False)
        elif operation is code.ATOMIC_GROUP:
            found = _nested(argument, inside=False)
        elif operation is code.SUBPATTERN:
            found = _nested(argument[3], inside=inside)
        elif operation is code.BRANCH:
            found = any(_nested(branch, inside=inside) for branch in argument[1])
        elif operation in (code.ASSERT, code.ASSERT_NOT):
            found = _nested(argument[1], inside=False)
        else:
            found = False
        if found:
            return True
    return False


@pytest.mark.parametrize(("text", "explodes"), [
    (r"(?:\d+;?\s*)+", True), (r"(?:\d++;?\s*+)++", False), (r"(a|(b*))*", True), (r"a+b+", False),
    (r"(?=(?:x+)+)y", True), (r"(?>(?:x+))+", False), (r"(?:a{1,3})+", False),
])  # fmt: skip
def test_check_finds_nested_repetitions(text: str, explodes: bool) -> None:
    assert may_explode(re.compile(text)) == explodes


def test_no_expression_has_nested_repetitions() -> None:
    found = dict(all_patterns())
    assert len(found) > 200
    assert {name for name, pattern in found.items() if may_explode(pattern)} == CHECKED


@pytest.mark.parametrize("text", ["et al " * 5000 + "x", "Ab, " + "A." * 20_000 + "1", "Ab" + " C" * 20_000 + "1"])
def test_checked_expressions_end_soon(text: str) -> None:
    from homonym.names.parse import parse_name

    parse_name(text)
