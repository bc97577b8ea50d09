"""What an engine does for Shoal: count where the data is, recode where the data is.

An engine never hands out records, only distinct combinations with their counts. Values travel as
text: what a column's value looks like when cast to text is what is compared, generalized and
released. A missing value travels as null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


COUNT = "#records"
"""The name of the counts in a table of `count_by`, where no data column has it already."""


@dataclass(frozen=True)
class FileOptions:
    """A path or glob to read, and what sniffing should not decide."""

    path: str
    format: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class FileTarget:
    """A file to write: csv, parquet or json by `format`, else by the ending of the path."""

    path: Path
    format: str | None = None
    delimiter: str = ","


@dataclass(frozen=True)
class Column:
    """A column of a source: its name and whether the engine stores it as text."""

    name: str
    is_text: bool


@dataclass(frozen=True)
class Generalization:
    """What each value of a column becomes: `values[i]` becomes `labels[i]`.

    Values are distinct. None as a whole (`values` empty) means unchanged. `missing` is what a
    missing value becomes, None for missing still. A value that is not listed is an error, never a
    null.
    """

    values: tuple[str, ...]
    labels: tuple[str, ...]
    missing: str | None = None


@dataclass(frozen=True)
class Recoding:
    """A release, told to an engine.

    `columns` are released, in this order. A record passes only when its generalized
    quasi-identifiers (the keys of `generalized`, in order) stand in `classes`, a table of label
    columns of the same names: a list of what may pass, so that a record nobody judged stays out.
    With `mark` the others stay too, with every column of `blanked` null. `complete` leaves out the
    records with a missing quasi-identifier altogether.
    """

    columns: tuple[str, ...]
    generalized: Mapping[str, Generalization]
    classes: pa.Table
    blanked: tuple[str, ...]
    missing: tuple[str, ...] = ()
    mark: bool = False
    complete: bool = False


class Source(Protocol):
    """A table an engine can count and recode."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order; an error for no columns or a name that stands twice."""

    def count_by(self, columns: Sequence[str], missing: Sequence[str] = ()) -> pa.Table:
        """Distinct combinations as text columns of these names, and a last column of counts.

        Empty text and the `missing` texts become null. The rows come in no particular order. The
        last column is called COUNT, with underscores added where a data column has that name. No
        columns: one row, the number of records.
        """

    def recode_into(self, recoding: Recoding, target: FileTarget | None) -> Staged:
        """Write the recoded table, ordered by all released columns, where nobody sees it yet.

        Without a target it is staged in memory, as an Arrow table.
        """

    def fingerprint(self) -> str | None:
        """SHA-256 of the bytes read where the source is a file, else None."""

    def close(self) -> None:
        """Give back connections and temporary files."""


class Staged(Protocol):
    """A written output that nobody can see yet."""

    def source(self) -> Source:
        """The staged output, to be counted afresh."""

    def publish(self) -> str:
        """Put it in place of what was there, in one step; returns where."""

    def discard(self) -> None:
        """Remove it; the old output stays. Harmless after publish or when called twice."""
