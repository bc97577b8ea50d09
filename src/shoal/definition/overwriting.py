"""No file that is written overwrites one that is read, or another that is written.

Files are compared by what they are, not by what they are called: a link, another form of the
path or of its case is the same file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.definition.hierarchies.file import Csv
from shoal.definition.outputs import OutputFile, OutputSpark, OutputTable
from shoal.engines.same_file import file_of_url, files_beside, is_read_by, is_same_file, resolved
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.definition.sources import Several, SourceLocation


@dataclass(frozen=True)
class Clash:
    """A file that may not be written: which one, and what it is already."""

    key: str
    path: Path
    what: str


def clashes(
    definition: Definition, further: Mapping[str, Path] | None = None, file: Path | None = None
) -> Iterator[Clash]:
    """The files of a run that would overwrite others.

    `further` are written beside the output and the report; `file` is the definition itself.
    """
    taken = list(_read(definition, file))
    output = definition.output
    if isinstance(output, OutputTable) and (database := file_of_url(output.url)) is not None:
        taken += [(each, "the database of the output") for each in files_beside(database)]
    written = dict(_written(definition)) | dict(further or {})
    for key, path in written.items():
        if key == "output" and _is_folder(definition):
            yield from _clashes_of_folder(definition, path, taken)
        elif (name := _read_by(definition, path)) is not None:
            yield Clash(key, path, f"{str(path)!r} is a file of the {name}")
        else:
            same = (what for other, what in taken if is_same_file(path, other))
            yield from (Clash(key, path, f"{str(path)!r} is {what}") for what in same)
        taken.append((path, f"the same file as the {key}"))


def check_written(definition: Definition, file: str, further: Mapping[str, Path]) -> None:
    """Refuse, before any long work, a run of which one file would overwrite another.

    `file` is what messages call the definition: where it comes from a file, its path.
    """
    path = Path(file)
    for clash in clashes(definition, further, path if path.is_file() else None):
        raise would_overwrite(clash.key, clash.what)


def check_kept(definition: Definition, file: Path, path: Path) -> None:
    """Refuse a path that a definition, its source or one of its hierarchies is read from."""
    if (name := _read_by(definition, path)) is not None:
        raise would_overwrite("output", f"{str(path)!r} is a file of the {name}")
    for other, what in _read(definition, file):
        if is_same_file(path, other):
            raise would_overwrite("output", f"{str(path)!r} is {what}")


def sources_of(definition: Definition) -> Iterator[tuple[str, SourceLocation | Several]]:
    """What a run reads records from, and what messages call it."""
    yield "source", definition.source
    if definition.population is not None:
        yield "population", definition.population.source


def _read_by(definition: Definition, path: Path) -> str | None:
    """What reads a path: the source or the population."""
    return next((name for name, each in sources_of(definition) if each.reads(path)), None)


def check_data_kept(pattern: str, path: Path) -> None:
    """Refuse a path that is among the data of a path, folder or glob."""
    if is_read_by(pattern, path):
        raise would_overwrite("output", f"{str(path)!r} is a file of the data")


def would_overwrite(key: str, what: str) -> BadOutput:
    """The error for a file that would overwrite another."""
    return BadOutput(
        f"the {key} would overwrite another file: {what}",
        code="would-overwrite",
        hint=f"give the {key} a file of its own",
    )


def _written(definition: Definition) -> Iterator[tuple[str, Path]]:
    output = definition.output
    if output is not None and output.file is not None:
        yield "output", output.file
    if definition.report is not None:
        yield "report", definition.report


def _read(definition: Definition, file: Path | None) -> Iterator[tuple[Path, str]]:
    """The files that are read beside the source, and what each is."""
    if file is not None:
        yield file, "the definition"
    for name, attribute in definition.attributes.items():
        if isinstance(attribute.hierarchy, Csv):
            yield attribute.hierarchy.path, f"the hierarchy of {name!r}"


def _is_folder(definition: Definition) -> bool:
    """Whether the output is a folder that is replaced as a whole."""
    output = definition.output
    if isinstance(output, OutputFile):
        return output.target().is_folder
    return isinstance(output, OutputSpark)


def _clashes_of_folder(
    definition: Definition, folder: Path, taken: list[tuple[Path, str]]
) -> Iterator[Clash]:
    """What would go with the folder, and a folder that the source reads."""
    for name, source in sources_of(definition):
        if any(location.lies_in(folder) for location in source.locations):
            what = f"is a folder that holds the {name}, and a folder is replaced as a whole"
            yield Clash("output", folder, what)
        elif source.reads(folder):
            yield Clash("output", folder, f"{str(folder)!r} is in a folder of the {name}")
    for path, what in taken:
        if resolved(path).is_relative_to(resolved(folder)):
            yield Clash("output", folder, f"is a folder that holds {what}")
