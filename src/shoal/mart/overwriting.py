"""No file that a request writes overwrites one that the mart reads, or its log.

Files are compared by what they are, not by what they are called (see `shoal.definition.outputs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.definition.model import Definition, OutputFile, OutputSpark
from shoal.definition.outputs import clashes, would_overwrite
from shoal.engines.local_files import is_same_file, resolved
from shoal.mart.log import head_path

if TYPE_CHECKING:
    from shoal.definition.model import OutputObject, OutputTable
    from shoal.mart.catalog import Catalog

    Output = OutputFile | OutputObject | OutputTable | OutputSpark


def check_kept(
    catalog: Catalog,
    files: Mapping[str, Path],
    output: Output | None,
    further: Mapping[str, Path],
) -> None:
    """Refuse, before any long work, to overwrite what is read.

    `files` are the catalog and the request, where they are files; `further` are written beside the
    output, by what messages call them.
    """
    for name, each in catalog.sources.items():
        alone = Definition(source=each.source, output=output, k=2, attributes={})
        for clash in clashes(alone, further):
            raise would_overwrite(
                clash.key, clash.what.replace("the source", f"the source {name!r}")
            )
    written = dict(further)
    if output is not None and output.file is not None:
        written["output"] = output.file
    for key, path in written.items():
        for other, what in _read(catalog, files):
            if is_same_file(path, other):
                raise would_overwrite(key, f"{str(path)!r} is {what}")
            inside = resolved(other).is_relative_to(resolved(path))
            if inside and key == "output" and _is_folder(output):
                raise would_overwrite(key, f"{str(path)!r} is a folder that holds {what}")


def _read(catalog: Catalog, files: Mapping[str, Path]) -> Iterator[tuple[Path, str]]:
    """The files that are read beside the sources, those of the log among them, by what they are."""
    yield from catalog.files
    yield catalog.log, "the log"
    yield head_path(catalog.log), "the head of the log"
    yield from ((path, f"the {what}") for what, path in files.items())


def _is_folder(output: Output | None) -> bool:
    """Whether the output is a folder that is replaced as a whole."""
    if isinstance(output, OutputFile):
        return output.target().is_folder
    return isinstance(output, OutputSpark)
