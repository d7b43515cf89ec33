"""The limit of collections that lean on the background: between what was calibrated and the defaults.

Pseudo-names need people of other names, which a collection of few names hardly has. So the more a collection leans on
the background (collection/background.py), the less its calibration counts. The defaults are those of labelled
collections: κ is 7, γ₂ is what people of one name have there, and rare full names are trusted.
"""

from __future__ import annotations

from dataclasses import replace

from homonym.calibration.limit import CalibratedLimit, LimitCalibrator
from homonym.collection.background import BackgroundUse
from homonym.settings import Limit, Settings

# γ₂ and the trust in full names of labelled collections: γ₂ is 1.8 to 2.7 on five of six sets (3.9 on Chinese names).
# The trust is 1 on AMiner, PubMed, grants and Chinese names, and 0 on Web of Science, whose bags come without names.
USUAL_CHANCE_LIMIT, USUAL_TRUST = 2.275, 1.0


def lean_on_defaults(finder: LimitCalibrator, settings: Settings, use: BackgroundUse | None) -> CalibratedLimit:
    """The calibrated values, moved towards the defaults by the share of the background.

    Values that the settings give are kept, and so is a limit that was chosen for a target precision. A collection that
    leans on the background alone is calibrated only for such a target.
    """
    if not use or not settings.is_default_score:
        return finder.find()
    if use.share == 1 and settings.target_precision is None:
        return _usual(settings, CalibratedLimit(settings.limit, why=finder.unavailable), use)
    return _usual(settings, finder.find(), use)


def _usual(settings: Settings, found: CalibratedLimit, use: BackgroundUse) -> CalibratedLimit:
    share, limit, lift, trust = use.share, found.limit, found.chance_limit, found.name_trust
    spread = found.spread
    if settings.target_precision is None:
        limit = _moved(limit, settings.limit, share)
        spread = spread and (_moved(spread[0], settings.limit, share), _moved(spread[1], settings.limit, share))
    if settings.chance_limit is None:
        lift = USUAL_CHANCE_LIMIT if lift is None else _between(lift, USUAL_CHANCE_LIMIT, share)
    if settings.name_trust is None:
        trust = (1 - share) * (trust or 0.0) + share * USUAL_TRUST
    return replace(found, limit=limit, spread=spread, chance_limit=lift, name_trust=trust)


def _moved(own: Limit, usual: Limit, share: float) -> Limit:
    return Limit(*(_between(*values, share) for values in zip(own, usual, strict=True)))


def _between(own: float, usual: float, share: float) -> float:
    """The geometric mean with weights; 0 if one of both is 0.

    >>> _between(4.0, 16.0, 0.5), _between(0.0, 7.0, 0.5)
    (8.0, 0.0)
    """
    if own == usual:  # without rounding
        return own
    return float(own ** (1 - share) * usual**share) if own and usual else 0.0
