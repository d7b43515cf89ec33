"""Tells authors of the same name apart, without training data.

>>> import homonym
>>> sorted(homonym.__all__)[:3]
['Corpus', 'HomonymError', 'Resources']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from homonym.calibration.limit import calibrate
    from homonym.calibration.weights import train
    from homonym.conversion import convert
    from homonym.demonstration import demo
    from homonym.errors import HomonymError
    from homonym.evaluation.evaluate import evaluate
    from homonym.experiments.study import study
    from homonym.inspection import inspect
    from homonym.pipeline import Summary, cluster, disambiguate, extract
    from homonym.run import Resources
    from homonym.settings import Settings
    from homonym.synthetic.corpus import Corpus
    from homonym.synthetic.output import generate

__version__ = "0.5.0"

__all__ = [
    "Corpus",
    "HomonymError",
    "Resources",
    "Settings",
    "Summary",
    "calibrate",
    "cluster",
    "convert",
    "demo",
    "disambiguate",
    "evaluate",
    "extract",
    "generate",
    "inspect",
    "study",
    "train",
]

# Names are imported when they are first used: `homonym --help` must not wait for libraries it does not need.
_HOME = {
    "Corpus": "homonym.synthetic.corpus",
    "HomonymError": "homonym.errors",
    "Resources": "homonym.run",
    "Settings": "homonym.settings",
    "Summary": "homonym.pipeline",
    "calibrate": "homonym.calibration.limit",
    "cluster": "homonym.pipeline",
    "convert": "homonym.conversion",
    "demo": "homonym.demonstration",
    "disambiguate": "homonym.pipeline",
    "evaluate": "homonym.evaluation.evaluate",
    "extract": "homonym.pipeline",
    "generate": "homonym.synthetic.output",
    "inspect": "homonym.inspection",
    "study": "homonym.experiments.study",
    "train": "homonym.calibration.weights",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'homonym' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)
