"""`shoal.anonymize`: from a frame to a safe frame, without a definition file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from shoal.calling.argument_types import Frame, names_of
from shoal.calling.near_misses import NEAR_MISSES
from shoal.calling.opened import is_named, open_any_frame
from shoal.calling.public import public
from shoal.calling.stated_roles import CALL, attributes_of, refuse_without_role
from shoal.definition.read import from_mapping
from shoal.errors import BadData, BadDefinition, Mistake
from shoal.events import Released, Working
from shoal.pipeline import ignore, release

if TYPE_CHECKING:
    from shoal.calling.argument_types import Names, Observer, QuasiIdentifiers, Sensitive
    from shoal.engines.base import StagedFrame
    from shoal.report.result import ShownResult


@overload
def anonymize(
    frame: Frame,
    quasi_identifiers: QuasiIdentifiers,
    *,
    k: int = ...,
    suppression: float | str = ...,
    sensitive: Sensitive = ...,
    identifiers: Names = ...,
    keep: Names = ...,
    drop: Names = ...,
    others: Literal["keep", "drop"] | None = ...,
    person: Names = ...,
    recoding: Literal["full-domain", "local"] = ...,
    effort: Literal["low", "normal", "high"] | None = ...,
    time_limit: float | str | None = ...,
    suppressed: Literal["drop", "mark"] = ...,
    missing: Literal["extended", "basic"] | Mapping[str, object] | None = ...,
    loss: str | Mapping[str, object] | None = ...,
    risk: Mapping[str, object] | None = ...,
    population: Mapping[str, object] | None = ...,
    privacy: Mapping[str, object] | None = ...,
    search: Mapping[str, object] | None = ...,
    engine: Mapping[str, object] | None = ...,
    strict: bool = ...,
    attributes: Mapping[str, object] | None = ...,
    with_result: Literal[False] = ...,
    observe: Observer | None = ...,
) -> Frame: ...


@overload
def anonymize(
    frame: Frame,
    quasi_identifiers: QuasiIdentifiers,
    *,
    k: int = ...,
    suppression: float | str = ...,
    sensitive: Sensitive = ...,
    identifiers: Names = ...,
    keep: Names = ...,
    drop: Names = ...,
    others: Literal["keep", "drop"] | None = ...,
    person: Names = ...,
    recoding: Literal["full-domain", "local"] = ...,
    effort: Literal["low", "normal", "high"] | None = ...,
    time_limit: float | str | None = ...,
    suppressed: Literal["drop", "mark"] = ...,
    missing: Literal["extended", "basic"] | Mapping[str, object] | None = ...,
    loss: str | Mapping[str, object] | None = ...,
    risk: Mapping[str, object] | None = ...,
    population: Mapping[str, object] | None = ...,
    privacy: Mapping[str, object] | None = ...,
    search: Mapping[str, object] | None = ...,
    engine: Mapping[str, object] | None = ...,
    strict: bool = ...,
    attributes: Mapping[str, object] | None = ...,
    with_result: Literal[True],
    observe: Observer | None = ...,
) -> tuple[Frame, ShownResult]: ...


@public(CALL, NEAR_MISSES)
def anonymize(
    frame: Frame,
    quasi_identifiers: QuasiIdentifiers,
    *,
    k: int = 5,
    suppression: float | str = 0.05,
    sensitive: Sensitive = (),
    identifiers: Names = (),
    keep: Names = (),
    drop: Names = (),
    others: Literal["keep", "drop"] | None = None,
    person: Names = (),
    recoding: Literal["full-domain", "local"] = "full-domain",
    effort: Literal["low", "normal", "high"] | None = None,
    time_limit: float | str | None = None,
    suppressed: Literal["drop", "mark"] = "drop",
    missing: Literal["extended", "basic"] | Mapping[str, object] | None = None,
    loss: str | Mapping[str, object] | None = None,
    risk: Mapping[str, object] | None = None,
    population: Mapping[str, object] | None = None,
    privacy: Mapping[str, object] | None = None,
    search: Mapping[str, object] | None = None,
    engine: Mapping[str, object] | None = None,
    strict: bool = False,
    attributes: Mapping[str, object] | None = None,
    with_result: bool = False,
    observe: Observer | None = None,
) -> Frame | tuple[Frame, ShownResult]:
    """The frame with its quasi-identifiers generalized so that every record hides among k.

    Takes a pandas, polars or Spark DataFrame or an Arrow table and returns the kind given; anything
    else with the Arrow stream interface comes back as an Arrow table. The input is never changed.
    The records come ordered by their released values, and the index of a pandas frame, which may
    identify the records, is not released. Missing values (None, NaN, NaT) stay missing.

    The type of a released column depends on the call and on the type that was given, never on what
    the search found: quasi-identifiers are text, also where they stay as they were, but for those
    with `"limit": 0`, which cannot change, in full-domain recoding. All other columns keep their
    types. With `suppressed="mark"` types without missing values become the nullable ones.

    Args:
        frame: The records.
        quasi_identifiers: What others may know. Names, to have hierarchies proposed; or a mapping
            from names to what a definition says of them, such as
            `{"zip": {"mask": 5}, "age": {"intervals": [5, 10, 20]}, "sex": None}`.
        k: The least number of records that share their quasi-identifiers.
        suppression: How much may be left out: a share (0.05, "5%") or a whole number of records.
        sensitive: What nobody may learn. Names, for at least 2 different values in each class; or
            what is demanded: `{"diagnosis": 3}` for 3 different values,
            `{"diagnosis": {"closeness": 0.2}}` or any other keys of a definition.
        identifiers: Columns that name a person; they are left out.
        keep: Columns that are released unchanged.
        drop: Columns that are left out for any other reason.
        others: What becomes of columns that are not named: "keep", "drop", or an error.
        person: The column that identifies a person, or several, where one person can have several
            records. Then `k` and all demands count persons. They are left out, too.
        recoding: "full-domain" brings each column to one level; "local" lets every class have its
            own levels, and loses several times less.
        effort: How long local recoding looks for less loss and for a proof: "low", "normal",
            "high".
        time_limit: Stop the search after this time, in seconds or such as "5min", with the best
            that was found.
        suppressed: What becomes of records that are left out: "drop", or "mark" to keep them with
            their quasi-identifiers and sensitive values blank.
        missing: What a missing quasi-identifier matches, "extended" or "basic"; or a mapping such
            as `{"values": ["?", "n/a"]}` with texts that mean missing, too.
        loss: What is minimised: "iyengar" without, or another loss by name.
        risk: A limit on the risk of the whole release, such as `{"average": 0.1}`.
        population: A table of the people that the records are a part of, and what is demanded
            against it: `{"source": "people.csv", "k": 3}`.
        privacy: Demands of plug-ins, by their names.
        search: Further settings of the search: `{"strategy": "ola", "threads": 2, "gap": 0.01}`.
        engine: What this machine may be used for: `{"memory limit": "2GB"}`.
        strict: Whether a warning refuses the release.
        attributes: Columns as a definition says them, for whatever has no argument of its own.
        with_result: Return the result of the run too: loss, levels, proof, and what was verified.
            Notebooks show it well.
        observe: Called with every event of the run. Without it a notebook shows the progress.

    Returns:
        The released frame, or with `with_result` the frame and its result. It is the very frame
        that the verifier counted afresh.

    Raises:
        BadDefinition: for columns that are not there or have no role, for arguments that are
            misspelt, and for impossible demands.
        BadData: for something that is no frame, has no records, or names a column twice.
        Infeasible: when no transformation meets the demand.

    Example:
        >>> import pandas as pd
        >>> people = pd.DataFrame({
        ...     "zip": ["10115", "10117", "10119", "80331", "80333", "80335"],
        ...     "age": [34, 36, 38, 61, 62, 64],
        ...     "illness": ["flu", "cold", "flu", "cold", "flu", "gout"],
        ... })
        >>> hierarchies = {"zip": {"mask": 5}, "age": {"intervals": [10, 100]}}
        >>> safe, result = shoal.anonymize(
        ...     people, hierarchies, k=3, sensitive={"illness": 2}, with_result=True
        ... )
        >>> print(safe.to_string(index=False))
          zip     age illness
        1011* [30,40)    cold
        1011* [30,40)     flu
        1011* [30,40)     flu
        8033* [60,70)    cold
        8033* [60,70)     flu
        8033* [60,70)    gout
        >>> result.verified, result.levels
        (True, {'zip': 1, 'age': 1})
    """
    observe = observe or ignore
    if is_named(frame):
        raise _no_frame(frame)
    persons = names_of(person)
    columns = attributes_of(
        quasi_identifiers,
        sensitive,
        person=persons,
        others=attributes or {},
        identifier=identifiers,
        keep=keep,
        drop=drop,
    )
    stated = {
        "source": "frame",
        "k": k,
        "suppression": suppression,
        "suppressed": suppressed,
        "person": persons,
        "recoding": recoding,
        "attributes": columns,
        "others": others,
        "missing": missing,
        "loss": loss,
        "risk": risk,
        "population": population,
        "privacy": privacy,
        "search": _search(search or {}, {"effort": effort, "time limit": time_limit}),
        "engine": engine,
        "strict": strict,
    }
    given = {key: value for key, value in stated.items() if value is not None}
    definition = from_mapping(given, file=CALL)
    resources = definition.engine.resources(lambda share: observe(Working(share)))
    with closing(open_any_frame(frame, resources=resources)) as source:
        if others is None:
            refuse_without_role([column.name for column in source.columns()], columns)
        staged, result = release(definition, source, None, observe, file=CALL)
    observe(Released(result))
    released = cast("Frame", cast("StagedFrame", staged).frame())
    return (released, result) if with_result else released


def _search(search: Mapping[str, object], more: Mapping[str, object]) -> dict[str, Any] | None:
    """The settings of the search, with those that have an argument of their own."""
    named = {key: value for key, value in more.items() if value is not None}
    twice = [key for key in named if key in search]
    if twice:
        remedy = "say it once"
        raise BadDefinition(CALL, [Mistake(key, "is in search too", remedy) for key in twice])
    return {**search, **named} or None


def _no_frame(given: object) -> BadData:
    """Records that a definition can name are released by `shoal.run`."""
    hint = "give a pandas, polars or Spark DataFrame, or a pyarrow Table"
    if isinstance(given, str | Path):
        hint += "; shoal.run releases files and tables, by a definition"
    return BadData(f"a {type(given).__name__} is not a frame", code="not-a-frame", hint=hint)
