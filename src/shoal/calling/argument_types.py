"""The types of what public functions take, and of the frames that they give back; `names_of`.

Frames of pandas, polars, Arrow and Spark share no class, so a frame is what has columns. A function
that gives back the kind of frame that it was given says so with the type variable `Frame`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession as ClassicSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    from shoal.definition.model import Definition
    from shoal.events import Event
    from shoal.report.proposal import Proposal


class DataFrame(Protocol):
    """A frame of pandas, polars or Spark, or an Arrow table."""

    @property
    def columns(self) -> object:
        """What every one of them has."""


Frame = TypeVar("Frame", bound=DataFrame)
"""The kind of frame that was given."""

Names: TypeAlias = "str | int | Iterable[Hashable]"
"""One name of a column, or several. Names that are no text are compared by their text."""

HierarchyLike: TypeAlias = "str | Path | Mapping[str, object] | None"
"""What a definition says of a hierarchy: `{"mask": 5}`, `"suppress"`, a file; None proposes one."""

QuasiIdentifiers: TypeAlias = "Names | Mapping[str, HierarchyLike] | Mapping[int, HierarchyLike]"
"""Names, to have hierarchies proposed; or names with their hierarchies."""

Demand: TypeAlias = "int | Mapping[str, object] | None"
"""What is demanded of a sensitive column: `3` different values in each class, or the keys of a
definition, such as `{"closeness": 0.2}`."""

Sensitive: TypeAlias = "Names | Mapping[str, Demand] | Mapping[int, Demand]"
"""Names, for at least two different values in each class; or names with their demands."""

DefinitionLike: TypeAlias = "Definition | Mapping[str, object] | str | Path"
"""A definition; or what one is read from: a mapping with its keys, or the path of its file."""

Location: TypeAlias = "str | Path | Mapping[str, object]"
"""Where records are or go, as a definition says it: a path, or a mapping such as
`{"url": "sqlite:///clinic.db", "table": "visits"}`."""

SourceLike: TypeAlias = "Location | Sequence[Location] | DataFrame"
"""Records: a path or glob, any other location, several of them, or a frame."""

SparkSession: TypeAlias = "ClassicSession | ConnectSession"
"""A session of Spark, on a cluster or by Spark Connect."""

Observer: TypeAlias = "Callable[[Event], None]"
"""Is called with every event of a run: a step begins, the search found something better."""

Watch: TypeAlias = "Callable[[str], None]"
"""Is called with a line that says how far a long work is, at most ten times a second."""

Ask: TypeAlias = "Callable[[Proposal], bool]"
"""Shows a person what would be released, and says whether the answer is yes."""


def names_of(names: Names) -> list[str]:
    """One name, or several, as texts."""
    several = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    return [str(name) for name in (names if several else [names])]  # type: ignore[union-attr]
