"""Tells authors of the same name apart, without training data.

>>> import homonym
>>> sorted(homonym.__all__)[:3]
['Corpus', 'HomonymError', 'Resources']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from homonym.demonstration import demo
    from homonym.errors import HomonymError
    from homonym.evaluation.evaluate import evaluate
    from homonym.pipeline import Resources, Summary, cluster, disambiguate, extract
    from homonym.settings import Settings
    from homonym.synthetic.corpus import Corpus
    from homonym.synthetic.output import generate

__version__ = "0.1.0"

__all__ = [
    "Corpus",
    "HomonymError",
    "Resources",
    "Settings",
    "Summary",
    "cluster",
    "demo",
    "disambiguate",
    "evaluate",
    "extract",
    "generate",
]

# Names are imported when they are first used: `homonym --help` must not wait for libraries it does not need.
_HOME = {
    "Corpus": "homonym.synthetic.corpus",
    "HomonymError": "homonym.errors",
    "Resources": "homonym.pipeline",
    "Settings": "homonym.settings",
    "Summary": "homonym.pipeline",
    "cluster": "homonym.pipeline",
    "demo": "homonym.demonstration",
    "disambiguate": "homonym.pipeline",
    "evaluate": "homonym.evaluation.evaluate",
    "extract": "homonym.pipeline",
    "generate": "homonym.synthetic.output",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'homonym' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
