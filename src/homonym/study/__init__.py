"""The paper's study as data: variants × weights × limits on labelled names, to tables, figures and findings."""

from __future__ import annotations
