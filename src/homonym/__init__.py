"""Tells authors of the same name apart."""

__version__ = "0.1.0"
