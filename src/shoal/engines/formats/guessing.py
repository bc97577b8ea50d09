"""How a file is to be read, guessed from a part of it: each guess with its reason and the others.

`guess_reading` never refuses: what cannot be read at all is the `problem` of the reading. Reasons
quote no value of the data but spellings of missing values, which are well known or frequent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shoal import plugins
from shoal.engines.formats.csv import (
    SAMPLE,
    checked_encoding,
    delimiter_in,
    quote_in,
    rows_above,
    rows_in,
    whole_lines,
)
from shoal.engines.formats.decimals import Decimals
from shoal.engines.formats.encodings import ALTERNATIVES, guess_encoding
from shoal.engines.formats.file_kind import FORMATS, file_kind, kind_by_ending, no_table
from shoal.engines.formats.samples import (
    Columns,
    Sheet,
    cells_by_column,
    columns_of_batches,
    columns_of_json,
    columns_of_parquet,
    first_bytes,
    rows_further_down,
    sheets_of,
    text_of,
)
from shoal.engines.formats.table_form import Row, decimal_mark, filled, names_row
from shoal.errors import BadData, UserError
from shoal.spellings import Spelling, missing_spellings

DELIMITERS = (",", ";", "\t", "|")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Guess:
    """One thing about a file: its value, why, what else it could be, and whether it was stated."""

    key: str
    value: Any
    reason: str
    alternatives: tuple[Any, ...] = ()
    stated: bool = False


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; `problem` says why it cannot be.

    `format` is empty where it is not known. `defaults` are the guesses that a reader makes by
    itself, which a definition need not state.
    """

    format: str
    guesses: tuple[Guess, ...] = ()
    sheets: tuple[str, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    problem: UserError | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts that seem to mean that a value is missing."""
        return tuple(spelling.text for spelling in self.spellings)

    def guess(self, key: str) -> Guess | None:
        """The guess of a key, where there is one."""
        return next((each for each in self.guesses if each.key == key), None)

    def source(self) -> dict[str, Any]:
        """The keys of a definition's source beside its path: those without which it is misread."""
        found: dict[str, Any] = {}
        for each in self.guesses:
            needed = each.stated or each.value != self.defaults.get(each.key, each.value)
            if needed and each.value is not None and each.key not in ("missing", "sheet"):
                found[each.key] = each.value
            if needed and each.key == "sheet":
                found["options"] = {"sheet": each.value}
        delimiter = self.guess("delimiter")
        if found and delimiter is not None and delimiter.value != ",":
            found.setdefault("delimiter", delimiter.value)
        return found

    def to_json(self) -> dict[str, Any]:
        """All of it in plain values."""
        problem = self.problem
        return {
            "format": self.format,
            "guesses": [
                {
                    "key": each.key,
                    "value": list(each.value) if isinstance(each.value, tuple) else each.value,
                    "reason": each.reason,
                    "alternatives": list(each.alternatives),
                    "stated": each.stated,
                }
                for each in self.guesses
            ],
            "sheets": list(self.sheets),
            "missing": [{"text": s.text, "reason": s.reason} for s in self.spellings],
            "source": self.source(),
            "problem": None
            if problem is None
            else {"code": problem.code, "what": problem.what, "hint": problem.hint},
        }


@dataclass(frozen=True)
class File:
    """A file that is looked at: samples of its bytes, its format, and what was stated."""

    path: Path
    name: Path
    samples: Sequence[bytes]
    kind: Guess
    stated: Mapping[str, Any]

    def has_stated(self, key: str, alternatives: Sequence[Any] = ()) -> Guess | None:
        """What was stated of a key, as a guess that is none."""
        if self.stated.get(key) is None:
            return None
        value = self.stated[key]
        return Guess(key, value, "You stated it.", tuple(alternatives), stated=True)

    def defaults(self, **guessed: Any) -> dict[str, Any]:
        """What a reader assumes by itself."""
        return {"format": kind_by_ending(self.name), "decimal": None, **guessed}


def guess_reading(path: Path, name: str = "", stated: Mapping[str, Any] = _NOTHING) -> Reading:
    """How the file at a path, called `name` by its owner, is to be read.

    `stated` is what the owner has decided: format, delimiter, quote, encoding, decimal, header,
    sheet. It is taken as it is, and the rest is guessed to fit. A part of the file is read.
    """
    shown = Path(name or path.name)
    try:
        samples = first_bytes(path)
        if not samples[0]:
            raise BadData(
                f"{shown} is empty", code="empty-file", hint="check that it is the right file"
            )
        kind = _format(path, shown, samples[0], stated)
        file = File(path, shown, samples, kind, stated)
        match kind.value:
            case "csv":
                return _csv(file)
            case "excel":
                return _excel(file)
        return _others(file)
    except UserError as error:
        return Reading("", problem=error)
    except Exception:  # any damage of a file of any format
        return Reading("", problem=no_table(shown))


def _format(path: Path, name: Path, head: bytes, stated: Mapping[str, Any]) -> Guess:
    if stated.get("format"):
        return Guess("format", str(stated["format"]), "You stated it.", FORMATS, stated=True)
    found = file_kind(path, name, head)
    return Guess("format", found.name, found.reason, FORMATS)


def _csv(file: File) -> Reading:
    """Encoding, quote, delimiter, row of the names, decimal mark, in this order."""
    encoding = _encoding(file)
    text = text_of(file.samples, str(encoding.value))
    begin = whole_lines(text[:SAMPLE]) if len(text) > SAMPLE else text
    quote = file.has_stated("quote", ('"', "'", "")) or _quote(begin, file)
    delimiter = file.has_stated("delimiter", DELIMITERS) or _delimiter(begin, quote.value, file)
    character = {"tab": "\t", "\\t": "\t"}.get(delimiter.value, delimiter.value)
    rows: list[Row] = [*rows_in(text, character, quote.value)]
    header = _header(rows, file)
    above = rows_above(header.value)
    names = next((row for row in rows[above:] if filled(row)), ())
    records = [row for row in rows[above:] if filled(row)][header.value is not False :]
    if not str(encoding.value).startswith("utf-16"):
        records += rows_further_down(file.samples, str(encoding.value), character, quote.value)
    columns = cells_by_column(records, names)
    decimal = _decimal(columns, file)
    spellings = missing_spellings(_as_read(columns, columns, decimal.value))
    defaults = file.defaults(
        encoding=encoding.value if _needs_no_key(str(encoding.value), file) else "utf-8",
        quote=quote_in(begin, above),
        delimiter=delimiter_in(begin, quote.value, above),
        header=True if above else header.value,
    )
    guesses = (file.kind, encoding, delimiter, quote, header, decimal, _missing(spellings))
    return Reading("csv", guesses, spellings=spellings, defaults=defaults)


def _encoding(file: File) -> Guess:
    found = file.has_stated("encoding", ALTERNATIVES)
    if found is not None:
        checked_encoding(file.name, str(found.value))
        return found
    guessed = guess_encoding(file.samples)
    if guessed.name is None:
        raise no_table(file.name)
    return Guess("encoding", guessed.name, guessed.reason, ALTERNATIVES)


def _needs_no_key(encoding: str, file: File) -> bool:
    """Whether a reader finds the encoding by itself: UTF-8, and UTF-16 by its mark."""
    return encoding == "utf-8" or (
        encoding == "utf-16" and file.samples[0].startswith((b"\xff\xfe", b"\xfe\xff"))
    )


def _quote(text: str, file: File) -> Guess:
    above = rows_above(file.stated.get("header"))
    reason = "It is the usual one, or every name is in it."
    return Guess("quote", quote_in(text, above), reason, ('"', "'", ""))


def _delimiter(text: str, quote: str, file: File) -> Guess:
    """The delimiter that leaves most rows as wide as the names, wherever these are."""

    def fit(delimiter: str) -> tuple[float, int]:
        rows = rows_in(text, delimiter, quote)
        header = _header(rows, file)
        above = rows_above(header.value)
        table = [row for row in rows[above:] if row]
        width = len(table[0]) if table else 0
        same = sum(len(row) == width for row in table)
        every = sum(1 for row in rows if row)
        return (same / every, width) if width > 1 else (0.0, 0)

    fits = {each: fit(each) for each in DELIMITERS}
    found = max(DELIMITERS, key=fits.__getitem__)
    reason = "It splits the rows into the same number of cells."
    if fits[found] == (0.0, 0):
        reason = "No character splits the rows, so there is one column."
    return Guess("delimiter", found, reason, DELIMITERS)


def _header(rows: Sequence[Row], file: File) -> Guess:
    found = names_row(rows)
    likely = [i + 1 for i, row in enumerate(rows[:10]) if filled(row) > 1]
    others = (*(True if row == 1 else row for row in likely), False)
    if file.stated.get("header") is not None:
        return Guess("header", file.stated["header"], "You stated it.", others, stated=True)
    return Guess("header", found.header, found.reason, others)


def _decimal(texts: Columns, file: File) -> Guess:
    """The decimal mark of cells that are text."""
    found = decimal_mark(
        {text: number for text, number in counts.items() if text} for counts in texts.values()
    )
    stated = file.has_stated("decimal", (",", "."))
    return stated or Guess("decimal", found.mark, found.reason, (None, ",", "."))


def _as_read(columns: Columns, texts: Columns, mark: str | None) -> Columns:
    """The cells as they are read with a decimal mark, which changes cells with text alone."""
    if mark is None:
        return columns
    decimals = Decimals(mark)
    found: dict[str, dict[str | None, int]] = {}
    for name, counts in columns.items():
        changed: dict[str | None, int] = {}
        for text, number in counts.items():
            is_text = text is not None and text in texts.get(name, ())
            read = decimals.canonical(text) if text and is_text else text
            changed[read] = changed.get(read, 0) + number
        found[name] = changed
    return found


def _missing(spellings: Sequence[Spelling]) -> Guess:
    texts = tuple(each.text for each in spellings)
    found = "1 text seems" if len(texts) == 1 else f"{len(texts) or 'No'} texts seem"
    return Guess("missing", texts, f"{found} to mean that a value is missing.")


def _excel(file: File) -> Reading:
    """Sheet, row of the names, decimal mark of the cells with text."""
    choice: list[Guess] = []

    def choose(sheets: Sequence[Sheet]) -> str:
        choice.append(_sheet_choice(sheets, file))
        return str(choice[0].value)

    sheets = sheets_of(file.path, choose)
    found = next((each for each in sheets if each.name == choice[0].value), None)
    rows = found.texts() if found is not None else []
    header = _header(rows, file)
    if header.value is False and not header.stated:
        reason = "Workbooks have names in the first row, unless you state otherwise."
        header = Guess("header", True, reason, header.alternatives)
    above = rows_above(header.value)
    names = next((row for row in rows[above:] if filled(row)), ())
    begin = above + (header.value is not False)
    columns = cells_by_column(_of_width(rows[begin:], len(names)), names)
    only = found.only_texts() if found is not None else []
    texts = cells_by_column(_of_width(only[begin:], len(names)), names)
    decimal = _decimal(texts, file)
    spellings = missing_spellings(_as_read(columns, texts, decimal.value))
    names_of_sheets = tuple(each.name for each in sheets)
    defaults = file.defaults(sheet=next(iter(names_of_sheets), None), header=True)
    guesses = (file.kind, choice[0], header, decimal, _missing(spellings))
    return Reading("excel", guesses, names_of_sheets, spellings, defaults=defaults)


def _of_width(rows: Sequence[Row], width: int) -> list[Row]:
    """Rows of a sheet, which end with their last cell, as wide as the names."""
    return [[*row[:width], *[None] * (width - len(row))] for row in rows]


def _sheet_choice(sheets: Sequence[Sheet], file: File) -> Guess:
    """The first sheet that is shown and about as full as the fullest."""
    names = tuple(each.name for each in sheets)
    stated = file.has_stated("sheet", names)
    if stated is not None or not sheets:
        return stated or Guess("sheet", None, "The workbook has no sheet.")
    shown = [each for each in sheets if each.is_shown] or list(sheets)
    most = max(each.cells for each in shown)
    found = next(each for each in shown if each.cells >= most / 2)
    reason = "It is the first sheet." if found is sheets[0] else "It has the largest table."
    return Guess("sheet", found.name, reason, names)


def _others(file: File) -> Reading:
    """Formats that say themselves what their names and numbers are; missing values are guessed."""
    columns: Columns = {}
    match file.kind.value:
        case "json":
            columns = columns_of_json(file.samples[0].decode("utf-8", errors="replace"))
        case "parquet":
            columns = columns_of_parquet(file.path)
        case "xml":
            columns = columns_of_batches(plugins.ready("reader", "xml").read(file.path, {}))
    spellings = missing_spellings(columns)
    guesses = (file.kind, _missing(spellings))
    return Reading(str(file.kind.value), guesses, spellings=spellings, defaults=file.defaults())
