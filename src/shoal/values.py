"""The frozen values that packages pass on: nodes, counts of classes, findings, results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Bools: TypeAlias = NDArray[np.bool_]

Node: TypeAlias = tuple[int, ...]
"""A transformation: one level for each quasi-identifier, in the order of the definition."""


StatedLevels: TypeAlias = int | Mapping[int, int]
"""The level of a quasi-identifier in a release, or in local recoding the records at each level."""


@dataclass(frozen=True)
class Reference:
    """A sensitive attribute in the whole table, suppressed records included.

    `values` are in their order (numbers by size, text by code point) and `counts` says how many
    records have each. `parents[d][v]` is the ancestor of value `v` at level `d` of the attribute's
    hierarchy, empty where it has none.
    """

    values: tuple[str | None, ...]
    counts: Ints
    parents: tuple[Ints, ...] = ()


@dataclass(frozen=True)
class Histogram:
    """The values of one sensitive attribute in each class, as compressed rows.

    Class `c` has `counts[i]` records with value `values[i]` for `starts[c] <= i < starts[c + 1]`;
    within a class the values are distinct and rising.
    """

    starts: Ints
    values: Ints
    counts: Ints
    reference: Reference


@dataclass(frozen=True)
class Counts:
    """Classes: how many records each has, and which sensitive values.

    Where persons are counted, `members[None]` are the persons of each class. Histograms then count
    each person once with each of their values, and `members[name]` are these pairs of person and
    value, missing values included. Otherwise `members` is empty, and records are counted.

    Where there is a table of the population, `population` has its records in each class, and
    `absent` is the number of its classes without any record counted here.
    """

    sizes: Ints
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    members: Mapping[str | None, Ints] = field(default_factory=dict)
    population: Ints | None = None
    absent: int = 0

    def of(self, attribute: str | None) -> Counts:
        """The classes as counted for a model of this sensitive attribute, or of none.

        Sizes are what the model counts: records, persons, or pairs of person and value.
        """
        if not self.members:
            return self
        return Counts(self.members[attribute], self.histograms)


@dataclass(frozen=True)
class Best:
    """A safe node and what it costs."""

    node: Node
    loss: float
    suppressed: int
    classes: int
    smallest_class: int

    @property
    def local(self) -> bool:
        """Whether it is a local recoding: then it has no node."""
        return not self.node

    @property
    def rank(self) -> tuple[float, int, Node]:
        """Least loss, then fewest suppressed records, then the smallest levels.

        Losses are compared to 12 decimals, so that equal losses summed in another order stay equal.
        """
        return (round(self.loss, 12), self.suppressed, self.node)


@dataclass(frozen=True)
class Closed:
    """A box of nodes, those between `lo` and `hi`, without a better node than the best, and why.

    `infeasible`: at `hi`, and so in the whole box, too many records must be suppressed. `bound`: no
    node of the box can cost less than the best. `single`: the box is one node, which was checked.
    """

    why: str
    lo: Node
    hi: Node


@dataclass(frozen=True)
class Finding:
    """One thing the verifier looked at: what, whether it holds, and what it saw."""

    name: str
    holds: bool
    saw: str


@dataclass(frozen=True)
class Verdict:
    """What the verifier says of a release: every finding, and yes only if all of them hold."""

    findings: tuple[Finding, ...]
    records: int
    classes: int
    smallest_class: int

    @property
    def safe(self) -> bool:
        return all(finding.holds for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.holds)


@dataclass(frozen=True)
class Demand:
    """A privacy model in a result: what was demanded, the value reached, whether that meets it."""

    model: str
    attribute: str | None
    demanded: str
    reached: float
    met: bool


@dataclass(frozen=True)
class Level:
    """A level of a hierarchy: how many labels the table has there, and one of them.

    The example is None where no label may be shown: fewer than k released records have one.
    """

    level: int
    labels: int
    example: str | None


@dataclass(frozen=True)
class LabelCount:
    """A label of the release: the records of the source that have it at the released level, and
    those of the release.

    `before` is None where it would say how many of a few suppressed records had the label. In a
    result the label is None for all others together.
    """

    label: str | None
    before: int | None
    after: int


@dataclass(frozen=True)
class Treatment:
    """What a run did to one quasi-identifier.

    `loss` is what its cells lost on average, `left_out` the part of it that suppressed records
    lost. `information_loss` is what its level costs by the weighted information loss, before its
    priority. `levels` are those of its hierarchy, `labels` the most frequent of the release.
    In local recoding `records_at` has the released records at each level, `level` is the highest of
    these, `example` is from several, and `information_loss` is the mean over the records. Where
    there are several levels, `labels` are those of all levels, without counts of the source.
    """

    level: int
    height: int
    loss: float
    information_loss: float
    priority: float
    example: str
    proposed: bool
    left_out: float = 0.0
    levels: tuple[Level, ...] = ()
    labels: tuple[LabelCount, ...] = ()
    records_at: Mapping[int, int] | None = None

    @property
    def shown_level(self) -> str:
        """The level as people read it: `2 of 4`, or `0 to 2 of 4` in local recoding."""
        lowest = self.level if self.records_at is None else min(self.records_at, default=0)
        levels = str(self.level) if lowest == self.level else f"{lowest} to {self.level}"
        return f"{levels} of {self.height}"


@dataclass(frozen=True)
class Sizes:
    """The released classes of `least` to `most` records: how many, and how many records in all."""

    least: int
    most: int
    classes: int
    records: int


@dataclass(frozen=True)
class Exposure:
    """How easily people are recognised by their quasi-identifiers in a table.

    The risk of a record is 1 / size of its class, counted in persons where the definition names
    them. `alone` records have a class of 1, `below_k` one of fewer than k; `sizes` are of records.
    """

    records: int
    classes: int
    smallest_class: int
    highest: float
    average: float
    alone: int
    below_k: int
    sizes: tuple[Sizes, ...]


@dataclass(frozen=True)
class Moment:
    """The search at a time: the best loss so far, None before the first, and the bound."""

    seconds: float
    best: float | None
    bound: float


@dataclass(frozen=True)
class Caution:
    """A warning of a run: a code to look up, the column it is about, and how many records.

    `text` says what was seen and what to do, in a line and without a value of the data. With
    `strict: true` a definition makes cautions refusals.
    """

    code: str
    attribute: str | None
    text: str
    records: int


@dataclass(frozen=True)
class Failure:
    """Why nothing could be released, and changes each of which would be enough by itself."""

    reasons: tuple[str, ...]
    remedies: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The best node that is known beside one that a person chose, and what the choice costs.

    `optimum` is the loss of the best node and `levels` are its levels; `proved` says that no node
    loses less. The chosen node loses `more` than that.
    """

    optimum: float
    levels: Mapping[str, int]
    more: float
    proved: bool


@dataclass(frozen=True)
class Result:
    """The outcome of a run; `to_json` in report/result.py writes exactly these fields.

    Where no transformation meets the demand, `failure` says why, the loss is infinite, nothing has
    a level, and `privacy` says what the most general transformation reaches. `raised` has the
    attributes whose levels below the one named no solution can use; they were not searched.
    `sources` counts the records that were read from each source. Where the definition names
    `person` columns, `persons` counts those of the source, and `smallest_class_persons` those of
    the class with the fewest; both are None otherwise. `output_sha256` is of the bytes of the
    release where that is a file. `before` and `after` say how easily people are recognised in the
    source and in the release; `before` is None where there were too many tuples to count.
    `progress` has the search in a few hundred moments. `chosen` is there where a person chose the
    node. With local `recoding`, `levels` has the released records at each level of an attribute.
    """

    status: str
    loss: float
    bound: float
    gap: float
    levels: Mapping[str, Any]
    records: int
    removed: int
    suppressed: int
    classes: int
    smallest_class: int
    tuples: int
    lattice: int
    checked: int
    boxes: int
    strategy: str
    seconds: Mapping[str, float]
    verified: bool
    privacy: tuple[Demand, ...]
    output: str | None
    input_sha256: str | None
    versions: Mapping[str, str]
    loss_model: str
    suppression_limit: int
    treatments: Mapping[str, Treatment]
    hierarchies: Mapping[str, Any]
    weighted_information_loss: float
    class_sizes: tuple[Sizes, ...]
    failure: Failure | None = None
    raised: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    persons: int | None = None
    smallest_class_persons: int | None = None
    warnings: tuple[Caution, ...] = ()
    output_sha256: str | None = None
    before: Exposure | None = None
    after: Exposure | None = None
    progress: tuple[Moment, ...] = ()
    chosen: Choice | None = None
    recoding: str = "full-domain"

    def published(self, output: str) -> Self:
        """The same result, with the location of the published output."""
        return replace(self, output=output)


@dataclass(frozen=True)
class Trial:
    """What one strategy found: its best node, how far it may be from the optimum, what it took.

    `loss` is None where nothing was found, and `ended` says why the search ended. `curve` has each
    new best loss with its second. `memory` is in bytes, None where it is not known. In local
    recoding `levels` has the released records at each level.
    """

    strategy: str
    loss: float | None
    proved: bool
    bound: float
    gap: float
    levels: Mapping[str, StatedLevels]
    suppressed: int
    checked: int
    boxes: int
    seconds: float
    memory: int | None
    ended: str
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Comparison:
    """Several strategies on the same problem, the best first."""

    source: str
    records: int
    tuples: int
    lattice: int
    loss_model: str
    time_limit: float | None
    trials: tuple[Trial, ...]
