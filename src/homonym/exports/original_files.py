"""Rewrites original files: the names of authors become labels, ids of the result are added, the rest stays.

So fields that homonym does not keep, such as volumes, pages and references, are not lost. The reader of its format
splits a file, and a record is found in the result by the id that it had in the run (`record_ids`). A record stays
unchanged, and is counted, if it is not found or if not every name in its list of authors is understood.
"""

from __future__ import annotations

import codecs
import mmap
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from anyascii import anyascii

from homonym.errors import InputError, counted
from homonym.exports.author_fields import EDITORS, Edit, Editor, IdentifiedRecord, same_name
from homonym.exports.reference_files import READERS, WrittenIds
from homonym.exports.result_tables import ExportedDocument, ExportedMention, KnownDocument, Person, ResultTables
from homonym.io.archives import is_archive
from homonym.io.inputs import Source
from homonym.io.outputs import open_atomic
from homonym.names.compatibility import compatible
from homonym.names.parse import parse_name
from homonym.records.model import Document
from homonym.records.parsing.splitting import Raw, is_western
from homonym.records.reader import Format, Records, detect_format, parse_raw_record

# Maximum number of bytes between two records.
LONGEST_GAP = 1 << 22


def rewrite_files(result: ResultTables, to: str, originals: Sequence[Path], outputs: Sequence[Path]) -> int:
    """Write each of the original files to its output, with the labels and ids of the result.

    Returns the number of records that were rewritten.
    """
    known = _known_documents(result, to, originals)
    counts: Counter[str] = Counter()
    ids = WrittenIds(READERS[to])
    rewriter = _Rewriter(result, to, known, ids, counts)
    for path, output in zip(originals, outputs, strict=True):
        with _opened(path, to) as original, open_atomic(output) as stream:
            rewriter.rewrite(original, stream)
    _warn(result, counts)
    ids.warn(result)
    return counts["rewritten"]


def require_originals(originals: Sequence[Path], to: str) -> None:
    """Fail if a file is not of the format that is to be written."""
    if to not in EDITORS:
        raise InputError(
            f"--to {to} is made of the result alone; original files can be given for {', '.join(EDITORS)} only."
        )
    for path in originals:
        if is_archive(path):
            raise InputError(f"{path} is an archive; extract it and name its files.")
        with Source(path) as source:
            found = detect_format(source)
        if found is None or found.name != to:
            what = found.title if found else "in no known format"
            raise InputError(f"{path} is {what}: --to {to} rewrites only files of the same format.")


class _Original(NamedTuple):
    """A file that is rewritten: its bytes as UTF-8, or as they are, without byte order mark."""

    name: str
    data: mmap.mmap
    has_mark: bool
    form: Format
    records: Records

    def readings(self) -> Iterator[tuple[Raw, Document | None, bool]]:
        """Each raw record, with its document if there is one, and whether it is broken."""
        for raw in self.records.raws:
            found = parse_raw_record(raw, self.form, self.records.context, self.name, self.records.unit)
            yield raw, found.document, bool(found.document is None and found.problems)


@contextmanager
def _opened(path: Path, to: str) -> Iterator[_Original]:
    """Open a file through an uncompressed copy, so that files of any size can be searched."""
    with tempfile.NamedTemporaryFile(prefix="homonym-", suffix=".original") as copy:
        with Source(path) as source:
            form, has_mark = detect_format(source, [to]), source.has_mark
            copy.writelines(source.unchanged_blocks())
        copy.flush()
        if form is None:
            raise InputError(f"{path} was changed while it was read; try again.")
        with mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ) as data, Source(Path(copy.name)) as plain:
            detect_format(plain, [to])
            yield _Original(str(path), data, has_mark, form, form.open(plain, {}))


def _known_documents(result: ResultTables, to: str, originals: Sequence[Path]) -> dict[str, list[KnownDocument]]:
    """The documents of the result that records of the files may describe, by record id."""
    wanted: set[str] = set()
    for path in originals:
        with _opened(path, to) as original:
            wanted.update(document.id for _, document, _ in original.readings() if document)
    return result.documents_of_records(wanted)


class _Rewriter:
    """Rewrites files of one format; `counts` gets the number of records by what happened to them."""

    def __init__(
        self,
        result: ResultTables,
        to: str,
        known: Mapping[str, list[KnownDocument]],
        ids: WrittenIds,
        counts: Counter[str],
    ) -> None:
        self._result, self._known, self._ids, self._counts = result, known, ids, counts
        self._editor: Editor = EDITORS[to]

    def rewrite(self, original: _Original, output: IO[bytes]) -> None:
        """Copy a file with new author fields."""
        data, place, gap = original.data, 0, LONGEST_GAP
        output.write(codecs.BOM_UTF8 if original.has_mark else b"")
        for raw, document, is_broken in original.readings():
            begin, text = self._locate(data, raw, place, gap)
            gap = len(data) if raw.broken else LONGEST_GAP
            if begin < 0:
                self._counts["lost"] += document is not None
                continue
            output.write(data[place:begin])
            output.write(text if is_broken else self._rewritten(text, document, original.records.context))
            place = begin + len(text)
        output.write(data[place:])

    def _locate(self, data: mmap.mmap, raw: Raw, place: int, gap: int) -> tuple[int, bytes]:
        """The position of a raw record in its file, and its bytes there; −1 if the reader changed the record."""
        for text in self._editor.candidates(raw.text):
            begin = data.find(text, place, place + len(text) + gap)
            if text and begin >= 0:
                return begin, text
        return -1, b""

    def _rewritten(self, text: bytes, document: Document | None, context: object) -> bytes:
        plain = text.decode("latin-1")  # one character per byte, so that places are those of the file
        if document is None:
            edits = self._editor.frame_edits(plain, context)
        else:
            record = self._identified(document)
            found = self._editor.edits(plain, record, context) if record else None
            self._counts["authors"] += record is not None and found is None
            self._counts["rewritten"] += found is not None
            edits = found if found is not None else self._editor.other_edits(plain, context)
        return _edited(text, edits)

    def _identified(self, document: Document) -> IdentifiedRecord | None:
        """The record with the authors of the result; None if the result lacks it or has other authors for it."""
        candidates = self._known.get(document.id, [])
        if len(candidates) > 1:
            candidates = [one for one in candidates if one.title == document.title]
        people = [found for one in candidates if (found := self._people(document, one)) is not None]
        if len(people) != 1:
            self._counts["unknown" if not candidates else "ambiguous"] += 1
            return None
        (known, authors) = people[0]
        mentions = [
            ExportedMention(author, person)
            for author, person in zip(document.authors, authors, strict=True)
            if person is not None
        ]
        written = self._ids.of(ExportedDocument(document, mentions))
        return IdentifiedRecord(known.document_id, [author.name for author in document.authors], authors, written)

    def _people(self, document: Document, known: KnownDocument) -> tuple[KnownDocument, list[Person | None]] | None:
        """The person of each author of a record; None if the document of the result has other authors."""
        if len(document.authors) != len(known.names):
            return None
        numbers, people = self._result.authors_of(known.document_id), list[Person | None]()
        for author, (position, name) in zip(document.authors, known.names, strict=True):
            if not same_name(author.name, name) and not compatible(parse_name(author.name), parse_name(name)):
                return None
            people.append(self._result.person(numbers[position]) if position in numbers else None)
        return known, people


def _edited(text: bytes, edits: Sequence[Edit]) -> bytes:
    """The text with new parts in some places, in the encoding of the text."""
    western, place, parts = is_western(text), 0, list[bytes]()
    for edit in sorted(edits):
        parts += [text[place : edit.begin], _encoded(edit.text, western=western)]
        place = edit.end
    return b"".join([*parts, text[place:]])


def _encoded(text: str, *, western: bool) -> bytes:
    if not western:
        return text.encode()
    try:
        return text.encode("cp1252")
    except UnicodeEncodeError:
        return anyascii(text).encode()


def _warn(result: ResultTables, counts: Counter[str]) -> None:
    reasons = {
        "unknown": "no document of the result has the id",
        "ambiguous": "the document of the result has other authors, or there are several with the id",
        "authors": "the list of authors is written in an unusual way",
        "lost": "the record could not be found in the file again",
    }
    for reason, text in reasons.items():
        if counts[reason]:
            result.warnings.append(f"{counted(counts[reason], 'record')} kept without change: {text}.")
