"""How anonymous is a table as it stands? Measured without a definition."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from shoal.verify.recount import recount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.engines.base import Source
    from shoal.values import Ints

_BOUNDS = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Bucket:
    """How many classes have from `least` to `most` (None: no end) records, and how many in all."""

    least: int
    most: int | None
    classes: int
    records: int

    @property
    def label(self) -> str:
        """The sizes as people write them: `1`, `3-4`, `100+`."""
        if self.most is None:
            return f"{self.least}+"
        return f"{self.least}" if self.least == self.most else f"{self.least}-{self.most}"


@dataclass(frozen=True)
class Measure:
    """The classes of a table: k is the smallest, and a class of one is a unique record."""

    name: str
    quasi_identifiers: tuple[str, ...]
    records: int
    classes: int
    smallest_class: int
    largest_class: int
    average_class: float
    unique_records: int
    incomplete_records: int
    class_sizes: tuple[Bucket, ...]

    @property
    def k(self) -> int:
        """The greatest k for which the table is k-anonymous, 0 when it is empty."""
        return self.smallest_class

    def facts(self) -> list[tuple[str, str]]:
        """What was measured, as pairs to be shown."""
        return [
            ("quasi-identifiers", ", ".join(self.quasi_identifiers)),
            ("records", f"{self.records:,}"),
            ("classes", f"{self.classes:,}"),
            ("smallest class (k)", f"{self.smallest_class:,}"),
            ("average class", f"{self.average_class:,.1f}"),
            ("largest class", f"{self.largest_class:,}"),
            ("unique records", self._share(self.unique_records)),
            ("records with a missing quasi-identifier", self._share(self.incomplete_records)),
        ]

    def _share(self, records: int) -> str:
        return f"{records:,} ({records / max(1, self.records):.1%})"

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.smallest_class}-anonymous" if self.records else self.name]
        lines += [f"{what}: {value}" for what, value in self.facts()]
        lines += [
            f"classes of {bucket.label}: {bucket.classes:,} ({self._share(bucket.records)} records)"
            for bucket in self.class_sizes
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><th style='text-align:left'>{escape(what)}</th><td>{escape(value)}</td></tr>"
            for what, value in self.facts()
        )
        sizes = "".join(
            f"<tr><td>{escape(bucket.label)}</td><td>{bucket.classes:,}</td>"
            f"<td>{bucket.records:,}</td></tr>"
            for bucket in self.class_sizes
        )
        return (
            f"<div><strong>{escape(self.name)}: k = {self.smallest_class}</strong>"
            f"<table>{facts}</table>"
            "<table><thead><tr><th>class size</th><th>classes</th><th>records</th></tr></thead>"
            f"<tbody>{sizes}</tbody></table></div>"
        )


def measure(
    source: Source, quasi_identifiers: Sequence[str], missing: Sequence[str] = ()
) -> Measure:
    """Count the classes of any table; empty text, null and the `missing` texts are equal values."""
    found = recount(source, quasi_identifiers, missing=missing)
    return Measure(
        name=source.name,
        quasi_identifiers=found.quasi_identifiers,
        records=found.records,
        classes=found.classes,
        smallest_class=found.smallest,
        largest_class=int(found.sizes.max(initial=0)),
        average_class=found.records / max(1, found.classes),
        unique_records=found.classes - len(found.sizes[found.sizes > 1]),
        incomplete_records=found.incomplete,
        class_sizes=_buckets(found.sizes),
    )


def _buckets(sizes: Ints) -> tuple[Bucket, ...]:
    ends = [least - 1 for least in _BOUNDS[1:]]
    buckets = []
    for least, most in zip(_BOUNDS, [*ends, None], strict=True):
        inside = (
            sizes[sizes >= least] if most is None else sizes[(sizes >= least) & (sizes <= most)]
        )
        buckets.append(Bucket(least, most, len(inside), int(inside.sum())))
    return tuple(buckets)
