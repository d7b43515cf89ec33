"""Disambiguation: which mentions of one block are the same person."""
