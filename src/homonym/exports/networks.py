"""The co-author network: a node for each author, an edge for authors with common documents.

The weight of an edge is the number of common documents. Documents with more than MAX_COAUTHORS authors make no edges:
their number of pairs grows with the square of the authors, and long lists say little about collaboration.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from homonym.collection.author_summaries import main_ids
from homonym.errors import counted
from homonym.exports.plain_lines import one_line
from homonym.exports.result_tables import ResultTables
from homonym.io.outputs import open_atomic
from homonym.io.table_text import protected

MAX_COAUTHORS = 100
"""Maximum number of authors of a document that makes edges, as in authors.parquet."""

NODES, EDGES = "nodes.csv", "edges.csv"
"""The files of the target gephi."""

_GEXF, _GRAPHML = "http://gexf.net/1.3", "http://graphml.graphdrawing.org/xmlns"
_EDGE_ROWS = 1 << 16


class Attribute(NamedTuple):
    """A column of authors.parquet that nodes have, with its type in GEXF and GraphML."""

    name: str
    gexf: str
    graphml: str


_ATTRIBUTES = (
    Attribute("author_id", "string", "string"),
    Attribute("name", "string", "string"),
    Attribute("mentions", "integer", "int"),
    Attribute("documents", "integer", "int"),
    Attribute("first_year", "integer", "int"),
    Attribute("last_year", "integer", "int"),
    Attribute("orcid", "string", "string"),
    Attribute("confidence", "double", "double"),
)


class Node(NamedTuple):
    """An author: number, label, and attributes that are known."""

    number: int
    label: str
    attributes: dict[str, Any]


def nodes(result: ResultTables) -> Iterator[Node]:
    """All authors."""
    names = [attribute.name for attribute in _ATTRIBUTES]
    for number, (row, label) in enumerate(zip(result.author_rows(), result.labels, strict=True)):
        row["orcid"] = main_ids(row["ids"]).get("orcid")
        values = {name: one_line(row[name]) if isinstance(row[name], str) else row[name] for name in names}
        yield Node(number, label, {name: value for name, value in values.items() if value not in (None, "")})


def edges(result: ResultTables) -> Iterator[tuple[int, int, int]]:
    """Two authors and the number of their common documents, ordered by the numbers of the authors."""
    with _pairs(result) as rows:
        while found := rows.fetchmany(_EDGE_ROWS):
            yield from found


@contextmanager
def _pairs(result: ResultTables) -> Iterator[Any]:
    """DuckDB counts the pairs, because there may be more of them than fit into memory."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="homonym-") as folder, duckdb.connect() as connection:
        connection.execute("SET temp_directory = ?", [folder])
        connection.execute("SET threads = 2")
        connection.register("mentions", result.mentions)
        connection.execute(
            f"""CREATE TEMP TABLE written AS SELECT DISTINCT document_id, author FROM mentions
                WHERE document_id NOT IN (SELECT document_id FROM mentions WHERE document_id IS NOT NULL
                                          GROUP BY document_id HAVING count(*) > {MAX_COAUTHORS})"""
        )
        _warn_of_long_lists(connection, result)
        yield connection.execute(
            """SELECT a.author, b.author, count(*) FROM written a
               JOIN written b ON a.document_id = b.document_id AND a.author < b.author
               GROUP BY ALL ORDER BY ALL"""
        )


def _warn_of_long_lists(connection: Any, result: ResultTables) -> None:
    long = connection.execute(
        f"""SELECT count(*) FROM (SELECT document_id FROM mentions GROUP BY document_id
                                  HAVING count(*) > {MAX_COAUTHORS})"""
    ).fetchone()[0]
    if long:
        result.warnings.append(
            f"{counted(long, 'document')} with more than {MAX_COAUTHORS} authors left out of the edges of the network."
        )


def write_gexf(result: ResultTables, path: Path) -> None:
    """GEXF 1.3, for Gephi and others."""
    with open_atomic(path) as stream, etree.xmlfile(stream, encoding="UTF-8") as xml:
        xml.write_declaration()
        with xml.element("gexf", nsmap={None: _GEXF}, version="1.3"):
            xml.write(_gexf_meta())
            with xml.element("graph", defaultedgetype="undirected", mode="static"):
                with xml.element("attributes", {"class": "node"}):
                    for place, attribute in enumerate(_ATTRIBUTES):
                        _empty(xml, "attribute", id=str(place), title=attribute.name, type=attribute.gexf)
                _write_each(xml, "nodes", map(_gexf_node, nodes(result)))
                _write_each(xml, "edges", map(_gexf_edge, enumerate(edges(result))))


def _gexf_meta() -> Any:
    meta = etree.Element("meta")
    etree.SubElement(meta, "creator").text = "homonym"
    etree.SubElement(meta, "description").text = "Co-authors; the weight is the number of common documents"
    return meta


def _gexf_node(node: Node) -> Any:
    element = etree.Element("node", id=str(node.number), label=node.label)
    values = etree.SubElement(element, "attvalues")
    for place, attribute in enumerate(_ATTRIBUTES):
        if attribute.name in node.attributes:
            etree.SubElement(values, "attvalue", {"for": str(place), "value": str(node.attributes[attribute.name])})
    return element


def _gexf_edge(numbered: tuple[int, tuple[int, int, int]]) -> Any:
    number, (source, target, weight) = numbered
    return etree.Element("edge", id=str(number), source=str(source), target=str(target), weight=str(weight))


def write_graphml(result: ResultTables, path: Path) -> None:
    """GraphML, for networkx, igraph, Cytoscape and others."""
    with open_atomic(path) as stream, etree.xmlfile(stream, encoding="UTF-8") as xml:
        xml.write_declaration()
        with xml.element("graphml", nsmap={None: _GRAPHML}):
            for name, kind in (("label", "string"), *((each.name, each.graphml) for each in _ATTRIBUTES)):
                _empty(xml, "key", {"id": name, "for": "node", "attr.name": name, "attr.type": kind})
            _empty(xml, "key", {"id": "weight", "for": "edge", "attr.name": "weight", "attr.type": "int"})
            with xml.element("graph", id="coauthors", edgedefault="undirected"):
                for node in nodes(result):
                    xml.write(_graphml_node(node))
                for edge in edges(result):
                    xml.write(_graphml_edge(edge))


def _graphml_node(node: Node) -> Any:
    element = etree.Element("node", id=f"n{node.number}")
    for name, value in {"label": node.label, **node.attributes}.items():
        etree.SubElement(element, "data", key=name).text = str(value)
    return element


def _graphml_edge(edge: tuple[int, int, int]) -> Any:
    source, target, weight = edge
    element = etree.Element("edge", source=f"n{source}", target=f"n{target}")
    etree.SubElement(element, "data", key="weight").text = str(weight)
    return element


def _write_each(xml: Any, name: str, elements: Iterable[Any]) -> None:
    with xml.element(name):
        for element in elements:
            xml.write(element)


def _empty(xml: Any, name: str, attributes: dict[str, str] | None = None, **more: str) -> None:
    xml.write(etree.Element(name, {**(attributes or {}), **more}))


def write_gephi(result: ResultTables, folder: Path) -> None:
    """Two CSV files as Gephi imports them: nodes and edges."""
    columns = [attribute.name for attribute in _ATTRIBUTES]
    _write_csv(
        folder / NODES,
        ["Id", "Label", *columns],
        ([node.number, node.label, *map(node.attributes.get, columns)] for node in nodes(result)),
    )
    _write_csv(
        folder / EDGES,
        ["Source", "Target", "Type", "Weight"],
        ([source, target, "Undirected", weight] for source, target, weight in edges(result)),
    )


def _write_csv(path: Path, columns: list[str], rows: Iterable[list[Any]]) -> None:
    with path.open("wb") as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([protected(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
