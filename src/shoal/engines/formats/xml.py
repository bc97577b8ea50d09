"""Records in XML: one element each, its fields as elements or attributes; read and written.

Nothing outside the file is ever read, nothing is expanded, and no more than one record and a
few kilobytes are in memory: a document type is refused before anything is parsed, and so is a
record that does not end.

Names of columns become names of XML by the escapes of SQL/XML. A character that an XML name cannot
have at its position becomes `_xHHHH_`, its code point in four or six hexadecimal digits; so does an
underscore before an x, and the first letter of a name that begins with xml, which XML keeps for
itself. Every name has one spelling, and each reads back.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

import pyarrow as pa

from shoal.engines.formats.registry import BATCH
from shoal.errors import BadData, BadOutput

_LETTER = (
    "_A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_FIRST = re.compile(f"[{_LETTER}]")
_OTHER = re.compile(f"[{_LETTER}\\-.0-9\u00b7\u0300-\u036f\u203f\u2040]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4}|[0-9A-Fa-f]{6})_")


def to_xml_name(name: str) -> str:
    """A name of a column as an XML name without a prefix."""
    reserved = name[:3].lower() == "xml"
    return "".join(
        character if _is_allowed(name, index, reserved=reserved) else _escaped(character)
        for index, character in enumerate(name)
    )


def from_xml_name(name: str) -> str:
    """The name of the column; of a foreign name its local part, with its escapes read."""
    local = name.rpartition("}")[2]
    return _ESCAPE.sub(_read, local) if "_x" in local else local


def _is_allowed(name: str, index: int, *, reserved: bool) -> bool:
    if index == 0 and (reserved or not _FIRST.match(name[0])):
        return False
    begins_escape = name[index] == "_" and name[index + 1 : index + 2] == "x"
    return bool(_OTHER.match(name[index])) and not begins_escape


def _escaped(character: str) -> str:
    code = ord(character)
    return f"_x{code:04X}_" if code < 0x10000 else f"_x{code:06X}_"


def _read(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else escape[0]


CHUNK = 1 << 16
PIECE = 1 << 8
SAFE: Mapping[str, bool] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
"""Options by which the parser reads nothing but the file and expands nothing."""
LARGEST_RECORD = 1 << 25
"""More bytes than a record has; without a bound, one that does not end would fill the memory."""
MOST_FIELDS = 10_000
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
XINCLUDE = "{http://www.w3.org/2001/XInclude}"
FIELDS = ("elements", "attributes")

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_QUOTED = _TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class XmlReader:
    """XML: an element for each record, its fields as elements or attributes."""

    endings = (".xml",)
    takes = ("row", "fields")

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Two passes: the first finds the names of all fields, since a record may lack some."""
        return self._read(path, options, stored=False)

    def read_stored(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The same, but a field that is empty is not one that is absent or nil.

        In a file of attributes every record of a release has every field, so an empty one is
        missing there unless other records lack the field.
        """
        return self._read(path, options, stored=True)

    def _read(
        self, path: Path, options: Mapping[str, str], *, stored: bool
    ) -> Iterator[pa.RecordBatch]:
        _check_options(options, path, BadData)
        rows = _Rows(path, options.get("row"), options.get("fields"), stored=stored)
        names: Counter[str] = Counter()
        records = 0
        for record in rows:
            names.update(record.keys())
            records += 1
        everywhere = {name for name, number in names.items() if number == records}
        empty_is_missing = everywhere if options.get("fields") == "attributes" else set()
        schema = pa.schema([(name, pa.string()) for name in names])
        batch: list[dict[str, str | None]] = []
        for record in rows:
            for name in empty_is_missing:
                record[name] = record[name] or None
            batch.append(record)
            if len(batch) == BATCH:
                yield _batch(batch, schema)
                batch = []
        if batch:
            yield _batch(batch, schema)


def _batch(records: list[dict[str, str | None]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        pa.array([record.get(name) for record in records], pa.string()) for name in schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class _Rows:
    """The records of a file as mappings; every iteration reads the file once."""

    def __init__(
        self, path: Path, row: str | None, fields: str | None, *, stored: bool = False
    ) -> None:
        self._path = path
        self._stored = stored
        self._fields = fields
        self._is_stated = row is not None
        self._row = row

    def __iter__(self) -> Iterator[dict[str, str | None]]:
        from lxml import etree

        _refuse_doctype(self._path)
        try:
            self._row = _first_child(self._path) if not self._is_stated else self._row
            yield from self._parsed(etree)
        except etree.XMLSyntaxError as error:
            self._refuse(
                f"is not XML that can be read near line {error.lineno}",
                "check that the file is whole",
            )

    def _parsed(self, etree: Any) -> Iterator[dict[str, str | None]]:
        """Fed piece by piece; after each record all that came before it is forgotten."""
        parser = etree.XMLPullParser(events=("end",), tag=f"{{*}}{self._row or 'none'}", **SAFE)
        since = 0
        with self._path.open("rb") as file:
            while chunk := file.read(CHUNK):
                parser.feed(chunk)
                since += len(chunk)
                for _, element in parser.read_events():
                    since = 0
                    if self._is_record(element):
                        yield self._record(element)
                        self._forget(element)
                if since > LARGEST_RECORD:
                    self._refuse(
                        f"has no end of a record within {LARGEST_RECORD >> 20} MB",
                        "say which element is a record: options: {row: patient}",
                    )
        root = parser.close()
        if not self._is_stated:
            for child in root:
                self._check_sibling(child)

    def _is_record(self, element: Any) -> bool:
        """Whether it is a record of its own: a child of the root, or the outermost of its name."""
        parent = element.getparent()
        if not self._is_stated:
            return parent is not None and parent.getparent() is None
        return all(_local(above) != self._row for above in element.iterancestors())

    def _record(self, element: Any) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        if self._fields != "elements":
            for key, value in element.attrib.items():
                if not key.startswith("{"):
                    found[from_xml_name(key)] = value
        if self._fields != "attributes":
            self._add_elements(element, found)
        if len(found) > MOST_FIELDS:
            self._refuse(
                f"has a record of {len(found):,} fields, from line {element.sourceline}",
                "say which element is a record: options: {row: patient}",
            )
        return found

    def _add_elements(self, element: Any, found: dict[str, str | None]) -> None:
        if _is_more_than_blank(element.text):
            self._refuse(
                f"has text beside the fields of a record, in line {element.sourceline}",
                "each value needs an element or an attribute of its own",
            )
        for child in element:
            name = self._field_name(child)
            if name in found:
                self._refuse(
                    f"has the field {name!r} twice in the record of line {element.sourceline}",
                    "give each field a name of its own, or say fields: elements or attributes",
                )
            text = child.text or ("" if self._stored else None)
            found[name] = None if child.get(NIL) in ("true", "1") else text

    def _field_name(self, child: Any) -> str:
        """The name of a field that holds text alone."""
        if not isinstance(child.tag, str) or child.tag.startswith(XINCLUDE):
            what = "uses an entity" if not isinstance(child.tag, str) else "includes another file"
            self._refuse(f"{what}, in line {child.sourceline}", "write out what it means")
        if len(child) or _is_more_than_blank(child.tail):
            self._refuse(
                f"has more than text in a field, in line {child.sourceline}",
                "a record is flat: say which element is a record, as options: {row: patient}",
            )
        return from_xml_name(child.tag)

    def _forget(self, element: Any) -> None:
        element.clear()
        for above in (element, *element.iterancestors()):
            while (before := above.getprevious()) is not None:
                if not self._is_stated:
                    self._check_sibling(before)
                above.getparent().remove(before)

    def _check_sibling(self, child: Any) -> None:
        """Without a stated name, every child of the root is a record."""
        if not isinstance(child.tag, str) or _local(child) != self._row:
            self._refuse(
                f"has different elements under its root, in line {child.sourceline}",
                "say which of them is a record: options: {row: patient}",
            )

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise BadData(f"{self._path} {what}", code="unreadable-xml", hint=hint)


def _is_more_than_blank(text: str | None) -> bool:
    return bool(text and text.strip())


def _local(element: Any) -> str:
    """The name of an element without its namespace."""
    return str(element.tag.rpartition("}")[2])


def _check_options(
    options: Mapping[str, str], path: Path, error: type[BadData] | type[BadOutput]
) -> None:
    row, fields = options.get("row", "record"), options.get("fields", FIELDS[0])
    if fields not in FIELDS:
        raise error(
            f"fields: {fields!r} is no way to hold the fields of {path}",
            code="unknown-option",
            hint="write elements or attributes",
        )
    if not row or to_xml_name(row) != row:
        raise error(
            f"row: {row!r} is no name of an element of {path}",
            code="unknown-option",
            hint="write a name such as patient, without a prefix",
        )


def _refuse_doctype(path: Path) -> None:
    """Stop at a document type: entities and files that it names are never read.

    Only what precedes the root is read, by a parser of its own. It knows fewer names than the
    one that reads the records, so what it cannot read says nothing.
    """
    doctypes: list[str] = []
    elements: list[str] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda name, *_: doctypes.append(name)
    parser.StartElementHandler = lambda name, _: elements.append(name)
    with path.open("rb") as file, contextlib.suppress(expat.ExpatError, LookupError, ValueError):
        while not doctypes and not elements and (chunk := file.read(PIECE)):
            parser.Parse(chunk, False)
    if doctypes:
        raise _doctype(path)


def _first_child(path: Path) -> str | None:
    """The name of the first element under the root, None where there is none."""
    from lxml import etree

    parser = etree.XMLPullParser(events=("start",), **SAFE)
    names: list[str] = []
    with path.open("rb") as file:
        while len(names) < 2 and (chunk := file.read(PIECE)):
            parser.feed(chunk)
            for _, element in parser.read_events():
                if element.getroottree().docinfo.doctype:
                    raise _doctype(path)
                names.append(_local(element))
    return names[1] if len(names) > 1 else None


def _doctype(path: Path) -> BadData:
    return BadData(
        f"{path} has a document type, which could bring in entities and other files",
        code="unreadable-xml",
        hint="remove the DOCTYPE, and write entities out",
    )


class XmlWriter:
    """XML: an element for each record, its fields as elements or attributes."""

    endings = (".xml",)
    takes = ("row", "fields")

    def write(self, batches: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
        """A line for each record.

        A missing attribute is empty. A missing element is left out, but the first record has all.
        """
        names = batches.schema.names
        tags = [to_xml_name(name) for name in names]
        _check_options(options, path, BadOutput)
        row, as_attributes = options.get("row", "record"), options.get("fields") == "attributes"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
            file.write('<records xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n')
            is_first = True
            for batch in batches:
                columns = [
                    _checked(column.to_pylist(), name)
                    for column, name in zip(batch.columns, names, strict=True)
                ]
                for values in zip(*columns, strict=True):
                    fields = zip(tags, values, strict=True)
                    line = (
                        _attributes(row, fields)
                        if as_attributes
                        else _elements(row, fields, whole=is_first)
                    )
                    file.write(line)
                    is_first = False
            file.write("</records>\n")


def _checked(values: list[str | None], name: str) -> list[str | None]:
    for value in values:
        if value is not None and (found := _NOT_IN_XML.search(value)):
            raise BadOutput(
                f"XML cannot hold the character U+{ord(found[0]):04X}, which {name!r} has",
                code="not-in-xml",
                hint="write CSV, JSON or Parquet, or remove such characters",
            )
    return values


def _elements(row: str, fields: Any, *, whole: bool) -> str:
    texts = "".join(
        f"<{tag}>{value.translate(_TEXT)}</{tag}>"
        if value is not None
        else f'<{tag} xsi:nil="true"/>' * whole
        for tag, value in fields
    )
    return f"  <{row}>{texts}</{row}>\n"


def _attributes(row: str, fields: Any) -> str:
    texts = "".join(f' {tag}="{(value or "").translate(_QUOTED)}"' for tag, value in fields)
    return f"  <{row}{texts}/>\n"
