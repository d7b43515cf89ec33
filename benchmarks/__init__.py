"""Measurements, each a ratio within one run because machines are noisy."""
