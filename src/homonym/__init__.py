"""Author name disambiguation without training data.

>>> import homonym
>>> sorted(homonym.__all__)[:3]
['Corpus', 'HomonymError', 'Resources']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from homonym.commands.calibrate import calibrate
    from homonym.commands.check import check
    from homonym.commands.cluster import cluster
    from homonym.commands.convert import convert
    from homonym.commands.decide import decide
    from homonym.commands.decisions import decisions
    from homonym.commands.demo import demo
    from homonym.commands.disambiguate import disambiguate
    from homonym.commands.evaluate import evaluate
    from homonym.commands.events import events
    from homonym.commands.explain import explain
    from homonym.commands.export import export
    from homonym.commands.extract import extract
    from homonym.commands.generate import generate
    from homonym.commands.in_memory import Result
    from homonym.commands.inspect import inspect
    from homonym.commands.result import Summary
    from homonym.commands.run import Resources
    from homonym.commands.study import study
    from homonym.commands.train import train
    from homonym.commands.update import update
    from homonym.errors import HomonymError
    from homonym.settings import Settings
    from homonym.synthetic.corpus import Corpus

__version__ = "0.18.0"

__all__ = [
    "Corpus",
    "HomonymError",
    "Resources",
    "Result",
    "Settings",
    "Summary",
    "calibrate",
    "check",
    "cluster",
    "convert",
    "decide",
    "decisions",
    "demo",
    "disambiguate",
    "evaluate",
    "events",
    "explain",
    "export",
    "extract",
    "generate",
    "inspect",
    "study",
    "train",
    "update",
]

# Names are imported on first use, so that `homonym --help` does not load libraries it does not need.
_HOME = {
    "Corpus": "homonym.synthetic.corpus",
    "HomonymError": "homonym.errors",
    "Resources": "homonym.commands.run",
    "Result": "homonym.commands.in_memory",
    "Settings": "homonym.settings",
    "Summary": "homonym.commands.result",
    "calibrate": "homonym.commands.calibrate",
    "check": "homonym.commands.check",
    "cluster": "homonym.commands.cluster",
    "convert": "homonym.commands.convert",
    "decide": "homonym.commands.decide",
    "decisions": "homonym.commands.decisions",
    "demo": "homonym.commands.demo",
    "disambiguate": "homonym.commands.disambiguate",
    "evaluate": "homonym.commands.evaluate",
    "events": "homonym.commands.events",
    "explain": "homonym.commands.explain",
    "export": "homonym.commands.export",
    "extract": "homonym.commands.extract",
    "generate": "homonym.commands.generate",
    "inspect": "homonym.commands.inspect",
    "study": "homonym.commands.study",
    "train": "homonym.commands.train",
    "update": "homonym.commands.update",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'homonym' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
