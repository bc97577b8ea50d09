"""The suites for readers and writers: what is written is read back, and nothing else."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal.errors import BadOutput, UserError
from shoal.testing.claims import claim

if TYPE_CHECKING:
    from shoal.engines.formats.registry import Reader, Writer

Rows: TypeAlias = Sequence[Mapping[str, str | None]]

PLAIN = ("a", "b1", "zip", "007", "1.0", "true", "x y")
ODD = ("", " x ", "=1+1", "a,b", 'say "a"', "<a>", "a: b", "#", "\\n", "two\nlines", "é", "\t")


class ReaderSuite:
    """Subclass it as `Test...` and return the reader and files with what they hold."""

    def reader(self) -> Reader:
        """The reader to test."""
        raise NotImplementedError

    def files(self) -> Sequence[tuple[bytes, Mapping[str, str], Rows]]:
        """The bytes of files, the options to read each with, and its rows; empty means missing."""
        raise NotImplementedError

    def test_it_knows_its_endings_and_options(self) -> None:
        _check_names(self.reader())

    def test_every_file_has_the_rows_it_should(self) -> None:
        for content, options, rows in self.files():
            found = _read_bytes(self.reader(), content, options)
            claim(found == _plain(rows), f"{found} was read in place of {_plain(rows)}")

    def test_a_file_that_is_cut_short_is_an_error_or_fewer_rows(self) -> None:
        for content, options, rows in self.files():
            for size in range(0, len(content), max(1, len(content) // 30)):
                try:
                    found = _read_bytes(self.reader(), content[:size], options)
                except UserError as error:
                    claim(bool(error.hint), f"{error.what}: says no remedy")
                else:
                    claim(len(found) <= len(rows), "a file that is cut short has more rows")


class WriterSuite:
    """Subclass it as `Test...` and return the writer, its reader, and options to write with."""

    cases = 60
    """How many random tables each check draws."""

    def writer(self) -> Writer:
        """The writer to test."""
        raise NotImplementedError

    def reader(self) -> Reader:
        """The reader of the same name."""
        raise NotImplementedError

    def options(self) -> Sequence[Mapping[str, str]]:
        """The options to write and read with, one after the other."""
        return [{}]

    def test_it_knows_its_endings_and_options(self) -> None:
        _check_names(self.writer())

    def test_plain_tables_are_read_back_as_they_were_written(self) -> None:
        for options, rows in self._tables(1, PLAIN):
            _, found = self._round_trip(rows, options)
            claim(found == _plain(rows), f"{_plain(rows)} was read back as {found}")

    def test_odd_tables_are_read_back_or_refused(self) -> None:
        for options, rows in self._tables(2, PLAIN + ODD):
            try:
                _, found = self._round_trip(rows, options)
            except BadOutput as error:
                claim(bool(error.hint), f"{error.what}: says no remedy")
            else:
                claim(found == _plain(rows), f"{_plain(rows)} was read back as {found}")

    def test_columns_keep_their_order_and_the_same_records_give_the_same_bytes(self) -> None:
        for options, rows in self._tables(3, PLAIN):
            first, found = self._round_trip(rows, options)
            again, _ = self._round_trip(rows, options)
            claim(first == again, "the same records give different bytes")
            claim(list(found[0]) == list(rows[0]), "the columns come back in another order")

    def _round_trip(
        self, rows: Rows, options: Mapping[str, str]
    ) -> tuple[bytes, list[dict[str, str | None]]]:
        import pyarrow as pa

        schema = pa.schema([(name, pa.string()) for name in rows[0]])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"table{self.writer().endings[0]}")
            path.touch()
            table = pa.Table.from_pylist([dict(row) for row in rows], schema)
            self.writer().write(table.to_reader(max_chunksize=2), path, options)
            return path.read_bytes(), _read(self.reader(), path, options)

    def _tables(
        self, seed: int, texts: Sequence[str]
    ) -> Iterator[tuple[Mapping[str, str], list[dict[str, str | None]]]]:
        draw = random.Random(seed)  # noqa: S311 reproducible cases
        names = [text for text in texts if text]
        for options in self.options():
            for _ in range(self.cases):
                columns = draw.sample(names, draw.randint(1, 3))
                yield (
                    options,
                    [
                        {name: draw.choice([*texts, None]) for name in columns}
                        for _ in range(draw.randint(1, 5))
                    ],
                )


def _check_names(plug_in: Any) -> None:
    claim(bool(plug_in.endings), f"{plug_in} knows no ending")
    for ending in plug_in.endings:
        claim(ending.startswith(".") and ending == ending.lower(), f"{ending!r} is no ending")
    claim(isinstance(plug_in.takes, tuple), f"{plug_in} does not say which options it takes")


def _read_bytes(
    reader: Reader, content: bytes, options: Mapping[str, str]
) -> list[dict[str, str | None]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table{reader.endings[0]}")
        path.write_bytes(content)
        return _read(reader, path, options)


def _read(reader: Reader, path: Path, options: Mapping[str, str]) -> list[dict[str, str | None]]:
    """All rows; every batch has the columns of the first, as text."""
    rows: list[dict[str, str | None]] = []
    schema = None
    for batch in reader.read(path, options):
        schema = schema or batch.schema
        claim(batch.schema.equals(schema), "a batch has other columns than the first")
        kinds = {str(kind) for kind in batch.schema.types}
        claim(kinds <= {"string", "large_string"}, f"columns are {kinds}, not text")
        rows += batch.to_pylist()
    return _plain(rows)


def _plain(rows: Rows) -> list[dict[str, str | None]]:
    """Rows with None for empty text, which is missing as well."""
    return [{name: value or None for name, value in row.items()} for row in rows]
