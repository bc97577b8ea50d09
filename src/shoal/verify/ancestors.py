"""The tree of values of a sensitive attribute, read by the verifier itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.model import Csv, Hierarchy, Taxonomy
from shoal.errors import BadHierarchy
from shoal.verify.labels.listed import file_rows, tree_rows

if TYPE_CHECKING:
    from shoal.measure.distance import Ancestors


def ancestors_of(spec: Hierarchy | None) -> Ancestors:
    """The tree of values in a file or a taxonomy; the other hierarchies state none."""
    match spec:
        case Csv():
            return {row[0]: row for row in file_rows(spec)}
        case Taxonomy():
            return {row[0]: row for row in tree_rows(spec)}
    raise BadHierarchy(
        "hierarchical distance needs a hierarchy that names its values: a file or a tree",
        code="no-tree",
        hint="write the hierarchy to a file with `shoal hierarchy make`",
    )


def read_trees(hierarchies: Mapping[str, Any], attributes: Sequence[str]) -> dict[str, Ancestors]:
    """The trees of attributes, each a path, `{path: ..., delimiter: ...}` or `{tree: ...}`."""
    for name in hierarchies:
        if name not in attributes:
            raise BadHierarchy(
                f"there is a hierarchy for {name!r}, which is not among the sensitive attributes",
                code="no-tree",
                hint="name the attribute as sensitive, or leave the hierarchy out",
            )
    return {name: ancestors_of(_spec(name, stated)) for name, stated in hierarchies.items()}


def _spec(name: str, stated: Any) -> Csv | Taxonomy:
    if isinstance(stated, str | Path):
        stated = {"path": stated}
    try:
        if isinstance(stated, Mapping) and "path" in stated:
            return Csv.model_validate(stated)
        return Taxonomy.model_validate(stated)
    except ValueError:
        raise BadHierarchy(
            f"the hierarchy of {name!r} is neither a path nor a tree",
            code="no-tree",
            hint='give a file, or {"tree": {"label": ["value", "value"]}}',
        ) from None
