"""`shoal.anonymize`: from a frame to a safe frame, without a definition file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from shoal.definition.read import from_mapping
from shoal.engines.frames.source import is_spark, open_frame
from shoal.engines.spark import open_frame as open_spark_frame
from shoal.errors import BadDefinition, Mistake, quoted
from shoal.events import Working
from shoal.pipeline import Observer, ignore, release

if TYPE_CHECKING:
    from shoal.engines.base import Source
    from shoal.engines.options import Resources
    from shoal.report.result import ShownResult

Frame = TypeVar("Frame")
CALL = "anonymize"
"""What messages call the definition that a call states."""


@overload
def anonymize(
    frame: Frame,
    quasi_identifiers: str | Sequence[Any] | Mapping[Any, Any],
    *,
    k: int = ...,
    suppression: float | str = ...,
    identifiers: Sequence[Any] = ...,
    person: Any = ...,
    others: Literal["keep", "drop"] | None = ...,
    recoding: Literal["full-domain", "local"] = ...,
    effort: Literal["low", "normal", "high"] | None = ...,
    with_result: Literal[False] = ...,
    observe: Observer = ...,
    **options: Any,
) -> Frame: ...


@overload
def anonymize(
    frame: Frame,
    quasi_identifiers: str | Sequence[Any] | Mapping[Any, Any],
    *,
    k: int = ...,
    suppression: float | str = ...,
    identifiers: Sequence[Any] = ...,
    person: Any = ...,
    others: Literal["keep", "drop"] | None = ...,
    recoding: Literal["full-domain", "local"] = ...,
    effort: Literal["low", "normal", "high"] | None = ...,
    with_result: Literal[True],
    observe: Observer = ...,
    **options: Any,
) -> tuple[Frame, ShownResult]: ...


def anonymize(
    frame: Any,
    quasi_identifiers: str | Sequence[Any] | Mapping[Any, Any],
    *,
    k: int = 5,
    suppression: float | str = 0.05,
    identifiers: Sequence[Any] = (),
    person: Any = (),
    others: Literal["keep", "drop"] | None = None,
    recoding: Literal["full-domain", "local"] = "full-domain",
    effort: Literal["low", "normal", "high"] | None = None,
    with_result: bool = False,
    observe: Observer = ignore,
    **options: Any,
) -> Any:
    """The frame with its quasi-identifiers generalized so that every record hides among k.

    Takes a pandas, polars or Spark DataFrame or an Arrow table and returns the kind given. The
    input is never changed. The records come ordered by their released values, and the index of a
    pandas frame, which may identify the records, is not released. Columns that are released
    unchanged keep their types; generalized ones hold text. Missing values (None, NaN, NaT) stay
    missing.

    Args:
        frame: The records.
        quasi_identifiers: What others may know. Names, to have hierarchies proposed; or a mapping
            from names to what a definition says of them, such as
            `{"zip": {"mask": 5}, "age": {"intervals": [5, 10, 20]}, "sex": None}`.
        k: The least number of records that share their quasi-identifiers.
        suppression: How much may be left out: a share (0.05, "5%") or a whole number of records.
        identifiers: Columns that name a person; they are left out.
        person: The column that identifies a person, or several, where one person can have several
            records. Then `k` and all demands count persons. They are left out, too.
        others: What becomes of columns that are not named: "keep", "drop", or an error.
        recoding: "full-domain" brings each column to one level; "local" lets every class have its
            own levels, and loses several times less.
        effort: How long local recoding looks for less loss and for a proof: "low", "normal",
            "high".
        with_result: Return the result of the run too: loss, levels, proof. Notebooks show it well.
        observe: Called with every event of the run, to follow a long one.
        options: Other keys of a definition, with underscores for spaces: `missing="basic"`,
            `search={"time limit": "60 s"}`, `attributes={"diagnosis": "keep"}`.

    Returns:
        The released frame, or with `with_result` the frame and its result.

    Raises:
        BadDefinition: for columns that are not there or have no role, and for impossible demands.
        BadData: for something that is no frame, has no records, or names a column twice.
        Infeasible: when no transformation meets the demand.
    """
    names = [quasi_identifiers] if isinstance(quasi_identifiers, str) else quasi_identifiers
    persons = [str(name) for name in (person if isinstance(person, list | tuple) else [person])]
    attributes: dict[str, Any] = {str(name): "identifier" for name in identifiers}
    keys = {key.replace("_", " "): value for key, value in options.items()}
    attributes.update(keys.pop("attributes", {}))
    _refuse_two_roles(names, attributes)
    for name in names:
        hierarchy = names[name] if isinstance(names, Mapping) else None
        attributes[str(name)] = _quasi_identifier(hierarchy)
    attributes.update({name: "identifier" for name in persons if name not in attributes})
    demands = {"k": k, "suppression": suppression, "person": persons, "recoding": recoding}
    if effort is not None:
        keys["search"] = {"effort": effort, **keys.get("search", {})}
    mapping = {**demands, "attributes": attributes, **keys}
    if others is not None:
        mapping["others"] = others
    definition = from_mapping({"source": "frame", **mapping}, file=CALL)
    resources = definition.engine.resources(lambda share: observe(Working(share)))
    with closing(_opened(frame, resources)) as source:
        if others is None:
            _refuse_without_role([column.name for column in source.columns()], attributes)
        staged, result = release(definition, source, None, observe, file=CALL)
    released = staged.frame()  # type: ignore[attr-defined]  # staged in memory, as a frame
    return (released, result) if with_result else released


def _opened(frame: Any, resources: Resources) -> Source:
    """The frame where it is: in Spark, or in memory."""
    return open_spark_frame(frame) if is_spark(frame) else open_frame(frame, resources=resources)


def _quasi_identifier(given: Any) -> dict[str, Any]:
    """An attribute from nothing, a hierarchy, or a mapping with hierarchy, limit, priority."""
    attribute: dict[str, Any] = {"role": "quasi-identifier"}
    if given is None:
        return attribute
    keys = {"hierarchy", "from", "limit", "priority", "information loss"}
    if isinstance(given, Mapping) and given.keys() and given.keys() <= keys:
        return {**attribute, **given}
    return {**attribute, "hierarchy": given}


def _refuse_two_roles(names: Sequence[Any] | Mapping[Any, Any], others: Mapping[str, Any]) -> None:
    """Refuse a column with two roles: it is not clear which one was meant."""
    twice = [str(name) for name in names if str(name) in others]
    if twice:
        remedy = "name it once, with the role that was meant"
        raise BadDefinition(
            CALL,
            [Mistake(name, "is a quasi-identifier and something else", remedy) for name in twice],
        )


def _refuse_without_role(columns: Sequence[str], attributes: Mapping[str, Any]) -> None:
    """Refuse columns without a role: one of them may identify a person."""
    unnamed = [name for name in columns if name not in attributes]
    if unnamed:
        what = f"nothing is said of {quoted(unnamed)}"
        remedy = 'say others="keep" to release them unchanged or others="drop" to leave them out'
        raise BadDefinition(CALL, [Mistake("others", what, remedy)])
