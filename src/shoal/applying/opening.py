"""Where new records come from and go to: a transformation as a definition, and what it opens."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.calling.opened import is_named, located, open_any_frame, plain
from shoal.collapse.read import open_records
from shoal.definition.model import Several
from shoal.definition.outputs import check_written, would_overwrite
from shoal.definition.read import from_mapping
from shoal.engines.duckdb.files import open_files
from shoal.engines.local_files import FOLDER, is_same_file, owned, temporary_folder
from shoal.engines.opening import open_source
from shoal.engines.options import FileOptions
from shoal.events import Working
from shoal.release.transformation import read_transformation, restored

if TYPE_CHECKING:
    from shoal.definition.model import Definition, SourceLocation
    from shoal.engines.base import Source
    from shoal.release.transformation import Transformation
    from shoal.steps.releasing import Observer


def definition_of(found: Transformation, data: Any, output: Any, folder: Path) -> Definition:
    """The transformation as a definition; files of hierarchies are in the folder.

    In full-domain recoding it has one node. A local recoding may use the levels that it might use
    in the first release.
    """
    attributes: dict[str, Any] = {}
    for number, (name, given) in enumerate(found.definition["attributes"].items()):
        attribute = dict(given) if isinstance(given, Mapping) else {"role": given}
        if "hierarchy" in attribute:
            attribute["hierarchy"] = restored(name, attribute["hierarchy"], folder, number)
        if isinstance(level := found.levels.get(name), int):
            attribute |= {"from": level, "limit": level}
        attributes[name] = attribute
    source = plain(data) if is_named(data) else "frame"
    mapping = {**found.definition, "source": source, "attributes": attributes}
    definition = from_mapping(mapping, file=found.name)
    if output is None:
        return definition
    bare = {"source": "-", "k": 2, "attributes": {"any": "quasi-identifier"}}
    target = from_mapping({**bare, "output": plain(output)}, file="the output").output
    return definition.model_copy(update={"output": target})


def check_written_apart(
    definition: Definition,
    transformation: Path,
    release: Any = None,
    further: Mapping[str, Path] | None = None,
) -> None:
    """Refuse to write over anything that is read: the data, the transformation, the release.

    `further` are files that are written beside the output.
    """
    written = dict(further or {})
    output = None if definition.output is None else definition.output.file
    for key, path in {**written, **({} if output is None else {"output": output})}.items():
        if is_same_file(path, transformation):
            raise would_overwrite(key, f"{str(path)!r} is the transformation")
    earlier = None if release is None else earlier_release(release)
    if earlier is not None:
        both = Several.model_validate((*definition.source.locations, *earlier.locations))
        definition = definition.model_copy(update={"source": both})
    check_written(definition, str(transformation), written)


def check_result(transformation: Path, data: Any, output: Any, release: Any, result: Path) -> None:
    """Refuse a result file that would overwrite what is read or written."""
    found = read_transformation(transformation)
    with tempfile.TemporaryDirectory(prefix=owned(FOLDER), dir=temporary_folder()) as folder:
        definition = definition_of(found, data, output, Path(folder))
        check_written_apart(definition, transformation, release, {"result": result})


def earlier_release(release: Any) -> SourceLocation | Several | None:
    """Where an earlier release is; None for a frame."""
    return located(release, "the earlier release") if is_named(release) else None


def opened_data(definition: Definition, data: Any, observe: Observer, spark: Any) -> Source:
    """The new records, where they are; long queries report their progress."""

    def progress(share: float) -> None:
        observe(Working(share))

    if is_named(data):
        return open_records(definition, progress, spark)
    return open_any_frame(data, resources=definition.engine.resources(progress))


def opened_release(release: Any, definition: Definition, spark: Any) -> Source:
    """An earlier release, as it is stored where the engine can tell."""
    location = earlier_release(release)
    if location is None:
        return open_any_frame(release, stored=True)
    options, names = location.options(), set(definition.attributes)
    if isinstance(options, FileOptions):
        header = True if options.header is None else options.header
        return open_files(replace(options, header=header), names, stored=True)
    return open_source(options, expect=names, spark=spark)
