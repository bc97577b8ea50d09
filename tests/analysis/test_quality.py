"""Quality measures, against ARX's numbers and against plain Python on small random tables."""

from __future__ import annotations

import csv
import math
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import Cell, Ladder
from problems import Case, cases, problem_of
from shoal.analysis.quality import Measure, Quality, qualities
from shoal.analysis.squared_errors import position_scale, scale_of, squared_errors
from shoal.engines.opening import open_source
from shoal.pipeline import Prepared, load, prepare
from shoal.search.problem import Problem
from shoal.values import Node

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ARX = DATA / "arx_utility_reference.csv"
Numbers = dict[tuple[str, str, str], str]


def reference() -> dict[tuple[str, int, str], Numbers]:
    """ARX's numbers of its outputs, by table, number of columns and demand."""
    found: dict[tuple[str, int, str], Numbers] = {}
    if ARX.is_file():
        with ARX.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["state"] == "output":
                    key = (row["dataset"], int(row["quasi_identifiers"]), row["privacy"])
                    found.setdefault(key, {})[row["measure"], row["subject"], row["parameter"]] = (
                        row["value"]
                    )
    return found


def prepared(table: str, names: Sequence[str], privacy: str) -> Prepared:
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": f"{DATA}/{table}/hierarchies/{name}.csv"}
        for name in names
    }
    if "occupation" in privacy:
        attributes["occupation"] = {"role": "sensitive", "diversity": {"distinct": 3}}
    definition = load(
        {
            "source": f"{DATA}/{table}/data.csv",
            "k": 5,
            "suppression": "5%",
            "attributes": attributes,
            "others": "drop",
        }
    )
    with closing(open_source(definition.source.options())) as source:
        return prepare(definition, source, file="definition")


def numbers_of(found: Quality) -> Iterator[tuple[str, str, float]]:
    """The numbers of a measure under ARX's names: subject, parameter, value."""
    measures = dict(found.attributes)
    if found.table is not None:
        measures[""] = found.table
    turned = found.name == "missings"
    for subject, each in measures.items():
        yield subject, "quality", 1 - each.quality if turned else each.quality
        yield subject, "raw", 1 - each.raw if turned else each.raw
        yield subject, "raw minimum", each.minimum
        yield subject, "raw maximum", each.maximum
    for name, value in found.aggregates.items():
        if not turned:
            yield "", name, value
        elif name.startswith("arithmetic"):
            yield "", name, 1 - value


@pytest.mark.slow
@pytest.mark.parametrize(("table", "columns", "privacy"), sorted(reference()))
def test_every_measure_is_that_of_arx(table: str, columns: int, privacy: str) -> None:
    arx = reference()[table, columns, privacy]
    names = arx["quasi_identifier_list", "", ""].split("|")
    ready = prepared(table, names, privacy)
    node = tuple(int(arx["generalization_level", name, ""]) for name in names)
    classes = ready.problem.partition(node)
    assert classes.suppressed == int(arx["suppressed_records", "", ""])
    read = ready.table
    parts = list(zip(read.attributes, read.records_of, node, strict=True))
    positions = [position_scale(*part) for part in parts]
    compared = [("", each) for each in qualities(read, node, classes)]
    compared += [("", each) for each in squared_errors(read, node, classes, positions)]
    if table == "adult":
        usual = squared_errors(read, node, classes, [scale_of(*part) for part in parts])
        compared += [("age as integer: ", each) for each in usual]
    seen = set()
    for prefix, found in compared:
        for subject, parameter, value in numbers_of(found):
            key = (found.name, subject, prefix + parameter)
            assert value == pytest.approx(float(arx[key]), rel=1e-9, abs=1e-9), key
            seen.add(key)
    ours = {found.name for _, found in compared}
    turned_round = ("geometric mean", "max")
    assert {
        key
        for key in arx
        if key[0] in ours
        and key not in seen
        and not (key[0] == "missings" and key[2].startswith(turned_round))
    } == set()


Row = tuple[Cell, ...]


class Slow:
    """The measures as their definitions say, record by record."""

    def __init__(self, case: Case, node: Sequence[int]) -> None:
        self.case, self.node = case, node
        self.labels: list[Row] = [
            tuple(
                ladder.label(cell, level)
                for ladder, cell, level in zip(case.ladders, row, node, strict=True)
            )
            for row in case.rows
        ]
        sizes = Counter(self.labels)
        self.sizes = sizes
        self.kept = [sizes[labels] >= case.k for labels in self.labels]

    def cells(self, j: int) -> Iterator[tuple[Cell, Cell, bool]]:
        for row, labels, kept in zip(self.case.rows, self.labels, self.kept, strict=True):
            yield row[j], labels[j], kept

    def levels_with(self, ladder: Ladder, label: str) -> list[int]:
        return [
            level
            for level in range(ladder.height + 1)
            if any(steps[level] == label for steps in ladder.steps.values())
        ]

    def leaves(self, ladder: Ladder, label: Cell) -> int:
        if label is None:
            return 1
        level = max(self.levels_with(ladder, label))
        return sum(steps[level] == label for steps in ladder.steps.values())

    def attribute(self, j: int) -> dict[str, Measure]:
        ladder, records = self.case.ladders[j], len(self.case.rows)
        whole, height = len(ladder.steps), max(ladder.height, 1)
        tops = {steps[-1] for steps in ladder.steps.values()}
        intensity = granularity = missing = 0.0
        for _, label, kept in self.cells(j):
            lowest = 0 if label is None else min(self.levels_with(ladder, label))
            intensity += lowest / height if kept else 1
            granularity += self.leaves(ladder, label) / whole if kept else 1
            missing += not kept or label is None or label == "*" or tops == {label}
        values = Counter(value for value, _, _ in self.cells(j))
        labels = Counter(label for _, label, _ in self.cells(j))
        gone = Counter(label for _, label, kept in self.cells(j) if not kept)
        bits = most = 0.0
        for value, label, kept in self.cells(j):
            bits -= math.log2(values[value] / labels[label])
            bits -= 0 if kept else math.log2(gone[label] / gone.total())
            most -= math.log2(values[value] / records)
        return {
            "generalization_intensity": Measure(intensity / records, 0, 1),
            "granularity": Measure(granularity / records, 1 / whole, 1),
            "non_uniform_entropy": Measure(bits, 0, most),
            "missings": Measure(missing / records, 0, 1),
            "attribute_level_squared_error": self.squared_error(j),
        }

    def ranges(self, j: int) -> Iterator[tuple[float, float, float] | None]:
        """The position of each cell, and the range of its label."""
        ladder = self.case.ladders[j]
        position = {value: i for i, value in enumerate(ladder.steps)}
        for value, label, kept in self.cells(j):
            if value is None:
                yield None
                continue
            level = self.node[j]
            under = [
                position[leaf]
                for leaf, steps in ladder.steps.items()
                if not kept or steps[level] == label
            ]
            yield position[value], min(under), max(under)

    def squared_error(self, j: int) -> Measure:
        found = [each for each in self.ranges(j) if each is not None]
        first = min((x for x, _, _ in found), default=0)
        last = max((x for x, _, _ in found), default=0)
        raw = most = 0.0
        for x, low, high in found:
            limit = max((x - first) ** 2, (x - last) ** 2)
            raw += min(max((x - low) ** 2, (x - high) ** 2), limit)
            most += limit
        return Measure(raw, 0, most)

    def table(self) -> dict[str, Measure]:
        records = len(self.case.rows)
        wholes = [len(ladder.steps) for ladder in self.case.ladders]
        tuples = Counter(self.case.rows)
        discernibility = ambiguity = 0.0
        for labels, kept in zip(self.labels, self.kept, strict=True):
            discernibility += self.sizes[labels] if kept else records
            ambiguity += math.prod(
                self.leaves(ladder, label) if kept else whole
                for ladder, label, whole in zip(self.case.ladders, labels, wholes, strict=True)
            )
        released = {labels for labels, kept in zip(self.labels, self.kept, strict=True) if kept}
        return {
            "discernibility": Measure(
                discernibility, sum(n * n for n in tuples.values()), records**2
            ),
            "average_class_size": Measure(
                sum(self.kept) / max(len(released), 1), records / len(tuples), records
            ),
            "ambiguity": Measure(ambiguity, records, records * math.prod(wholes)),
            "record_level_squared_error": self.record_error(),
            "sse_sst": self.sums_of_squares(),
        }

    def record_error(self) -> Measure:
        records, columns = len(self.case.rows), len(self.case.ladders)
        squares, wholes = [0.0] * records, [0.0] * records
        for j, ladder in enumerate(self.case.ladders):
            found = list(self.ranges(j))
            there = [each[0] for each in found if each is not None]
            mean = sum(there) / max(len(there), 1)
            variance = sum((x - mean) ** 2 for x in there) / max(len(there), 1)
            for i, each in enumerate(found):
                if each is not None and variance > 0:
                    x, low, high = each
                    squares[i] += max((x - low) ** 2, (x - high) ** 2) / variance
                    wholes[i] += max(x**2, (x - len(ladder.steps) + 1) ** 2) / variance
        number = records * columns
        return Measure(
            sum(map(math.sqrt, squares)) / number, 0, sum(map(math.sqrt, wholes)) / number
        )

    def sums_of_squares(self) -> Measure:
        error = total = 0.0
        for j in range(len(self.case.ladders)):
            found = [each for each in self.ranges(j) if each is not None]
            mean = sum(x for x, _, _ in found) / max(len(found), 1)
            for x, low, high in found:
                error += ((low + high) / 2 - x) ** 2
                total += ((low + high) / 2 - mean) ** 2
        return Measure(error, 0, total)


@pytest.mark.slow
@given(cases(), st.data())
def test_every_measure_is_what_its_definition_says(case: Case, data: st.DataObject) -> None:
    node = tuple(data.draw(st.integers(0, limit)) for limit in case.limits)
    problem = problem_of(case)
    classes = problem.partition(node)
    slow = Slow(case, node)
    found = [
        *qualities(problem.table, node, classes),
        *squared_errors(problem.table, node, classes),
    ]
    by_attribute = {name: slow.attribute(j) for j, name in enumerate(case.names)}
    of_table = slow.table()
    for each in found:
        if each.table is not None:
            assert_equal(each.table, of_table[each.name])
            assert each.quality == pytest.approx(of_table[each.name].quality, abs=1e-9)
        for name, measure in each.attributes.items():
            assert_equal(measure, by_attribute[name][each.name])
        if each.attributes:
            mean = sum(one.quality for one in each.attributes.values()) / len(each.attributes)
            assert each.quality == pytest.approx(mean)


def assert_equal(found: Measure, expected: Measure) -> None:
    assert found.raw == pytest.approx(expected.raw, abs=1e-9)
    assert found.minimum == pytest.approx(expected.minimum, abs=1e-9)
    assert found.maximum == pytest.approx(expected.maximum, abs=1e-9)


def test_numbers_are_used_where_all_values_are_numbers() -> None:
    ladder = Ladder({"30": ("30", "x"), "10": ("10", "x"), "10.5": ("10.5", "y")})
    case = Case((("30",), ("10",), ("10.5",), (None,)), (ladder,), (1,), (), 2, 0)
    case = replace(case, priorities=(1,))  # type: ignore[arg-type]
    table = problem_of(case).table
    scale = scale_of(table.attributes[0], table.records_of[0], 1)
    assert scale.kind == "number"
    assert scale.number[:3].tolist() == [30, 10, 10.5]
    assert (scale.low[0], scale.high[0], scale.low[2]) == (10, 30, 10.5)
    words = Ladder({"30": ("30", "x"), "old": ("old", "x")})
    case = replace(case, rows=(("30",), ("old",)), ladders=(words,))
    table = problem_of(case).table
    assert scale_of(table.attributes[0], table.records_of[0], 1).kind == "position"


def test_the_order_of_the_tuples_changes_no_digit() -> None:
    rng = random.Random(7)
    values = [str(rng.randrange(10**6) / 10**4) for _ in range(60)]
    steps = Ladder({value: (value, value[0], "*") for value in values})
    rows = tuple((rng.choice(values), rng.choice(values)) for _ in range(300))
    case = Case(rows, (steps, steps), (2, 2), (1, 1), 2, 0)  # type: ignore[arg-type]
    problem = problem_of(case)
    table = problem.table
    node = (0, 1)
    expected = _all_measures(problem, node)
    for _ in range(5):
        order = np.array(rng.sample(range(table.tuples), table.tuples))
        codes = tuple(column[order] for column in table.codes)
        shuffled = replace(table, codes=codes, weights=table.weights[order])
        assert _all_measures(replace(problem, table=shuffled), node) == expected


def _all_measures(problem: Problem, node: Node) -> list[Quality]:
    classes = problem.partition(node)
    found = qualities(problem.table, node, classes)
    return [*found, *squared_errors(problem.table, node, classes)]
