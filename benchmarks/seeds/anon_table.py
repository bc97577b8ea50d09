"""The table, hierarchies and demands of the ANON report's experiments.

Adult, both parts, without the 3,620 records that miss a value: 45,222 records. The attributes stand
in the order of the report's definition file; with 5, 2, 2, 3, 4, 3 and 3 levels (table 3 counts the
steps: 4, 1, 1, 2, 3, 2, 2) they span 2,160 nodes.

The report's hierarchies and quantifiers are not published. The hierarchies here are those of ARX,
except that of the marital status: the report says that with l = (2, 14) and nothing suppressed only
the top of the lattice is safe. The 14 members of the armed forces are all married or never married,
so this holds exactly where those who were married once are a group of their own, as here; ARX's
two groups, spouse present or not, both have members of every occupation. Quantifiers are level /
height, priorities 1/7 to 7/7 in the report's order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from benchmarks.box import DATA

from shoal.definition.read import from_mapping
from shoal.encode.table import encode
from shoal.engines.opening import open_source
from shoal.loss.builtin import Weighted
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.search.objective import LevelObjective
from shoal.search.problem import Problem, partition
from shoal.values import Best

if TYPE_CHECKING:
    from shoal.encode.table import Table
    from shoal.values import Ints, Node

ATTRIBUTES = "age sex race marital-status education native-country workclass".split()
FROM_LOW_PRIORITY = "age native-country education marital-status workclass race sex".split()
SALARY, OCCUPATION = "salary-class", "occupation"
MARITAL_STATUS = {
    "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
    "was married": ["Divorced", "Separated", "Widowed"],
    "never married": ["Never-married"],
}
OCCUPATIONS = 14
KS = (2, 3, 5, 10, 14, 20, 100, 200, 1000)


@dataclass(frozen=True)
class Demand:
    """k, the diversities of salary class and occupation, and the share that may be suppressed."""

    k: int
    salary: int = 1
    occupation: int = 1
    percent: int = 0


def read_table(size: int, *, arx_marital_status: bool = False) -> Table:
    """Adult with the first quasi-identifiers, encoded; records that miss any value are left out."""
    folder = DATA / "adult" / "hierarchies"
    attributes: dict[str, object] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": str(folder / f"{name}.csv"),
            "priority": (FROM_LOW_PRIORITY.index(name) + 1) / len(ATTRIBUTES),
        }
        for name in ATTRIBUTES[:size]
    }
    if "marital-status" in attributes and not arx_marital_status:
        attributes["marital-status"] = {
            "role": "quasi-identifier",
            "hierarchy": {"tree": MARITAL_STATUS},
            "priority": (FROM_LOW_PRIORITY.index("marital-status") + 1) / len(ATTRIBUTES),
        }
    for name in (SALARY, OCCUPATION):
        attributes[name] = {"role": "sensitive", "diversity": {"distinct": 2}}
    definition = from_mapping(
        {
            "source": str(DATA / "adult-uci" / "data.csv"),
            "output": "release.csv",
            "k": 2,
            "others": "drop",
            "attributes": attributes,
        }
    )
    source = open_source(definition.source.options())
    counted = source.count_by((*ATTRIBUTES, SALARY, OCCUPATION), ("?",))
    recorded = [pc.is_valid(counted[name]) for name in (*ATTRIBUTES, SALARY, OCCUPATION)]
    return encode(definition, counted.filter(reduce(pc.and_, recorded)))


def without_priorities(table: Table) -> Table:
    """The same table, on which every step of every attribute costs the same.

    Best-first then goes up one height of the lattice after another, as the report's second run did
    without its cost function.
    """
    attributes = tuple(
        replace(each, priority=1.0, quantifiers=tuple(float(i) for i in range(each.height + 1)))
        for each in table.attributes
    )
    return replace(table, attributes=attributes)


def problem_of(table: Table, demand: Demand) -> Problem:
    """Weighted information loss under a demand.

    The limit is rounded up, as in the report: 1 % of 45,222 records are 453. A definition of Shoal
    rounds down, to 452.
    """
    diversities = {SALARY: demand.salary, OCCUPATION: demand.occupation}
    asked = {name: l for name, l in diversities.items() if l > 1}
    table = replace(table, histograms={name: table.histograms[name] for name in asked})
    return Problem(
        table,
        (KAnonymity(demand.k), *(DistinctDiversity(name, l) for name, l in asked.items())),
        LevelObjective(table, Weighted()),
        limit=-(-demand.percent * table.records // 100),
    )


@dataclass(frozen=True, eq=False)
class Tally:
    """For each node its classes by size and diversities: records, classes and the smallest class.

    Every demand of the report can be answered from it, so that each node is counted once for all
    anonymizations and not once for each. Sizes are given by how many of the report's k they reach.
    """

    table: Table
    counts: dict[Node, tuple[Ints, Ints, Ints]] = field(default_factory=dict)

    def suppressed(self, node: Node, demand: Demand) -> int:
        """The records that a demand suppresses at a node."""
        records, _, _ = self._of(node)
        return int(records.sum() - records[_kept(demand)].sum())

    def best(self, node: Node, demand: Demand, loss: float) -> Best:
        """What is released at a node."""
        _, classes, smallest = self._of(node)
        kept = _kept(demand)
        suppressed = self.suppressed(node, demand)
        return Best(node, loss, suppressed, int(classes[kept].sum()), int(smallest[kept].min()))

    def _of(self, node: Node) -> tuple[Ints, Ints, Ints]:
        if node not in self.counts:
            found = partition(self.table, (), node).counts
            diversities = [np.diff(found.histograms[name].starts) for name in (SALARY, OCCUPATION)]
            cells = (np.searchsorted(KS, found.sizes, "right"), *diversities)
            records = np.zeros((len(KS) + 1, 3, 15), dtype=np.int64)
            classes = np.zeros_like(records)
            smallest = np.full_like(records, self.table.records)
            np.add.at(records, cells, found.sizes)
            np.add.at(classes, cells, 1)
            np.minimum.at(smallest, cells, found.sizes)
            self.counts[node] = (records, classes, smallest)
        return self.counts[node]


def _kept(demand: Demand) -> tuple[slice, slice, slice]:
    """The cells of a tally whose classes meet a demand."""
    least = KS.index(demand.k) + 1
    return slice(least, None), slice(demand.salary, None), slice(demand.occupation, None)


@dataclass(frozen=True, eq=False)
class Remembered(Problem):
    """A problem whose nodes are judged from a tally."""

    tally: Tally
    demand: Demand

    def check(self, node: Node) -> Best | None:
        suppressed = self.tally.suppressed(node, self.demand)
        if suppressed > self.limit or suppressed == self.table.records:
            return None
        return self.tally.best(node, self.demand, self.objective.lower_bound(node))


def remembered(table: Table, tally: Tally, demand: Demand) -> Remembered:
    """The problem of a demand, whose checks a tally answers."""
    plain = problem_of(table, demand)
    return Remembered(plain.table, plain.models, plain.objective, plain.limit, tally, demand)
