"""A source that DuckDB counts and recodes: files and frames differ only in how they are opened."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import duckdb
import pyarrow as pa

from shoal.engines.base import COUNT, Column, FileTarget, Recoding
from shoal.engines.duck import Session, explained
from shoal.engines.recoding import recoded
from shoal.engines.staged import StagedFile, StagedTable
from shoal.engines.writing import check_names_for, write
from shoal.errors import BadData, BadOutput

if TYPE_CHECKING:
    from shoal.engines.relation import Relation
    from shoal.errors import UserError

Diagnosis = Callable[[duckdb.Error], BadData | None]
"""Looks at the source again after DuckDB failed to read it, to say what is wrong and where."""


class TableSource:
    """A relation in a session of its own."""

    def __init__(
        self,
        session: Session,
        relation: Relation,
        files: Sequence[Path] = (),
        diagnose: Diagnosis = lambda _: None,
    ) -> None:
        self._session = session
        self._relation = relation
        self._files = tuple(files)
        self._diagnose = diagnose

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self._relation.name

    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        return self._relation.columns()

    def count_by(self, columns: Sequence[str], missing: Sequence[str] = ()) -> pa.Table:
        """Distinct combinations as text, null where missing, with counts; one GROUP BY."""
        relation = self._relation
        texts = [relation.present_text(relation.position(name), missing) for name in columns]
        selected = "".join(f"{text} AS t{i}, " for i, text in enumerate(texts))
        grouped = f" GROUP BY {', '.join(f't{i}' for i in range(len(texts)))}" if texts else ""
        query = f"SELECT {selected}count(*) AS n FROM ({relation.query}) AS source{grouped}"
        with self._explaining():
            table = self._session.table(query)
        types = [pa.string()] * len(texts) + [pa.int64()]
        names = [*columns, count_name(columns)]
        return table.rename_columns(names).cast(pa.schema(zip(names, types, strict=True)))

    def recode_into(
        self, recoding: Recoding, target: FileTarget | None = None
    ) -> StagedFile | StagedTable:
        """Recode in one query, into a staged file or, without a target, into memory."""
        with recoded(self._session, self._relation, recoding) as query:
            if target is None:
                with self._explaining():
                    table = self._session.table(query)
                return StagedTable(table.rename_columns(list(recoding.columns)))
            return self._write(query, recoding.columns, target)

    def fingerprint(self) -> str | None:
        """SHA-256 of the bytes of all files, in the order of their paths; None for a frame."""
        if not self._files:
            return None
        digest = hashlib.sha256()
        for path in self._files:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def close(self) -> None:
        """Give back the connection and the temporary files."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self, query: str, names: tuple[str, ...], target: FileTarget) -> StagedFile:
        try:
            staged = StagedFile(target)
        except OSError as error:
            raise _not_written(target, error) from None
        try:
            check_names_for(staged.kind, names)
            with self._explaining(f"the output {target.path}"):
                write(self._session, query, names, staged.path, staged.kind, target.delimiter)
        except OSError as error:
            staged.discard()
            raise _not_written(target, error) from None
        except BaseException:
            staged.discard()
            raise
        return staged

    @contextmanager
    def _explaining(self, written: str = "") -> Iterator[None]:
        """Turn DuckDB's errors into ours; the diagnosis comes first, since it knows the place.

        `written` is what is being written, which is what a full disk stops.
        """
        try:
            yield
        except duckdb.Error as error:
            general: UserError = explained(error, self.name, written)
            if general.code == "unreadable-data":
                general = self._diagnose(error) or general
            raise general from None


def count_name(columns: Sequence[str]) -> str:
    """COUNT, with underscores added until no data column has that name."""
    name = COUNT
    while name in columns:
        name += "_"
    return name


def _not_written(target: FileTarget, error: OSError) -> BadOutput:
    return BadOutput(
        f"the output {target.path} cannot be written ({error.strerror})",
        code="output-not-written",
        hint="see that its folder exists, is writable and has space",
    )
