"""The papers' experiments run, and what the papers state of them holds.

Those on Adult, Fars and mach2019 need tables that are not part of the repository; where these are
not at hand, no test of them is collected.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from benchmarks.box import DATA
from benchmarks.seeds import anon_grid, anon_table, mart, mart_sources, supercloud
from benchmarks.seeds.__main__ import BY_NAME, EXPERIMENTS
from benchmarks.seeds.anon_runs import all_runs, read_runs
from benchmarks.seeds.experiment import RESULTS
from benchmarks.seeds.frames import problem_on
from benchmarks.seeds.mart_findings import CASES, findings, request
from benchmarks.seeds.page import PAGE, page_of
from benchmarks.seeds.searching import watch
from benchmarks.seeds.statement import DATA as DATA_OF_PAPERS
from benchmarks.seeds.statement import GENERATOR, MACHINE, METHOD, saved_values
from benchmarks.seeds.statements import STATEMENTS
from benchmarks.seeds.stores import AntichainList, ExplicitLattice, PrefixTree, SimpleList
from benchmarks.seeds.supercloud_patients import patients
from hypothesis import given
from hypothesis import strategies as st

from shoal.search.problem import Problem
from shoal.search.strategies.best_first import BestFirst
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.ola import Ola, minimal_nodes

ROOT = Path(__file__).parents[2]
RUNNABLE = [name for name, each in EXPERIMENTS.items() if each.lacks() is None]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNNABLE)
def test_every_experiment_runs_quickly_and_saves_its_tables_and_its_chart(
    name: str, tmp_path: Path
) -> None:
    EXPERIMENTS[name].main(["--quick", "--output", str(tmp_path)])
    assert EXPERIMENTS[name].question in (tmp_path / f"{name}.txt").read_text(encoding="utf-8")
    assert EXPERIMENTS[name].charts
    for chart in EXPERIMENTS[name].charts:
        assert "</svg>" in (tmp_path / f"{chart}.svg").read_text(encoding="utf-8")


def test_every_experiment_has_saved_results() -> None:
    saved = {path.name for path in RESULTS.iterdir()}
    assert saved == {
        anon_grid.FILE.name,
        *(name for each in EXPERIMENTS.values() for name in each.files),
    }


def test_the_page_is_what_the_saved_results_say() -> None:
    assert page_of() == PAGE.read_text(encoding="utf-8")


def test_another_result_makes_another_page(tmp_path: Path) -> None:
    results = Path(shutil.copytree(RESULTS, tmp_path / "results"))
    values = saved_values("supercloud", results)
    (results / "supercloud.json").write_text(json.dumps({**values, "lattice": 61}), "utf-8")
    assert page_of(results) != PAGE.read_text(encoding="utf-8")


def test_every_statement_is_of_an_experiment_and_says_what_it_follows_from() -> None:
    assert len({each.name for each in STATEMENTS}) == len(STATEMENTS)
    for statement in STATEMENTS:
        assert statement.experiment in EXPERIMENTS
        assert statement.name not in EXPERIMENTS
        assert statement.follows_from in (METHOD, DATA_OF_PAPERS, GENERATOR, MACHINE)
        assert f"`{statement.name}`" in PAGE.read_text(encoding="utf-8")


def test_the_tables_that_are_saved_have_the_numbers_of_the_page() -> None:
    """The saved grid is the source of the grid's values, so both must be of one run."""
    runs = read_runs(anon_grid.FILE)
    values = saved_values("anon_grid")
    visited = {(run.attributes, run.priorities, run.demand): run.visited for run in runs}
    assert len(visited) == len(runs) == values["runs"]
    assert visited[7, True, anon_table.Demand(2)] == values["k2"]
    assert visited[7, True, anon_table.Demand(2, percent=1)] == values["k2_1"]


@pytest.mark.slow
def test_one_command_prints_a_statement_anew_with_the_papers_number_and_ours() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.seeds", "mart-costs"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    statement = done.stdout[done.stdout.index("mart-costs (mart)") :]
    assert "paper:        setting A, cost of first steps: R 0.20, PT 0.24" in statement
    assert "here:         R 0.20, PT 0.24, PN 0.30, PM 0.40" in statement
    assert "follows from: method" in statement


def test_the_command_lists_experiments_and_statements() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.seeds", "--list"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(name in done.stdout for name in (*EXPERIMENTS, *BY_NAME))


@pytest.mark.slow
def test_without_the_tables_the_command_says_where_it_looked(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.seeds", "--quick", "anon_grid"],
        cwd=ROOT,
        env={**os.environ, "SHOAL_DATA": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"anon_grid: left out, no tables in {tmp_path / 'nowhere'}" in done.stdout


@pytest.fixture(scope="module")
def hospital() -> Problem:
    return problem_on(patients(), supercloud.DEFINITION)


def test_the_patients_are_the_same_every_time() -> None:
    assert patients(records=500).equals(patients(records=500))
    assert patients().num_rows == 100_000


@pytest.mark.slow
def test_supercloud_has_the_lattice_and_the_k_minimal_nodes_of_the_report(
    hospital: Problem,
) -> None:
    assert (hospital.lattice.top, hospital.lattice.nodes) == ((4, 1, 5), 60)
    minimal = minimal_nodes(hospital)
    assert [(best.node, best.smallest_class) for best in minimal] == [
        ((1, 0, 3), 2049),
        ((0, 1, 3), 931),
    ]
    assert [round(best.loss, 4) for best in minimal] == [0.2833, 0.5333]


@pytest.mark.slow
def test_the_k_minimal_nodes_are_those_of_the_slow_definition(hospital: Problem) -> None:
    reached = supercloud.smallest_classes(hospital)
    safe = [node for node, k in reached.items() if k >= supercloud.K]
    assert {
        node
        for node in safe
        if not any(other != node and all(map(int.__le__, other, node)) for other in safe)
    } == {(1, 0, 3), (0, 1, 3)}


@pytest.mark.parametrize("strategy", [Ola(), BoxSearch()])
def test_the_optimum_of_the_report_is_found_and_proved(
    hospital: Problem, strategy: Ola | BoxSearch
) -> None:
    found = watch(strategy, hospital)
    assert found.proved
    assert found.best is not None
    assert found.best.node == (1, 0, 3)


def test_the_request_of_the_use_case_finds_313_of_16417_cases() -> None:
    table = findings()
    assert table.num_rows == CASES
    assert request(table).num_rows == 313


def test_the_first_steps_cost_what_the_paper_says() -> None:
    costs = {name: round(cost, 6) for name, cost in mart.first_costs(mart.A).items()}
    assert costs == {"R": 0.2, "PT": 0.24, "PN": 0.3, "PM": 0.4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "classes", "single"),
    [(mart.A, [107, 98, 16], [67, 49, 0]), (mart.B, [107, 28, 20], [67, 1, 0])],
    ids=["A", "B"],
)
def test_both_settings_take_the_steps_of_the_paper(
    setting: mart.Setting, classes: list[int], single: list[int]
) -> None:
    steps = mart.path(setting.problem())
    assert tuple(step.raised for step in steps[1:]) == setting.steps
    assert [step.classes for step in steps] == classes
    assert [step.single for step in steps] == single


@pytest.mark.parametrize("source", mart_sources.SOURCES)
def test_the_six_patients_become_those_of_table_2(source: str) -> None:
    assert mart_sources.released(source) == mart_sources.PAPER[source]


TOP = (2, 1, 3)
NODES = st.sampled_from(list(product(*(range(level + 1) for level in TOP))))


@given(st.lists(NODES, max_size=12))
def test_every_kind_of_store_covers_what_is_above_an_inserted_node(
    nodes: list[tuple[int, ...]],
) -> None:
    kinds = (
        SimpleList,
        AntichainList,
        partial(PrefixTree, minimum=False),
        partial(PrefixTree, minimum=True),
        partial(ExplicitLattice, TOP),
    )
    stores = [kind() for kind in kinds]
    inserted: list[tuple[int, ...]] = []
    for node in nodes:
        covered = any(all(map(int.__le__, each, node)) for each in inserted)
        assert [store.covers(node) for store in stores] == [covered] * len(stores)
        if not covered:
            inserted.append(node)
            for store in stores:
                store.insert(node)


if DATA.is_dir():

    def test_a_run_of_the_grid_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
        whole = all_runs(range(1, 3), (2, 14), tmp_path / "whole.csv")
        lines = (tmp_path / "whole.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "half.csv").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
        assert set(all_runs(range(1, 3), (2, 14), tmp_path / "half.csv")) == set(whole)
        assert set(read_runs(tmp_path / "half.csv")) == set(whole)

    def test_the_tally_of_the_grid_answers_as_a_real_check_does() -> None:
        adult = anon_table.read_table(3)
        tally = anon_table.Tally(adult)
        for demand in (anon_table.Demand(5, 2, 5, 1), anon_table.Demand(1000, percent=10)):
            quick = anon_table.remembered(adult, tally, demand)
            real = anon_table.problem_of(adult, demand)
            for node in product(*(range(level + 1) for level in real.lattice.top)):
                assert quick.check(node) == real.check(node)

    def test_one_percent_of_the_records_is_rounded_up_as_in_the_report() -> None:
        adult = anon_table.read_table(2)
        assert anon_table.problem_of(adult, anon_table.Demand(2, percent=1)).limit == 453

    @pytest.mark.slow
    def test_suppressing_one_percent_saves_nine_tenths_of_the_visited_nodes() -> None:
        adult = anon_table.read_table(7)
        visited = {
            percent: watch(
                BestFirst(), anon_table.problem_of(adult, anon_table.Demand(2, percent=percent))
            ).checked
            for percent in (0, 1)
        }
        assert adult.records == 45_222
        assert visited[1] < visited[0] / 10

    @pytest.mark.slow
    def test_fourteen_occupations_in_every_class_leave_only_the_top_of_the_lattice() -> None:
        adult = anon_table.read_table(7)
        found = watch(BestFirst(), anon_table.problem_of(adult, anon_table.Demand(14, 2, 14)))
        assert found.checked == 2_160
        assert found.best is not None
        assert found.best.node == (4, 1, 1, 2, 3, 2, 2)
