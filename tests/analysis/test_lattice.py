"""`shoal lattice`: every node counted, drawn, written; large lattices refused or shown in part."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from analysis.zips import call, write_zips
from oracle import outcome
from problems import Case, cases, problem_of
from shoal.analysis.hasse import MOST_NEAR, fits_in_rows, neighbourhood
from shoal.analysis.lattice import count_nodes
from shoal.analysis.nodes import Clock
from shoal.errors import UserError
from shoal.search.problem import Lattice


@pytest.mark.slow
@given(cases())
@settings(max_examples=200)
def test_every_node_is_counted_as_plain_python_does(case: Case) -> None:
    found = {each.node: each for each in count_nodes(problem_of(case), Clock())}
    nodes = list(itertools.product(*(range(limit + 1) for limit in case.limits)))
    assert sorted(found) == nodes
    for node in nodes:
        truth = outcome(case.rows, case.ladders, node, case.k, case.priorities)
        labelled = Counter(
            tuple(
                ladder.label(cell, level)
                for ladder, cell, level in zip(case.ladders, row, node, strict=True)
            )
            for row in case.rows
        )
        each = found[node]
        assert each.k == min(labelled.values())
        assert each.suppressed == truth.suppressed
        assert each.loss == pytest.approx(float(truth.loss))
        assert each.safe == (truth.suppressed <= case.suppression and bool(truth.released))


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    return write_zips(tmp_path)


def test_the_command_writes_what_scripts_rely_on(definition: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"nodes.{name}" for name in ("json", "csv", "svg")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    done = call("lattice", definition, *options)
    assert done.exit_code == 0
    found = json.loads(files["json"].read_text(encoding="utf-8"))
    keys = {"levels", "k", "suppressed", "precision", "loss", "safe"}
    assert len(found["nodes"]) == 40
    assert all(set(each) == keys for each in found["nodes"])
    with files["csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["suppressed"]) for row in rows] == [x["suppressed"] for x in found["nodes"]]
    assert {row["safe"] for row in rows} == {"true", "false"}
    assert found["optimum"] == dict(shoal.run(definition).levels)
    svg = files["svg"].read_text(encoding="utf-8")
    assert svg.count('rx="6"') == 40
    assert "height 8" in svg


def test_the_table_marks_what_is_safe_and_the_optimum(definition: Path) -> None:
    done = call("lattice", definition)
    assert "of 40 nodes are safe: k >= 5, with at most 12 records suppressed." in done.output
    assert done.output.count("optimum") == 1


@pytest.mark.slow
def test_a_large_lattice_is_refused_and_its_neighbourhood_offered(definition: Path) -> None:
    done = call("lattice", definition, "--at-most", "20")
    assert isinstance(done.exception, UserError)
    assert done.exception.code == "lattice-too-large"
    assert "--near-optimum" in str(done.exception.hint)
    found = shoal.lattice(definition, near_optimum=True, at_most=20)
    assert found.optimum == dict(shoal.run(definition).levels)


def test_a_lattice_without_a_safe_node_is_shown_around_its_top(definition: Path) -> None:
    text = definition.read_text(encoding="utf-8").replace("k: 5", "k: 500")
    definition.write_text(text, encoding="utf-8")
    for near in (False, True):
        found = shoal.lattice(definition, near_optimum=near)
        assert found.optimum is None
        assert not any(each.safe for each in found.nodes)
        assert found.nodes[-1].levels == {"zip": 3, "age": 4, "sex": 1}
        assert found.plot().svg.startswith("<svg")


@pytest.mark.slow
@given(st.lists(st.integers(0, 4), min_size=1, max_size=7), st.data())
@settings(max_examples=100)
def test_a_neighbourhood_grows_from_its_start_and_fits_into_a_picture(
    top: list[int], data: st.DataObject
) -> None:
    start = tuple(data.draw(st.integers(0, level)) for level in top)
    near = neighbourhood(Lattice(tuple(top)), start)
    assert near[0] == start
    for number, node in enumerate(near[1:], 1):
        distances = [sum(abs(a - b) for a, b in zip(node, x, strict=True)) for x in near[:number]]
        assert 1 in distances
    assert len(set(near)) == len(near) <= MOST_NEAR
    assert fits_in_rows(near)
    nodes = Lattice(tuple(top)).nodes
    assert len(near) == nodes or len(near) >= min(nodes, sum(level > 0 for level in top) + 1)
