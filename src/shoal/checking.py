"""`shoal.check` and `shoal.verify`: measure a table, judge a written release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from shoal.cautions.examine import examine_table
from shoal.engines.duckdb.files import open_files
from shoal.engines.frames.source import open_frame
from shoal.engines.options import FileOptions
from shoal.measure.pairs import PAIR_LIMIT
from shoal.measure.table import measure
from shoal.pipeline import load
from shoal.verify.assignment import read_assignment
from shoal.verify.file import verify_file
from shoal.verify.labels.listed import read_trees
from shoal.verify.stated import read_stated

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.measure.table import Measure
    from shoal.values import Verdict

Match: TypeAlias = Literal["basic", "extended", "maybe", "right-maybe", "all"]


def check(
    data: Any,
    quasi_identifiers: str | Sequence[str],
    *,
    person: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    missing_values: str | Sequence[str] = (),
    match: Match = "extended",
    hierarchies: Mapping[str, Any] | None = None,
    missing_sensitive: Literal["none", "value"] = "none",
    k: int | None = None,
    pair_limit: int = PAIR_LIMIT,
    warnings: bool = True,
) -> Measure:
    """How anonymous a file (a path or glob) or a frame is as it is.

    Its classes and its k, and what the classes disclose about each sensitive attribute: the l, t,
    alpha, beta and delta reached. `missing_values` lists texts that mean missing, besides empty
    ones. `match` says what a missing quasi-identifier matches; with `all` the table is judged by
    every relation side by side, and with `k` the records below it are counted. `hierarchies` are
    files or trees of sensitive attributes, for hierarchical distance. A missing sensitive value is
    no value, or one more. A single name means a list of one. `person` names the columns
    that identify a person, where one can have several records: classes then count by persons, by
    extended or basic match. The maybe matches compare at most `pair_limit` pairs of combinations,
    else it is an error; with `all` they are left out then.
    With `warnings` the other columns are examined too: nearly unique ones, free text.
    """
    quasi_identifiers, sensitive = _listed(quasi_identifiers), _listed(sensitive)
    person = _listed(person)
    path = isinstance(data, str | Path)
    names = (*quasi_identifiers, *person, *sensitive)
    source = open_files(FileOptions(str(data)), names) if path else open_frame(data)
    with closing(source):
        found = measure(
            source,
            quasi_identifiers,
            _listed(missing_values),
            person=person,
            sensitive=sensitive,
            match=match,
            hierarchies=read_trees(hierarchies or {}, sensitive),
            missing_as_value=missing_sensitive == "value",
            k=k,
            pair_limit=pair_limit,
        )
        if not warnings:
            return found
        missing = _listed(missing_values)
        cautions = examine_table(source, quasi_identifiers, missing, found.records, person)
    return replace(found, warnings=cautions)


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def verify(
    release: str | Path,
    definition: Definition | Mapping[str, Any] | str | Path,
    *,
    result: str | Path | None = None,
    records: int | None = None,
    assignment: str | Path | None = None,
) -> Verdict:
    """Whether a written release is safe, judged from the file.

    `result` is the JSON of the run, whose levels and numbers are then checked too; `records` is the
    number of records of the source where it cannot be read any more. `assignment` is the file of
    the run with the class of each tuple: a local release is judged by persons with it.
    """
    stated = None if result is None else read_stated(Path(result))
    listed = None if assignment is None else read_assignment(Path(assignment))
    return verify_file(
        load(definition), Path(release), stated=stated, records=records, assignment=listed
    )
