"""`shoal.check` and `shoal.verify`: measure a table, judge a written release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from shoal.calling.argument_types import names_of
from shoal.calling.opened import open_given
from shoal.calling.public import public
from shoal.cautions.examine import examine_table
from shoal.measure.pairs import PAIR_LIMIT
from shoal.measure.table import measure
from shoal.pipeline import load
from shoal.verify.assignment import read_assignment
from shoal.verify.file import verify_file
from shoal.verify.labels.listed import read_trees
from shoal.verify.stated import read_stated

if TYPE_CHECKING:
    from shoal.calling.argument_types import (
        DefinitionLike,
        HierarchyLike,
        Names,
        SourceLike,
        SparkSession,
    )
    from shoal.measure.table import Measure
    from shoal.values import Verdict


@public("check")
def check(
    data: SourceLike,
    quasi_identifiers: Names,
    *,
    person: Names = (),
    sensitive: Names = (),
    missing_values: str | Iterable[str] = (),
    match: Literal["basic", "extended", "maybe", "right-maybe", "all"] = "extended",
    hierarchies: Mapping[str, HierarchyLike] | None = None,
    missing_sensitive: Literal["none", "value"] = "none",
    k: int | None = None,
    pair_limit: int = PAIR_LIMIT,
    warnings: bool = True,
    spark: SparkSession | None = None,
) -> Measure:
    """How anonymous records are as they are: their classes, their k, and what they disclose.

    Args:
        data: The records: a path or glob, what a definition says of a source, or a frame.
        quasi_identifiers: What others may know.
        person: The columns that identify a person, where one can have several records: classes
            then count by persons, by extended or basic match.
        sensitive: What nobody may learn: of each the l, t, alpha, beta and delta reached.
        missing_values: Texts that mean missing, besides empty ones.
        match: What a missing quasi-identifier matches. With "all" the table is judged by every
            relation side by side.
        hierarchies: Files or trees of sensitive attributes, for hierarchical distance.
        missing_sensitive: Whether a missing sensitive value is no value, or one more.
        k: With it, the records below it are counted.
        pair_limit: The maybe matches compare at most so many pairs of combinations, else it is an
            error; with "all" they are left out then.
        warnings: Examine the other columns too: nearly unique ones, free text.
        spark: The session for what is read in Spark, else one is made.

    Returns:
        What was measured.

    Example:
        >>> measured = shoal.check("patients.csv", ["zip", "sex"], sensitive="diagnosis")
        >>> measured.k, measured.records, measured.sensitive[0].distinct_l
        (1, 2000, 1)
    """
    quasi, known = names_of(quasi_identifiers), names_of(sensitive)
    persons, missing = names_of(person), names_of(missing_values)
    with closing(open_given(data, (*quasi, *persons, *known), spark=spark)) as source:
        found = measure(
            source,
            quasi,
            missing,
            person=persons,
            sensitive=known,
            match=match,
            hierarchies=read_trees(hierarchies or {}, known),
            missing_as_value=missing_sensitive == "value",
            k=k,
            pair_limit=pair_limit,
        )
        if not warnings:
            return found
        cautions = examine_table(source, quasi, missing, found.records, persons)
    return replace(found, warnings=cautions)


@public("verify")
def verify(
    release: str | Path,
    definition: DefinitionLike,
    *,
    result: str | Path | None = None,
    records: int | None = None,
    assignment: str | Path | None = None,
) -> Verdict:
    """Whether a written release is safe, judged from the file.

    Args:
        release: The file.
        definition: What was demanded.
        result: The JSON of the run, whose levels and numbers are then checked too.
        records: The number of records of the source where it cannot be read any more.
        assignment: The file of the run with the class of each tuple: a local release is judged by
            persons with it.

    Returns:
        Every finding; `safe` only if all of them hold.

    Example:
        >>> verdict = shoal.verify("release.csv", "patients.yaml")
        >>> verdict.safe, verdict.failures
        (True, ())
    """
    stated = None if result is None else read_stated(Path(result))
    listed = None if assignment is None else read_assignment(Path(assignment))
    return verify_file(
        load(definition), Path(release), stated=stated, records=records, assignment=listed
    )
