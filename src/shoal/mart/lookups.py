"""Lookups of derived columns: a mapping in the catalog, or a CSV file of two columns.

A file has no header; its cells are separated by ';' unless the catalog says otherwise, in UTF-8.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shoal.definition.hierarchies.listed import near_files
from shoal.definition.scalars import Wrong, shown, text_of

ENTRIES = "entries"
"""The key of the long form of a lookup: `{entries: {colon: C18}}`."""
_KEYS_OF_A_FILE = {"path", "delimiter"}


class Lookup(dict[str, str]):
    """A lookup from text to text; `path` is the file that it was read from, if any."""

    path: Path | None = None


def lookup_of(given: Any, folder: Path) -> Lookup:
    """The lookup that a catalog writes inline or as a path; Wrong if it cannot be read."""
    if isinstance(given, str):
        given = {"path": given}
    if not isinstance(given, Mapping) or not given:
        raise Wrong(
            f"{shown(given)} is no lookup",
            "write `{colon: C18, heart: I25}`, or a file of two columns such as `icd.csv`",
        )
    if is_file(given):
        return _from_file(folder / str(given["path"]), str(given.get("delimiter", ";")))
    entries = given.get(ENTRIES)
    entries = entries if given.keys() == {ENTRIES} and isinstance(entries, Mapping) else given
    return Lookup({text_of(key): text_of(value) for key, value in entries.items()})


def is_file(given: Mapping[str, Any]) -> bool:
    """Whether a mapping in the place of a lookup means a file."""
    return "path" in given and given.keys() <= _KEYS_OF_A_FILE


def _from_file(path: Path, delimiter: str) -> Lookup:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except FileNotFoundError:
        raise Wrong(f"there is no file {str(path)!r}", near_files(path)) from None
    except OSError as error:
        what = f"{str(path)!r} cannot be read ({error.strerror})"
        raise Wrong(what, "check who may read the file") from None
    except UnicodeDecodeError:
        raise Wrong(f"{str(path)!r} is not UTF-8", "save it as UTF-8") from None
    except TypeError:
        what = f"{shown(delimiter)} is not a delimiter"
        raise Wrong(what, 'write one character, such as ","') from None
    except csv.Error as error:
        what = f"{str(path)!r} cannot be read: {error}"
        raise Wrong(what, 'close every quote, and write a quote inside quotes twice: ""') from None
    lookup = _of_rows(path, rows)
    lookup.path = path
    return lookup


def _of_rows(path: Path, rows: Iterable[list[str]]) -> Lookup:
    lookup = Lookup()
    for number, row in enumerate(rows, 1):
        if not row:
            continue
        if len(row) != 2:
            what = f"row {number} of {path.name} has {len(row)} cells, not 2"
            raise Wrong(what, "write `value;result`, or name the file's `delimiter`")
        if lookup.setdefault(row[0], row[1]) != row[1]:
            what = f"row {number} of {path.name} gives a value a second result"
            raise Wrong(what, "keep one row for each value")
    if not lookup:
        raise Wrong(f"{path.name} has no rows", "write `value;result` for each value")
    return lookup
