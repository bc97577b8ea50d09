"""Releases as objects of S3: written to a private file, uploaded hidden, verified, then published.

The verifier reads a fresh copy of what was uploaded. To publish is to copy that object inside the
storage to the key of the output, if it is still the one that was verified.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.engines.base import Staged
from shoal.engines.duckdb import staged
from shoal.engines.duckdb.files import open_files
from shoal.engines.duckdb.session import no_folder, private_folder
from shoal.engines.duckdb.source import TableSource
from shoal.engines.object_store.store import HiddenObject, check_object

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.engines.base import Recoding, Source
    from shoal.engines.duckdb.staged import StagedPath
    from shoal.engines.options import FileOptions, FileTarget, ObjectTarget, Resources


def check_target(target: ObjectTarget) -> None:
    """Refuse, before any long work, an object that could not be put in the end."""
    staged.check_layout(target.file())
    check_object(target.url)


def stage_recoded(source: Source, recoding: Recoding, target: ObjectTarget) -> StagedObject | None:
    """Recode in one query, into a hidden object; None where DuckDB has not the source."""
    if not isinstance(source, TableSource):
        return None
    return _staged(
        target, source.resources, lambda file: staged.stage_source(source, recoding, file)
    )


def stage_rows(
    target: ObjectTarget, rows: pa.RecordBatchReader, resources: Resources
) -> StagedObject:
    """Write a stream to a hidden object, in its order."""
    return _staged(target, resources, lambda file: staged.stage_rows(file, rows, resources))


def _staged(
    target: ObjectTarget, resources: Resources, write: Callable[[FileTarget], StagedPath]
) -> StagedObject:
    """What is written to a file of a private folder, uploaded."""
    folder = private_folder(resources.spill_folder)
    if folder is None:
        raise no_folder("of the system", "no folder for temporary files can be written")
    try:
        with write(target.file(folder)) as made:  # its file is removed when it is uploaded
            size = max(made.path.stat().st_size, 1)
            hidden = HiddenObject(made.path, target.url, _reporting(resources, size))
            options = made.options()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return StagedObject(target, resources, folder, hidden, options)


def _reporting(resources: Resources, size: int) -> Callable[[float], None]:
    """Adds up the bytes that were sent, and reports their share."""
    sent = 0

    def report(more: float) -> None:
        nonlocal sent
        sent += int(more)
        if resources.on_progress is not None:
            resources.on_progress(min(sent / size, 1.0))

    return report


class StagedObject(Staged):
    """A hidden object beside the output, and a private folder for a copy of it."""

    def __init__(
        self,
        target: ObjectTarget,
        resources: Resources,
        folder: Path,
        hidden: HiddenObject,
        options: FileOptions,
    ) -> None:
        self._target = target
        self._resources = resources
        self._folder = folder
        self._hidden = hidden
        self._options = options

    def source(self) -> TableSource:
        """A fresh copy of what was uploaded."""
        copy = self._folder / secrets.token_hex(4) / Path(self._options.path).name
        self._hidden.download(copy)
        options = replace(self._options, path=str(copy))
        return open_files(options, name=self._target.url, resources=self._resources, stored=True)

    def publish(self) -> str:
        """Copy it to the key of the output, in place of the object that was there."""
        try:
            self._hidden.publish()
        finally:
            self.discard()
        return self._target.url

    def discard(self) -> None:
        """Remove it and its copies; harmless after publish or when called twice."""
        self._hidden.discard()
        shutil.rmtree(self._folder, ignore_errors=True)
