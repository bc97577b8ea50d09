"""Records that a caller gives in any form: a frame, a path, or what a definition can name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.read import from_mapping
from shoal.engines.frames.source import is_spark, open_frame
from shoal.engines.opening import open_source
from shoal.engines.options import Resources
from shoal.engines.spark import open_frame as open_spark_frame

if TYPE_CHECKING:
    from shoal.calling.argument_types import SourceLike, SparkSession
    from shoal.definition.model import Several, SourceLocation
    from shoal.engines.base import Source


def is_named(data: object) -> bool:
    """Whether data is what a definition can name, and no frame."""
    return isinstance(data, str | Path | dict | list | tuple)


def plain(location: Any) -> Any:
    """A location as a definition spells it."""
    return str(location) if isinstance(location, Path) else location


def located(data: object, what: str) -> SourceLocation | Several:
    """Where the data is that a definition can name; `what` is what messages call it."""
    bare: Mapping[str, object] = {"k": 2, "attributes": {"any": "quasi-identifier"}}
    return from_mapping({"source": plain(data), **bare}, file=what).source


def open_given(
    data: SourceLike,
    expect: Collection[str] = (),
    *,
    resources: Resources = Resources(),  # noqa: B008 frozen
    spark: SparkSession | None = None,
) -> Source:
    """Open what the caller gave, where it is: a frame, or what a definition can name."""
    if is_named(data):
        options = located(data, "the data").options()
        return open_source(options, expect, resources=resources, spark=spark)
    return open_any_frame(data, resources=resources)


def open_any_frame(
    frame: object,
    *,
    resources: Resources = Resources(),  # noqa: B008 frozen
    stored: bool = False,
) -> Source:
    """Open a frame where it is: in Spark, or in memory; `stored` as an engine has it."""
    if is_spark(frame):
        return open_spark_frame(frame)
    return open_frame(frame, resources=resources, stored=stored)
