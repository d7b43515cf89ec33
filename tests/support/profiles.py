"""Hypothesis profiles: `thorough` runs every example that a test asks for, `full` a fifth, `quick` a twentieth."""

from __future__ import annotations

from hypothesis import settings

#: Share of the examples that each profile runs.
SHARES = {"thorough": 1.0, "full": 0.2, "quick": 0.05}
#: Minimum number of examples in any profile.
MIN_EXAMPLES = 5

_share = SHARES["full"]


def register(profile: str | None) -> None:
    """Register the profiles. No test has a deadline: machines are noisy."""
    global _share
    for name in SHARES:
        settings.register_profile(name, deadline=None, print_blob=True, max_examples=round(100 * SHARES[name]))
    settings.load_profile(profile or "full")
    _share = SHARES[profile or "full"]


def examples(number: int) -> int:
    """How many examples a test runs that asks for this many in the thorough profile."""
    return max(MIN_EXAMPLES, round(number * _share))
