"""More tuples than may be read: the same answer from higher levels up, or an error that helps."""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import Ladder
from problems import Case, cases
from shoal import plugins
from shoal.collapse.read import budget, collapse
from shoal.definition.demands import loss_of, models_of
from shoal.definition.model import Definition
from shoal.definition.read import from_mapping
from shoal.engines.frames.source import open_frame
from shoal.events import Proved
from shoal.pipeline import ignore, release
from shoal.proof.check import check_file
from shoal.search.incumbent import Limits
from shoal.search.problem import Problem
from shoal.search.run import problem_of, search
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.exhaustive import Exhaustive
from shoal.values import Best, Result
from verify.rows import Rows

DEMANDS: tuple[dict[str, Any], ...] = (
    {},
    {"diversity": {"distinct": 2}},
    {"diversity": {"entropy": 1.7}},
    {"diversity": {"recursive": {"c": 1.5, "l": 2}}},
    {"closeness": {"t": 0.3}},
    {"closeness": {"t": 0.2, "distance": "ordered"}},
    {"alpha": 0.6},
    {"likeness": 0.8},
    {"disclosure": 1.2},
)
LOSSES: tuple[Any, ...] = (
    "iyengar",
    {"name": "iyengar", "aggregate": "geometric"},
    "precision",
    "entropy",
    {"name": "entropy", "aggregate": "geometric"},
    "weighted",
    "discernibility",
    "class-size",
)


@dataclass
class Spy:
    """A source that remembers how many rows it gave for several columns, and its records."""

    source: Any
    recorded: pa.Table
    rows: list[int] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def count_by(self, columns: Sequence[str], missing: Sequence[str] = (), **asked: Any) -> Any:
        counted = self.source.count_by(columns, missing, **asked)
        if len(columns) > 1:
            self.rows.append(counted.num_rows)
        return counted


@contextmanager
def defined(
    case: Case,
    values: Sequence[int] = (-1,) * 14,
    demand: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Iterator[tuple[dict[str, Any], Spy]]:
    """The definition of a case with a sensitive attribute, and its source; `?` means missing.

    The source counts in plain Python.
    """
    columns = {
        name: pa.array([row[j] or "?" for row in case.rows]) for j, name in enumerate(case.names)
    }
    told = [None if value < 0 else f"s{value}" for value in values[: len(case.rows)]]
    columns["ill"] = pa.array(told, pa.string())
    table = pa.table(columns)
    source = Rows(table.column_names, [tuple(row.values()) for row in table.to_pylist()])
    with tempfile.TemporaryDirectory() as folder:
        attributes: dict[str, Any] = {"ill": "keep"}
        if demand:
            attributes["ill"] = {"role": "sensitive", **demand}
        for j, (name, ladder) in enumerate(zip(case.names, case.ladders, strict=True)):
            path = Path(folder) / f"{name}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, delimiter=";").writerows(ladder.steps.values())
            attributes[name] = {
                "role": "quasi-identifier",
                "hierarchy": str(path),
                "limit": case.limits[j],
                "priority": float(case.priorities[j]),
            }
        mapping = {
            "source": "frame",
            "k": case.k,
            "suppression": case.suppression,
            "missing": {"values": ["?"]},
            "attributes": attributes,
            **keys,
        }
        yield mapping, Spy(source, table)


def outcome(mapping: Mapping[str, Any], source: Any) -> Result | str:
    """The result of a run, or the code of its error."""
    try:
        _, result = release(from_mapping(mapping), source, None, ignore)
    except shoal.ShoalError as error:
        return error.code
    return result


def told(result: Result | str) -> object:
    """What two runs must agree on."""
    if isinstance(result, str):
        return result
    return (
        result.status,
        round(result.loss, 12),
        result.levels,
        result.suppressed,
        result.classes,
        result.smallest_class,
        result.removed,
        result.lattice,
        result.privacy,
    )


RISKS: tuple[dict[str, Any], ...] = (
    {},
    {"risk": {"average": 0.3}},
    {"risk": {"records above": {"threshold": 0.3, "share": "25%"}}},
)
VALUES = st.lists(st.integers(-1, 3), min_size=14, max_size=14)
MATCHES = st.sampled_from(["extended", "basic"])


@pytest.mark.slow
@given(
    cases(),
    VALUES,
    st.sampled_from(DEMANDS),
    st.sampled_from(LOSSES),
    MATCHES,
    st.sampled_from(["drop", "mark"]),
    st.integers(1, 12),
    st.sampled_from(RISKS),
)
@settings(max_examples=20)
def test_a_run_with_a_small_budget_ends_the_same_or_says_that_it_is_too_small(
    case: Case,
    values: list[int],
    demand: dict[str, Any],
    loss: Any,
    match: str,
    suppressed: str,
    tuples: int,
    risk: dict[str, Any],
) -> None:
    missing = {"match": match, "values": ["?"]}
    keys = {"loss": loss, "missing": missing, "suppressed": suppressed, **risk}
    with (
        defined(case, values, demand, **keys) as (mapping, spy),
        open_frame(spy.recorded) as source,
    ):
        wanted = outcome(mapping, source)
        found = outcome({**mapping, "engine": {"tuples": tuples}}, source)
    if found != "too-many-tuples":
        assert told(found) == told(wanted)


@pytest.mark.slow
@given(
    cases(),
    VALUES,
    st.sampled_from(DEMANDS),
    st.sampled_from(LOSSES),
    MATCHES,
    st.sampled_from(RISKS),
)
@settings(max_examples=60)
def test_a_small_budget_gives_the_same_optimum_or_an_error(
    case: Case,
    values: list[int],
    demand: dict[str, Any],
    loss: Any,
    match: str,
    risk: dict[str, Any],
) -> None:
    keys = {"loss": loss, "missing": {"match": match, "values": ["?"]}, **risk}
    with defined(case, values, demand, **keys) as (mapping, source):
        try:
            whole = problem_in(from_mapping(mapping), source)
        except shoal.BadData:
            return
        wanted = whole_search(whole)
        most = max(source.rows, default=0)
        for tuples in sorted({1, most // 2, most - 1} & set(range(1, most))):
            source.rows.clear()
            try:
                limited = from_mapping({**mapping, "engine": {"tuples": tuples}})
                raised = problem_in(limited, source)
            except shoal.BadData as error:
                if error.code != "too-many-tuples":
                    raise
                continue
            finally:
                assert max(source.rows, default=0) <= tuples + 1
            found = whole_search(raised)
            assert (raised.limit, raised.nodes) == (whole.limit, whole.nodes)
            assert (raised.table.records, raised.table.removed) == (
                whole.table.records,
                whole.table.removed,
            )
            assert (found is None) == (wanted is None)
            if wanted is None or found is None:
                continue
            assert replace(found, loss=wanted.loss) == wanted
            assert found.loss == pytest.approx(wanted.loss, abs=1e-12)
            node = wanted.node
            losses = whole.objective.attribute_losses(node, whole.partition(node))
            again = raised.objective.attribute_losses(node, raised.partition(node))
            assert again == pytest.approx(losses, abs=1e-12)


def whole_search(problem: Problem) -> Best | None:
    """The best of all nodes."""
    *_, last = Exhaustive().search(problem, Limits())
    return last.best


def spread(values: int, records: int, seed: int) -> list[str]:
    """A column of many values, most of them rare."""
    generator = np.random.default_rng(seed)
    return [f"{v:04}" for v in np.minimum(generator.geometric(0.02, records), values - 1)]


MASKED = {"role": "quasi-identifier", "hierarchy": {"mask": 4}}


def wide(**keys: Any) -> tuple[dict[str, Any], pa.Table]:
    """Two columns of many rare values, and one of two."""
    table = pa.table(
        {
            "zip": spread(500, 2000, 1),
            "work": spread(500, 2000, 2),
            "sex": ["f", "m"] * 1000,
        }
    )
    attributes = {"zip": MASKED, "work": MASKED, "sex": "quasi-identifier"}
    return {"source": "frame", "k": 5, "attributes": attributes, **keys}, table


@pytest.mark.slow
def test_levels_that_a_column_alone_rules_out_are_raised_and_reported() -> None:
    mapping, table = wide()
    with open_frame(table) as source:
        wanted, found = (
            outcome({**mapping, **keys}, source) for keys in ({}, {"engine": {"tuples": 300}})
        )
    assert isinstance(found, Result)
    assert told(found) == told(wanted)
    assert found.raised["zip"] >= 1
    assert found.tuples <= 300


def test_a_pair_of_columns_rules_out_what_one_alone_does_not() -> None:
    table = pa.table(
        {
            "zip": ["1000"] * 20 + ["2000"] * 20,
            "sex": ["f", "m"] * 10 + ["f"] * 19 + ["m"],
            "age": [str(10 + i) for i in range(40)],
        }
    )
    suppress = {"role": "quasi-identifier", "hierarchy": "suppress"}
    attributes = {"zip": MASKED, "sex": {**suppress, "limit": 0}, "age": suppress}
    mapping = {"source": "frame", "k": 2, "attributes": attributes, "engine": {"tuples": 4}}
    with open_frame(table) as source:
        found = collapse(from_mapping(mapping), source)
    assert found.table.bottom == (4, 0, 1)


@pytest.mark.slow
@given(cases(), st.integers(1, 12))
@settings(max_examples=40)
def test_no_safe_node_is_below_the_raised_bottom(case: Case, tuples: int) -> None:
    with defined(case) as (mapping, source):
        problem = problem_in(from_mapping(mapping), source)
        try:
            raised = problem_in(from_mapping({**mapping, "engine": {"tuples": tuples}}), source)
        except shoal.BadData:
            return
    safe = [node for _, node in problem.lattice.ascending(sum) if problem.check(node)]
    for node in safe:
        assert all(level >= low for level, low in zip(node, raised.lattice.bottom, strict=True))
        assert raised.check(node) == problem.check(node)
    assert raised.nodes == problem.nodes


def problem_in(definition: Definition, source: Any) -> Problem:
    """The problem that a definition states on its source."""
    collapsed = collapse(definition, source)
    filled = collapsed.definition
    return problem_of(filled, collapsed.table, models_of(filled), loss_of(filled))


def test_too_many_tuples_name_the_attribute_to_raise_and_by_how_much() -> None:
    mapping, table = wide(suppression=0.9, engine={"tuples": 100})
    with open_frame(table) as source, pytest.raises(shoal.BadData) as caught:
        release(from_mapping(mapping), source, None, ignore)
    assert caught.value.code == "too-many-tuples"
    assert "more than 100 distinct combinations" in caught.value.what
    assert "values; with `" in (caught.value.hint or "")
    assert "from: " in (caught.value.hint or "")


@pytest.mark.slow
def test_what_the_error_proposes_is_enough() -> None:
    mapping, table = wide(suppression=0.9, engine={"tuples": 900})
    with open_frame(table) as source:
        with pytest.raises(shoal.BadData) as caught:
            release(from_mapping(mapping), source, None, ignore)
        hint = caught.value.hint or ""
        levels = {n: int(level) for n, level in re.findall(r"`(\w+): {from: (\d+)}`", hint)}
        lowest = {name: {**MASKED, "from": level} for name, level in levels.items()}
        found = outcome({**mapping, "attributes": {**mapping["attributes"], **lowest}}, source)
    assert levels
    assert isinstance(found, Result)
    assert all(found.levels[name] >= level for name, level in levels.items())
    assert f"{found.tuples:,} combinations" in hint


def test_the_budget_comes_from_the_definition_or_from_memory() -> None:
    mapping, _ = wide()
    assert budget(from_mapping({**mapping, "engine": {"tuples": 7}})) == 7
    assert budget(from_mapping({**mapping, "engine": {"memory limit": "352 kB"}})) == 1000
    assert budget(from_mapping(mapping)) > 1000


@pytest.mark.slow
@given(cases(), st.integers(0, 2), st.sampled_from(plugins.names("strategy")))
@settings(max_examples=40)
def test_no_strategy_goes_below_the_lowest_level_that_is_set(
    case: Case, lowest: int, strategy: str
) -> None:
    lowest = min(lowest, case.limits[0])
    with defined(case, search={"strategy": strategy}) as (mapping, source):
        first = {**mapping["attributes"][case.names[0]], "from": lowest}
        mapping["attributes"] = {**mapping["attributes"], case.names[0]: first}
        definition = from_mapping(mapping)
        problem = problem_in(definition, source)
    found = search(problem, definition.search, lambda event: None)
    nodes = [node for _, node in problem.lattice.ascending(sum)]
    assert all(node[0] >= lowest for node in nodes)
    assert len(nodes) == problem.lattice.nodes == problem.nodes
    ranks = range(sum(problem.lattice.top) + 1)
    assert sorted(nodes) == sorted(n for rank in ranks for n in problem.lattice.at_rank(rank))
    best = min(filter(None, map(problem.check, nodes)), key=lambda b: b.rank, default=None)
    assert found.best is None or found.best.node in nodes
    if isinstance(found, Proved):
        assert found.best == best


@pytest.mark.slow
@given(cases(), st.integers(1, 12), st.sampled_from(LOSSES), st.integers(0, 2))
@settings(max_examples=40)
def test_the_compiled_search_begins_at_the_bottom(
    case: Case, tuples: int, loss: Any, lowest: int
) -> None:
    lowest = min(lowest, case.limits[0])
    with defined(case, loss=loss) as (mapping, source):
        first = {**mapping["attributes"][case.names[0]], "from": lowest}
        mapping["attributes"] = {**mapping["attributes"], case.names[0]: first}
        whole = problem_in(from_mapping(mapping), source)
        try:
            raised = problem_in(from_mapping({**mapping, "engine": {"tuples": tuples}}), source)
        except shoal.BadData:
            return
    wanted = whole_search(whole)
    *_, found = BoxSearch().search(raised, Limits(threads=1))
    assert (found.best is None) == (wanted is None)
    if wanted is not None and found.best is not None:
        assert found.best.node == wanted.node
        assert found.best.loss == pytest.approx(wanted.loss, abs=1e-12)


def test_one_ladder_of_one_value_needs_no_raising() -> None:
    case = Case((("v0",),) * 4, (Ladder({"v0": ("v0", "*")}),), (1,), (1,), 2, 0)  # type: ignore[arg-type]
    with defined(case, engine={"tuples": 1}) as (mapping, source):
        problem = problem_in(from_mapping(mapping), source)
    assert problem.table.raised is None


@pytest.mark.slow
@given(
    cases(),
    st.integers(1, 12),
    st.sampled_from(["iyengar", "entropy", "discernibility", "class-size"]),
    st.integers(0, 1),
)
@settings(max_examples=15)
def test_a_proof_from_higher_levels_up_is_confirmed(
    case: Case, tuples: int, loss: str, lowest: int
) -> None:
    with (
        defined(case, loss=loss) as (mapping, source),
        tempfile.TemporaryDirectory() as name,
    ):
        folder = Path(name)
        data, proof = folder / "data.csv", folder / "proof.jsonl"
        pa_csv.write_csv(source.recorded, data)
        first = {**mapping["attributes"][case.names[0]], "from": min(lowest, case.limits[0])}
        attributes = {**mapping["attributes"], case.names[0]: first}
        keys = {"source": str(data), "output": str(folder / "out.csv"), "attributes": attributes}
        definition = from_mapping({**mapping, **keys, "engine": {"tuples": tuples}})
        try:
            shoal.run(definition, proof=proof)
        except (shoal.Infeasible, shoal.BadData):
            return
        checked = check_file(definition, proof, progress=lambda done, of: None)
    assert checked.verdict.safe, checked.verdict.failures
