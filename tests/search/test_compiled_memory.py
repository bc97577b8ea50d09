"""The memory of the compiled search: the same fields in C and Python; wrong sizes are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracle import Ladder
from problems import Case, person_problem, sensitive_problem
from search.test_population_demands import PeopleCase
from shoal.errors import Bug
from shoal.loss.builtin import Discernibility, Iyengar
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.population import DeltaPresence, KMap
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.search import compiled
from shoal.search.compiled.boxes import Box
from shoal.search.compiled.class_loss import CLASS_LOSS
from shoal.search.compiled.explorer import Explorer
from shoal.search.compiled.layout import prepare
from shoal.search.compiled.memory import FRAME, STATE
from shoal.search.compiled.release import RELEASE
from shoal.search.compiled.sensitive import VALUES
from shoal.search.compiled.structures import Array, Layout
from shoal.search.problem import Problem

LADDER = Ladder({value: (value, f"g{value in 'cd'}", "*") for value in "abcd"})
ROWS = tuple((x, y) for x in "abcd" for y in "abcd") * 4
CASE = Case(ROWS, (LADDER, LADDER), (2, 2), (Fraction(1), Fraction(1)), 2, 3)
NUMBERS = list(range(len(ROWS)))
VARIED = [i % 4 for i in NUMBERS]
PERSONS = [i % 40 for i in NUMBERS]
PROBLEMS: dict[str, Problem] = {
    "sizes": sensitive_problem(CASE, VARIED, [], Iyengar()),
    "masks": sensitive_problem(CASE, VARIED, [DistinctDiversity("s", 2)], Iyengar()),
    "values": sensitive_problem(CASE, VARIED, [EntropyDiversity("s", 2)], Iyengar()),
    "classes": sensitive_problem(CASE, VARIED, [], Discernibility()),
    "release": sensitive_problem(
        CASE,
        VARIED,
        [EntropyDiversity("s", 2), AverageRisk(0.2), RecordsAbove(0.2, 0.1)],
        Iyengar(),
    ),
    "population": PeopleCase(CASE, (("a", None),) * 5, tuple(VARIED)).problem(
        EntropyDiversity("s", 2), KMap(3), DeltaPresence(0, 0.9)
    ),
    "persons": person_problem(CASE, PERSONS, VARIED, [DistinctDiversity("s", 2)]),
}
TYPES: dict[str, Any] = {
    "Int32s": np.int32,
    "Int64s": np.int64,
    "UInt32s": np.uint32,
    "UInt64s": np.uint64,
    "Doubles": np.float64,
    "Shared": np.float64,
    "Flags": np.bool_,
    "Frames": FRAME,
}
FREE = {"k", "limit", "geometric", "exact", "log", "list_from", "kind", "records", "k_map", "width"}
"""Numbers that are no numbers of elements."""

CAPACITIES = {"number", "logarithms"}
"""Arrays that may be shorter: then less fits into them, which the search asks for."""


def explorer_of(problem: Problem) -> Explorer:
    """An explorer that is about to explore the whole lattice."""
    explorer = Explorer(prepare(problem), np.array([np.inf, 0.0, 0.0]), log=True)
    explorer.take(Box(0.0, problem.lattice.bottom, problem.lattice.top))
    return explorer


def structures_of(explorer: Explorer) -> Iterator[tuple[Layout, Any]]:
    """The structures that C is handed, with their fields."""
    yield STATE, explorer._state
    for layout, made in zip((VALUES, RELEASE, CLASS_LOSS), explorer._optional, strict=True):
        if made is not None:
            yield layout, made[0]


def fields_in_c(file: str, name: str) -> list[tuple[str, str]]:
    """The type and the name of every field of a structure, in order."""
    text = Path(compiled.__file__).with_name(file).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = re.search(rf"typedef struct \{{([^}}]*)\}} {name};|struct {name} \{{([^}}]*)\}};", text)
    assert found is not None
    fields = []
    for line in (found[1] or found[2]).split(";"):
        kind, _, names = line.strip().removeprefix("const ").partition(" ")
        fields += [(kind, each.strip(" *")) for each in names.split(",") if each.strip()]
    return fields


@pytest.mark.parametrize(
    ("layout", "file"),
    [
        (STATE, "state.h"),
        (VALUES, "removal.h"),
        (RELEASE, "release.h"),
        (CLASS_LOSS, "class_loss.h"),
    ],
    ids=["state", "values", "release", "class loss"],
)
def test_a_structure_has_the_same_fields_in_c_and_python(layout: Layout, file: str) -> None:
    fields = fields_in_c(file, layout.name)
    numbers = [name for kind, name in fields if kind == "int64_t"]
    arrays = [(name, np.dtype(TYPES[kind])) for kind, name in fields if kind in TYPES]
    pointers = [name for kind, name in fields if kind != "int64_t" and kind not in TYPES]
    assert fields[: len(numbers)] == [("int64_t", name) for name in numbers]
    assert numbers == list(layout.numbers)
    assert arrays == [(each.name, each.dtype) for each in layout.arrays]
    assert pointers == list(layout.pointers)


def test_a_box_on_the_stack_has_the_same_fields_in_c_and_python() -> None:
    fields = fields_in_c("state.h", "Frame")
    assert [
        (name, np.dtype({"int64_t": np.int64, "double": np.float64}[kind])) for kind, name in fields
    ] == [(name, FRAME[name]) for name in FRAME.names or ()]


@pytest.mark.parametrize("name", PROBLEMS)
def test_memory_of_the_right_sizes_is_accepted(name: str) -> None:
    assert explorer_of(PROBLEMS[name]).explore((np.inf, 0), 10**9).opened > 0


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("shorter", [1, 2**62], ids=["one element short", "a negative length"])
def test_an_array_that_is_too_short_is_refused(name: str, shorter: int) -> None:
    explorer, refused = explorer_of(PROBLEMS[name]), 0
    for layout, structure in structures_of(explorer):
        for each in layout.arrays:
            array: Array = getattr(structure, each.name)
            if array.length == 0 or (each.name in CAPACITIES and shorter == 1):
                continue
            array.length -= shorter
            with pytest.raises(Bug, match="wrong sizes"):
                explorer.explore((np.inf, 0), 10**9)
            array.length += shorter
            refused += 1
    assert refused > 40
    assert explorer.explore((np.inf, 0), 10**9).opened > 0


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("changed", [1, -1, 2**62])
def test_a_number_of_elements_that_is_wrong_is_refused(name: str, changed: int) -> None:
    explorer = explorer_of(PROBLEMS[name])
    for layout, structure in structures_of(explorer):
        for number in layout.numbers:
            if number in FREE:
                continue
            before = getattr(structure, number)
            setattr(structure, number, before + changed)
            with pytest.raises(Bug, match="wrong sizes"):
                explorer.explore((np.inf, 0), 10**9)
            setattr(structure, number, before)
    assert explorer.explore((np.inf, 0), 10**9).opened > 0


@pytest.mark.parametrize("box", [((0, 0), (2, 3)), ((0, -1), (2, 2)), ((0, 2), (2, 1))])
def test_a_box_whose_levels_are_none_is_refused(
    box: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    explorer = explorer_of(PROBLEMS["sizes"])
    explorer.take(Box(0.0, *box))
    with pytest.raises(Bug, match="wrong sizes"):
        explorer.explore((np.inf, 0), 10**9)
