"""Hierarchies that name every label: files and trees.

`ancestors_of` reads the tree of values that hierarchical distance needs.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.model import Csv, Hierarchy, Taxonomy
from shoal.errors import BadHierarchy
from shoal.verify.labels.built import TOP, Built

if TYPE_CHECKING:
    from shoal.definition.hierarchies.base import Kind
    from shoal.measure.distance import Ancestors


class Listed:
    """A row of labels for each value; level by level the set of allowed labels."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self.rows = tuple(map(tuple, rows))
        columns = zip(*self.rows, strict=True) if self.rows else [(), (TOP,)]
        self.levels = tuple(map(frozenset, columns))

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.levels) - 1

    def misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Labels that the level does not name."""
        return [label for label in labels if label not in self.levels[level]]

    def single(self, level: int, labels: Sequence[str]) -> bool:  # noqa: ARG002
        """Whether it is the last level and names one label."""
        return level == self.height and len(self.levels[level]) == 1

    @property
    def last(self) -> int:
        """The level of the last labels of the rows."""
        return self.height

    def generalized(self, level: int) -> dict[str, str]:
        """What the row of each value says; a value with two rows that differ has none."""
        return _label_of(self.rows, level)


def _label_of(rows: Sequence[Sequence[str]], level: int) -> dict[str, str]:
    """The label of each value at a level, without values that have two labels there."""
    labels: dict[str, str] = {}
    doubtful = {row[0] for row in rows if labels.setdefault(row[0], row[level]) != row[level]}
    return {value: label for value, label in labels.items() if value not in doubtful}


def file_labels(spec: Csv) -> Listed:
    """The columns of a hierarchy file: the values, then the labels of level 1, 2 and so on."""
    return Listed(file_rows(spec))


def tree_labels(spec: Taxonomy) -> Listed:
    """The labels of a tree, level by level."""
    return Listed(tree_rows(spec))


class RebuiltLabels(Built):
    """What a kind itself makes of the values, built once more for the verifier.

    For kinds that the verifier has no reading of its own of, those of plug-ins among them.
    """

    def __init__(self, spec: Kind, values: Collection[str] | None) -> None:
        if values is None:
            raise BadHierarchy(
                f"what {spec.title} makes of the values needs the source",
                code="builder-needs-source",
                hint="put the source where the definition says, so that its values can be read",
            )
        self.rows = _rebuilt(spec, values) if values else []
        listed = len(self.rows[0]) - 1 if self.rows else spec.listed or 0
        super().__init__(listed, values)

    def is_value(self, label: str) -> bool:
        """One of the values of the source."""
        return label in (self.values or ())

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Labels that no value has at the level."""
        known = set(self.labelled(level).values())
        return [label for label in labels if label not in known]

    def labelled(self, level: int) -> dict[str, str]:
        """The label in the row of each value; a value with two rows that differ has none."""
        return _label_of(self.rows, level)

    def is_whole(self, label: str) -> bool:
        """Whether every value has this label."""
        return set(self.labelled(self.listed).values()) == {label}


def _rebuilt(spec: Kind, values: Collection[str]) -> list[tuple[str, ...]]:
    """The rows of a kind, all of one length."""
    try:
        rows = [tuple(row) for row in spec.rows("the column", dict.fromkeys(values, 1)).rows]
        if len(set(map(len, rows))) > 1:
            raise ValueError("rows of different lengths")
        return rows
    except Exception as error:
        raise BadHierarchy(
            f"{spec.title} makes no hierarchy ({type(error).__name__})",
            code="builder-failed",
            hint="the verifier needs the same version of the plug-in as the run",
        ) from error


def file_rows(spec: Csv) -> list[list[str]]:
    """The rows of a hierarchy file, blank ones left out."""
    try:
        with spec.path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=spec.delimiter) if row]
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise BadHierarchy(
            f"{spec.path}: the hierarchy cannot be read ({type(error).__name__})",
            code="unreadable-hierarchy",
            hint="the verifier needs the same hierarchy files as the run; put the file there",
        ) from error
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise BadHierarchy(
            f"{spec.path}: {'no rows' if not rows else 'rows of different lengths'}",
            code="ragged-hierarchy",
            hint="give every row the value and its label at each level, separated by "
            f"{spec.delimiter!r}",
        )
    return rows


def tree_rows(spec: Taxonomy) -> list[tuple[str, ...]]:
    """The leaves of a tree, each with its label at every level up to a single one.

    A leaf that lies less deep than others is its own label up to its depth.
    """
    paths = list(_paths(spec.tree, ()))
    depth = max((len(path) for path in paths), default=0)
    rows = [(path + path[-1:] * (depth - len(path)))[::-1] for path in paths]
    single = len({row[-1] for row in rows}) == 1
    return rows if single else [(*row, TOP) for row in rows]


def _paths(tree: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The way from the root to each leaf; a key with nothing under it is a leaf."""
    if above and (tree is None or tree in ("", {}, [], ())):
        yield above
    elif isinstance(tree, Mapping):
        for label, below in tree.items():
            yield from _paths(below, (*above, str(label)))
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from _paths(item, above)
    else:
        yield (*above, str(tree))


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
