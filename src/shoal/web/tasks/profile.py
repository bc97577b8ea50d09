"""Read the data of a project as it is stated or guessed, and say what each column is.

Arguments: `path` and `label` of an uploaded file, or the `location` of an allowed source; `stated`,
what the custodian fixed of how to read the file; `missing`, the texts for missing values, None to
guess them; `most`, how many records are allowed. The folder then has the records as Parquet. The
result holds no value of the data but texts for missing values. How the file is read is said as the
event `reading` before anything can fail, so a page can offer to change it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from shoal.analysis.table_profile import TableProfile, profile_table
from shoal.definition.sources import SourceChoice
from shoal.engines.duckdb.files import open_files
from shoal.engines.formats.guessing import guess_reading
from shoal.engines.opening import open_source
from shoal.engines.options import FileOptions, Resources
from shoal.events import Phase, Working
from shoal.web.cached_table import TABLE, copy_table
from shoal.web.project_definition import plain_file_name

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context

COPYING = 0.5
"""The share of the work that copying is; counting is the rest."""


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Copy the records, count every column, guess its role."""
    resources = Resources(memory_limit=context.memory // 2)
    copying = replace(
        resources,
        in_order=True,
        on_progress=lambda done: context.observe(Working(COPYING * done)),
    )
    table = context.folder / TABLE
    with _beside(arguments) as file:
        reading = None if file is None else _read(file, arguments["stated"], context)
        said = {} if reading is None else reading["source"]
        location = arguments["location"] if file is None else {"path": str(file), **said}
        context.observe(Phase("read", arguments["label"]))
        source: Any = TypeAdapter(SourceChoice)
        options = source.validate_python(location).options()
        with open_source(options, resources=copying) as records:
            number = copy_table(records, table, arguments["most"])
    context.observe(Working(COPYING))

    def progress(done: int, columns: int) -> None:
        context.observe(Working(COPYING + (1 - COPYING) * done / columns))

    with open_files(FileOptions(str(table)), name=arguments["label"], resources=resources) as copy:
        seen = () if reading is None else [each["text"] for each in reading["missing"]]
        found = profile_table(copy, arguments["missing"], seen, progress)
    return {**_json(found), "records": number, "reading": reading, "source": said}


@contextmanager
def _beside(arguments: Mapping[str, Any]) -> Iterator[Path | None]:
    """The uploaded file under the user's own name, which messages then have; None without one."""
    if "path" not in arguments:
        yield None
        return
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            file = Path(plain_file_name(arguments["label"]))
            file.symlink_to(arguments["path"])
            yield file
        finally:
            os.chdir(before)


def _read(file: Path, stated: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """How the file is read, as it is stated and guessed."""
    found = guess_reading(file, file.name, stated)
    reading = found.to_json()
    context.say("reading", reading)
    if found.problem is not None:
        raise found.problem
    return reading


def _json(found: TableProfile) -> dict[str, Any]:
    person = None if found.person is None else asdict(found.person)
    columns = [
        {**asdict(column), "warnings": [asdict(each) for each in column.warnings]}
        for column in found.columns
    ]
    return {"missing": list(found.missing), "columns": columns, "person": person}
