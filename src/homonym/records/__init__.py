"""Data: files of records in, documents and mentions out."""
