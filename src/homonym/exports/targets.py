"""The table of targets. A new target needs one function and one line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from homonym.errors import OutputError, SettingsError
from homonym.exports import linked_data, networks, reference_files, s2and_files, spreadsheets, thesauri
from homonym.exports.result_tables import ResultTables

Writer = Callable[[ResultTables, Path], None]
"""Writes one target, as a file that appears when it is complete, or as `files` in an empty directory."""


class Target(NamedTuple):
    """What `--to` can name: how it is written, the suffixes of its file, or the files of its directory."""

    title: str
    write: Writer
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def _text(*suffixes: str) -> tuple[str, ...]:
    return (*suffixes, *(f"{suffix}.gz" for suffix in suffixes))


TARGETS = {
    "vosviewer": Target("thesaurus of VOSviewer", thesauri.write_vosviewer, (".txt",)),
    "citespace": Target("alias file of CiteSpace", thesauri.write_citespace, (".alias", ".txt")),
    "bibliometrix": Target("data frame of bibliometrix", spreadsheets.write_bibliometrix, _text(".csv")),
    "bibtex": Target("BibTeX", reference_files.write_bibtex, _text(".bib")),
    "ris": Target("RIS", reference_files.write_ris, _text(".ris")),
    "wos": Target("Web of Science, plain text", reference_files.write_wos, _text(".txt", ".ciw")),
    "scopus": Target("Scopus CSV", reference_files.write_scopus, _text(".csv")),
    "csv": Target("people with their papers, CSV", spreadsheets.write_csv, _text(".csv")),
    "excel": Target("authors, papers and mentions, Excel", spreadsheets.write_excel, (".xlsx",)),
    "gexf": Target("co-author network, GEXF", networks.write_gexf, _text(".gexf")),
    "graphml": Target("co-author network, GraphML", networks.write_graphml, _text(".graphml")),
    "gephi": Target("co-author network, CSV", networks.write_gephi, files=(networks.NODES, networks.EDGES)),
    "s2and": Target("data set of S2AND", s2and_files.write_s2and, files=s2and_files.FILES),
    "quickstatements": Target("QuickStatements of Wikidata", linked_data.write_quickstatements, _text(".txt", ".tsv")),
    "jsonld": Target("JSON-LD of schema.org", linked_data.write_jsonld, _text(".jsonld", ".json")),
}


def target_named(name: str) -> Target:
    """The target with a name; fails with the list of names."""
    if name not in TARGETS:
        raise SettingsError(f"there is no export to {name!r}; use one of {', '.join(TARGETS)}.")
    return TARGETS[name]


def require_suffix(name: str, target: Target, path: Path) -> None:
    """Fail if the name of the output does not fit the target, so that no file has a misleading name."""
    if target.suffixes and not path.name.lower().endswith(target.suffixes):
        shown = " or ".join(suffix for suffix in target.suffixes if not suffix.endswith(".gz"))
        raise OutputError(f"{path}: --to {name} writes a file that ends in {shown}; choose such a name.")
    if target.files and path.suffix and not path.is_dir():
        raise OutputError(
            f"{path}: --to {name} writes the files {' and '.join(target.files)} to a directory; "
            "name one without a suffix."
        )
