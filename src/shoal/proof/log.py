"""Writing a proof: boxes are logged as they are closed, and published when the search has ended."""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from shoal.engines.duckdb.staged import StagedFile, check_file
from shoal.engines.local_files import temporary_folder
from shoal.engines.options import FileTarget
from shoal.errors import BadOutput
from shoal.proof.format import box_line, header_line
from shoal.proof.price_file import price_lines

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.proof.format import Subject
    from shoal.proof.price_file import PriceClaim
    from shoal.values import Best, Closed


class ProofLog:
    """Takes closed boxes as a search closes them; the file appears when it is published.

    The claim comes first in the file but is known last, so boxes are buffered in an unnamed
    temporary file. `stage` writes the proof to a staging file, `publish` renames it. Without them,
    as for a search that was stopped, nothing is written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._target = FileTarget(path, format="json")
        self._staged: StagedFile | None = None
        check_file(self._target)
        with self._errors_of_ours():
            folder = temporary_folder()
            self._boxes = tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder)  # noqa: SIM115

    def __call__(self, closed: Closed) -> None:
        """Write down a closed box."""
        with self._errors_of_ours():
            self._boxes.write(box_line(closed))

    def stage(self, subject: Subject, best: Best) -> None:
        """Write the proof to a staging file; all boxes must have been logged."""
        with self._errors_of_ours():
            self._staged = StagedFile(self._target)
            self._boxes.seek(0)
            with self._opened(self._staged.path) as file:
                file.write(header_line(subject, best))
                shutil.copyfileobj(self._boxes, file)

    def stage_prices(self, subject: Subject, claim: PriceClaim) -> None:
        """Write a proof by prices, of a bound for local recodings, to a staging file."""
        with self._errors_of_ours():
            self._staged = StagedFile(self._target)
            with self._opened(self._staged.path) as file:
                file.writelines(price_lines(subject, claim))

    def publish(self) -> None:
        """Put the staged proof, if there is one, in place of what was there, atomically."""
        if self._staged is not None:
            self._staged.publish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._boxes.close()
        if self._staged is not None:
            self._staged.discard()

    def _opened(self, path: Path) -> TextIO:
        """The staged file, compressed where the name ends in .gz; the same bytes every time."""
        if self._path.suffix != ".gz":
            return path.open("w", encoding="utf-8", newline="\n")
        packed = gzip.GzipFile(path, "wb", mtime=0)
        return io.TextIOWrapper(packed, encoding="utf-8", newline="\n")

    @contextlib.contextmanager
    def _errors_of_ours(self) -> Iterator[None]:
        """Turn a failure to write the file into a BadOutput."""
        try:
            yield
        except OSError as error:
            raise BadOutput(
                f"cannot write the proof {self._path}: {error.strerror}",
                code="cannot-write",
                hint="check that the folder is writable and has space",
            ) from None
