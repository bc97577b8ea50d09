"""What single changes of a node mean, and why records are suppressed: against exhaustive search."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from analysis.zips import call
from oracle import optimum as slow_optimum
from oracle import outcome as slow_outcome
from problems import Case, cases, person_problem, problem_of, sensitive_problem
from shoal.analysis.explain import explain_node
from shoal.analysis.nodes import optimum, with_level, without
from shoal.analysis.what_if import answers_of, outcome_of
from shoal.definition.model import Search
from shoal.errors import BadOutput, Infeasible, UserError
from shoal.loss.base import Loss
from shoal.loss.builtin import (
    ClassSize,
    Discernibility,
    Iyengar,
    NonUniformEntropy,
    Precision,
    Weighted,
)
from shoal.privacy.base import PrivacyModel
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.risk import AverageRisk
from shoal.search.problem import Problem
from shoal.values import Best, Node

LOSSES: list[Loss] = [
    Iyengar(),
    Precision(),
    NonUniformEntropy(),
    Weighted(),
    Discernibility(),
    ClassSize(),
]
KNOWN = {"source": "rows", "source_records": 0, "k": 2, "loss_model": "iyengar", "limit": 0}


def ignore(event: object) -> None:
    """Watch nothing."""


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A problem with some loss, limits and lowest levels; with sensitive values, or persons."""
    case = draw(cases())
    number = len(case.rows)
    loss, aggregate = draw(st.sampled_from(LOSSES)), draw(st.sampled_from(["mean", "geometric"]))
    values = draw(st.lists(st.integers(-1, 3), min_size=number, max_size=number))
    models: Sequence[PrivacyModel] = draw(
        st.sampled_from([(), (DistinctDiversity("s", 2),), (AverageRisk(0.3),)])
    )
    if draw(st.booleans()):
        problem = sensitive_problem(case, values, models, loss, aggregate)
    else:
        persons = draw(st.lists(st.integers(0, 6), min_size=number, max_size=number))
        problem = person_problem(case, persons, values, models, loss, aggregate)
    lowest = [draw(st.integers(0, a.limit)) for a in problem.table.attributes]
    attributes = tuple(
        replace(a, lowest=low) for a, low in zip(problem.table.attributes, lowest, strict=True)
    )
    table = replace(problem.table, attributes=attributes)
    return replace(problem, table=table, objective=replace(problem.objective, table=table))  # type: ignore[type-var]


def nodes_of(problem: Problem) -> Iterator[Node]:
    return itertools.product(*(range(a.lowest, a.limit + 1) for a in problem.table.attributes))


def best_of(problem: Problem, nodes: Iterator[Node]) -> Best | None:
    safe = [best for node in nodes if (best := problem.check(node)) is not None]
    return min(safe, key=lambda each: each.rank, default=None)


@pytest.mark.slow
@settings(max_examples=150)
@given(problems(), st.data())
def test_every_answer_is_that_of_exhaustive_search(problem: Problem, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(list(nodes_of(problem))))
    relaxed = replace(problem, limit=problem.limit + data.draw(st.integers(0, 3)))
    found = answers_of(problem, relaxed, node, Search(), ignore)
    lower = [each for each in found if each.column is not None]
    assert [each.column for each in lower] == [
        a.name for a, level in zip(problem.table.attributes, node, strict=True) if level > a.lowest
    ]
    for each in lower:
        names = [a.name for a in problem.table.attributes]
        j, level = names.index(str(each.column)), each.level
        assert level == node[j] - 1
        alone = (*node[:j], level, *node[j + 1 :])
        assert each.alone == outcome_of(problem, alone)
        assert each.alone is not None
        assert each.alone.suppressed == problem.partition(alone).suppressed
        assert each.alone.safe == (problem.check(alone) is not None)
        expected = best_of(problem, (x for x in nodes_of(problem) if x[j] == level))
        assert_best(each, expected)
    if relaxed.limit > problem.limit:
        assert_best(found[-1], best_of(relaxed, nodes_of(relaxed)))
    else:
        assert found == tuple(lower)


def assert_best(found: Any, expected: Best | None) -> None:
    assert found.proved
    if expected is None:
        assert found.best is None
        return
    assert tuple(found.best.levels.values()) == expected.node
    assert found.best.loss == pytest.approx(expected.loss)
    assert found.best.suppressed == expected.suppressed
    assert found.best.safe


@pytest.mark.slow
@settings(max_examples=60)
@given(cases(), st.data())
def test_answers_are_those_of_plain_python(case: Case, data: st.DataObject) -> None:
    problem = problem_of(case)
    node = tuple(data.draw(st.integers(0, limit)) for limit in case.limits)
    j = data.draw(st.integers(0, len(node) - 1))
    if node[j] == 0:
        return
    found = answers_of(problem, problem, node, Search(), ignore)
    answer = next(each for each in found if each.column == case.names[j])
    rows, ladders, priorities = case.rows, case.ladders, case.priorities
    alone = (*node[:j], node[j] - 1, *node[j + 1 :])
    expected = slow_outcome(rows, ladders, alone, case.k, priorities)
    assert answer.alone is not None
    assert answer.alone.suppressed == expected.suppressed
    others = [range(limit + 1) for limit in case.limits]
    others[j] = range(node[j] - 1, node[j])
    outcomes = [
        slow_outcome(rows, ladders, x, case.k, priorities) for x in itertools.product(*others)
    ]
    safe = [x for x in outcomes if x.suppressed <= case.suppression and x.released]
    best = min(safe, key=lambda x: (x.loss, x.suppressed, x.node), default=None)
    if best is None:
        assert answer.best is None
    else:
        assert answer.best is not None
        assert answer.best.loss == pytest.approx(float(best.loss))


@pytest.mark.slow
@settings(max_examples=100)
@given(cases(), st.data())
def test_without_a_column_the_optimum_is_that_of_the_others(
    case: Case, data: st.DataObject
) -> None:
    problem = problem_of(case)
    j = data.draw(st.integers(0, len(case.ladders) - 1))
    rest = without(problem, j)
    if len(case.ladders) == 1:
        assert rest is None
        return
    assert rest is not None
    best, proved = optimum(rest, Search(), ignore)
    expected = slow_optimum(
        [row[:j] + row[j + 1 :] for row in case.rows],
        case.ladders[:j] + case.ladders[j + 1 :],
        case.limits[:j] + case.limits[j + 1 :],
        case.k,
        case.suppression,
        case.priorities[:j] + case.priorities[j + 1 :],
    )
    assert proved
    assert (best is None) == (expected is None)
    if best is not None and expected is not None:
        assert best.loss == pytest.approx(float(expected.loss))
        assert best.node == expected.node


@pytest.mark.slow
@settings(max_examples=100)
@given(problems(), st.data())
def test_the_cost_of_a_column_is_counted_record_by_record(
    problem: Problem, data: st.DataObject
) -> None:
    best = best_of(problem, nodes_of(problem))
    if best is None:
        return
    k = problem.models[0].k  # type: ignore[attr-defined]
    found = explain_node(problem, best.node, k, Search(), ignore, {**KNOWN, "k": k})
    now = problem.partition(best.node)
    kept = now.kept[now.class_of]
    assert found.suppressed == int(problem.table.weights[~kept].sum())
    assert found.loss == pytest.approx(best.loss)
    for j, (each, attribute) in enumerate(
        zip(found.columns, problem.table.attributes, strict=True)
    ):
        if best.node[j] == attribute.limit:
            assert (each.saved, each.few_saved) == (None, False)
            continue
        node = (*best.node[:j], best.node[j] + 1, *best.node[j + 1 :])
        then = problem.partition(node)
        saved = ~kept & then.kept[then.class_of]
        records = int(problem.table.weights[saved].sum())
        members = records
        if problem.table.persons is not None:
            persons = problem.table.persons
            members = len(set(persons.person[saved[persons.tuple_of]].tolist()))
        if 0 < members < k:
            assert (each.saved, each.few_saved) == (None, True)
        else:
            assert (each.saved, each.few_saved) == (records, False)
        if each.without is not None and each.without.others_best is not None:
            assert each.without.others_now is not None
    for label in found.labels:
        assert label.suppressed >= k
    shares = [each.share for each in found.columns if each.share is not None]
    assert not shares or sum(shares) == pytest.approx(1) or not any(shares)


def test_a_level_below_those_counted_is_known_to_be_unsafe() -> None:
    from fractions import Fraction

    from oracle import Ladder
    from shoal.encode.table import Raised

    ladder = Ladder({"a": ("a", "x", "*"), "b": ("b", "x", "*")})
    case = Case((("a",), ("b",), ("b",)), (ladder,), (2,), (Fraction(1),), 3, 0)
    problem = problem_of(case)
    table = replace(problem.table, raised=Raised((1,), problem.table.records_of))
    problem = replace(problem, table=table, objective=replace(problem.objective, table=table))  # type: ignore[type-var]
    assert with_level(problem, 0, 0) is None
    assert without(problem, 0) is None
    [answer] = answers_of(problem, problem, (1,), Search(), ignore)
    assert answer.best is None
    assert answer.alone is not None
    assert (answer.alone.suppressed, answer.alone.safe) == (None, False)


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    lines = ["zip,age,sex,ill,name"]
    for i in range(240):
        zip_code, age = 100 + i * 7 % 40, 20 + i * 13 % 50
        lines.append(f"{zip_code},{age},{'fm'[i % 2]},{'abc'[i % 3]},Ann {i}")
    lines += ["999,97,m,zzz,Zoe"]
    (tmp_path / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    path = tmp_path / "it.yaml"
    path.write_text(
        "source: data.csv\noutput: out.csv\nk: 5\nsuppression: 10%\n"
        "attributes:\n  zip: {role: quasi-identifier, hierarchy: {mask: 3}}\n"
        "  age: {role: quasi-identifier, hierarchy: {intervals: [5, 10, 20, 100]}}\n"
        "  sex: {role: quasi-identifier, hierarchy: sex.csv}\n"
        "  ill: {role: sensitive, diversity: {distinct: 2}}\n  name: identifier\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.slow
def test_the_optimum_is_the_node_where_none_is_named(definition: Path) -> None:
    result = shoal.run(definition)
    found = shoal.what_if(definition)
    assert dict(found.node.levels) == dict(result.levels)
    assert found.node.loss == pytest.approx(result.loss)
    nodes = shoal.lattice(definition).nodes
    for each in found.answers[:-1]:
        at_level = [x for x in nodes if x.safe and x.levels[str(each.column)] == each.level]
        least = min((x.loss for x in at_level if x.loss is not None), default=None)
        assert (None if each.best is None else each.best.loss) == pytest.approx(least)
    more = found.answers[-1]
    assert (found.limit, more.limit) == (24, 26)
    again = shoal.run({**mapping(definition), "suppression": 26})
    assert more.best is not None
    assert more.best.loss == pytest.approx(again.loss)
    assert list(found.to_pandas()["question"]) == [each.question for each in found.answers]


def mapping(path: Path) -> dict[str, Any]:
    """The definition as a mapping, with paths that hold anywhere."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    found["source"], found["output"] = (str(path.parent / found[x]) for x in ("source", "output"))
    found["attributes"]["sex"]["hierarchy"] = str(path.parent / "sex.csv")
    return found


@pytest.mark.slow
def test_the_command_answers_about_a_chosen_node(definition: Path, tmp_path: Path) -> None:
    written = tmp_path / "answers.json"
    done = call("what-if", definition, "--node", "zip=2,age=3,sex=1", "--json", written)
    assert done.exit_code == 0, done.output
    assert "zip at level 1" in done.output
    saved = json.loads(written.read_text(encoding="utf-8"))
    assert saved["node"]["levels"] == {"zip": 2, "age": 3, "sex": 1}
    assert [each["column"] for each in saved["answers"]] == ["zip", "age", "sex", None]
    assert (
        json.loads(call("what-if", definition, "--node", "zip=2,age=3,sex=1", "--json", "-").output)
        == saved
    )


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("zipp=1,age=0,sex=0", "did you mean 'zip'"),
        ("zip=9,age=0,sex=0", "above its hierarchy"),
        ("zip=1", "no level is given for 'age', 'sex'"),
        ("zip=x,age=0,sex=0", "is no level"),
    ],
)
def test_a_wrong_node_is_one_clear_error(definition: Path, node: str, said: str) -> None:
    done = call("what-if", definition, "--node", node)
    assert isinstance(done.exception, UserError)
    assert said in str(done.exception)


def test_where_nothing_is_safe_what_if_says_why(definition: Path) -> None:
    given = mapping(definition)
    given |= {"k": 500, "suppression": 0}
    with pytest.raises(Infeasible, match="no transformation meets the demand"):
        shoal.what_if(given)


@pytest.mark.parametrize("command", ["what-if", "explain"])
@pytest.mark.parametrize("name", ["data.csv", "it.yaml", "out.csv", "sex.csv", "link"])
def test_the_json_overwrites_nothing_that_is_read(
    definition: Path, command: str, name: str
) -> None:
    shoal.run(definition)
    path = definition.parent / name
    if name == "link":
        path.symlink_to(definition.parent / "data.csv")
    before = path.read_bytes()
    done = call(command, definition, "--json", path)
    assert isinstance(done.exception, BadOutput)
    assert path.read_bytes() == before
