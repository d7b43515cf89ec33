"""URLs are compared by name: scheme, host and every part of the path."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.io.urls import is_url, is_within, local_path, overlaps


@pytest.mark.parametrize(
    ("path", "expected"),
    [("hdfs://a/b", True), (Path("a/b"), False), ("a:/b", False), ("s3:/b", False), (None, False), ("://", True)],
)
def test_a_url_has_a_scheme(path: str | None, expected: bool) -> None:
    assert is_url(path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("file:///a/b", "/a/b"),
        ("FILE:///a/b", "/a/b"),
        ("file://host/a", "/a"),
        ("file://host//a", "/a"),
        ("file://host", "/"),
        ("file://", "file://"),
        ("files:///a", "files:///a"),
        ("dbfs:///a", "dbfs:///a"),
        ("/a/b", "/a/b"),
        ("file", "file"),
    ],
)
def test_file_urls_are_paths(path: str, expected: str) -> None:
    assert local_path(path) == expected


# URL, directory, whether the URL is in the directory, and whether the directory is in the URL.
PLACES = [
    ("s3://b/x/y", "s3://b/x", True, False),
    ("s3://b/x", "s3://b/x", True, True),
    ("s3://b/x/", "s3://b/x", True, True),
    ("s3://b/x/../x", "s3://b/x", True, True),
    ("s3://b//x", "s3://b/x", True, True),
    ("s3://b/xy", "s3://b/x", False, False),
    ("s3://b/x/y", "s3://c/x", False, False),
    ("s3://B/x/y", "s3://b/x", True, False),
    ("s3://b/X", "s3://b/x", False, False),
    ("s3a://b/x", "s3n://b/x", True, True),
    ("S3A://b/x", "s3://b/x", True, True),
    ("abfss://b/x", "abfs://b/x", True, True),
    ("wasbs://b/x", "wasb://b/x", True, True),
    ("wasbs://b/x", "abfs://b/x", False, False),
    ("hdfs:///x/y", "hdfs://head:9000/x", True, False),
    ("hdfs://head:9000/x/y", "hdfs:///x", True, False),
    ("hdfs://a/x", "hdfs://b/x", False, False),
    ("s3://b/p-1.gz", "s3://b/p-*.gz", True, True),
    ("s3://b/q-1.gz", "s3://b/p-*.gz", False, False),
    ("s3://b/{p,q}/z", "s3://b/q", True, False),
    ("s3://b/[x]/y", "s3://b/[x]", True, False),
    ("s3://b/x/y", "s3://b", True, False),
    ("s3://b/z/y", "s3://b/x/y", False, False),
]


@pytest.mark.parametrize(("url", "directory", "inside", "around"), PLACES)
def test_a_url_is_in_a_directory(url: str, directory: str, inside: bool, around: bool) -> None:
    assert (is_within(url, directory), is_within(directory, url)) == (inside, around)
    assert overlaps(url, directory) is overlaps(directory, url) is (inside or around)
