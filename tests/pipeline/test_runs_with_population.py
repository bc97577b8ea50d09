"""Whole runs with a demand against a population: released, verified and proved, or one error."""

from __future__ import annotations

import csv
import itertools
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from adapters import InDatabase, InSpark
from oracle import Outcome, Row
from pipeline.test_run_against_oracle import released, write_case
from problems import Case, cases
from shoal.pipeline import load
from shoal.proof.check import check_file
from shoal.report.result import write_result

DEMANDS: tuple[dict[str, Any], ...] = (
    {"k": 3},
    {"k": 5},
    {"presence": [0, 0.4]},
    {"presence": ["20%", "90%"]},
    {"k": 4, "presence": [0, 0.7]},
)


def labels_of(case: Case, row: Row, node: tuple[int, ...]) -> Row:
    steps = zip(case.ladders, row, node, strict=True)
    return tuple(ladder.label(cell, level) for ladder, cell, level in steps)


def outcome(
    case: Case, people: list[Row], node: tuple[int, ...], demand: dict[str, Any]
) -> Outcome:
    """What releasing at a node means, counted in plain Python."""
    labels = [labels_of(case, row, node) for row in case.rows]
    sizes, crowd = Counter(labels), Counter(labels_of(case, row, node) for row in people)
    least, most = (
        Fraction(str(share).rstrip("%")) / (100 if "%" in str(share) else 1)
        for share in demand.get("presence", [0, 1])
    )
    stay = {
        label
        for label, size in sizes.items()
        if size >= case.k
        and crowd[label] >= demand.get("k", 1)
        and least <= Fraction(size, crowd[label]) <= most
    }
    if least > 0 and stay != set(crowd):
        stay = set()
    rows = [label for label in labels if label in stay]
    loss = Fraction(0)
    for row, label in zip(case.rows, labels, strict=True):
        for j, ladder in enumerate(case.ladders):
            cost = ladder.iyengar(row[j], node[j]) if label in stay else Fraction(1)
            loss += case.priorities[j] * cost
    total = loss / len(case.rows) / sum(case.priorities)
    return Outcome(total, len(case.rows) - len(rows), node, tuple(rows))


def optimum(case: Case, people: list[Row], demand: dict[str, Any]) -> Outcome | None:
    nodes = itertools.product(*(range(limit + 1) for limit in case.limits))
    found = (outcome(case, people, node, demand) for node in nodes)
    safe = [each for each in found if each.released and each.suppressed <= case.suppression]
    return min(safe, key=lambda each: (each.loss, each.suppressed, each.node), default=None)


def write_people(path: Path, names: tuple[str, ...], people: list[Row]) -> None:
    """The columns in another order than the source, and one more."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["street", *reversed(names)])
        for row in people:
            writer.writerow(["s", *("?" if cell is None else cell for cell in reversed(row))])


@st.composite
def people_cases(draw: st.DrawFn) -> tuple[Case, list[Row]]:
    """A case, and its rows with further people in any order."""
    case = draw(cases())
    cells = [st.sampled_from([*ladder.steps, None]) for ladder in case.ladders]
    others = draw(st.lists(st.tuples(*cells), max_size=12))
    more = draw(st.lists(st.sampled_from(case.rows), max_size=12))
    return case, draw(st.permutations([*case.rows, *others, *more]))


@pytest.mark.slow
@given(people_cases(), st.sampled_from(DEMANDS))
@settings(max_examples=40)
def test_a_run_releases_the_optimum_and_its_proof_holds(
    found: tuple[Case, list[Row]], demand: dict[str, Any]
) -> None:
    case, people = found
    expected = optimum(case, people, demand)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder / "people.csv", case.names, people)
        population = {"source": str(folder / "people.csv"), **demand}
        definition = write_case(case, folder, population=population)
        if expected is None:
            with pytest.raises(shoal.Infeasible):
                shoal.run(definition)
            assert not (folder / "release.csv").exists()
            return
        result = shoal.run(definition, proof=folder / "proof.jsonl")
        _, rows = released(folder / "release.csv")
        write_result(result, folder / "result.json")
        verdict = shoal.verify(folder / "release.csv", definition, result=folder / "result.json")
        proof = folder / "proof.jsonl"
        checked = check_file(load(definition), proof, progress=lambda done, boxes: None)
    assert Counter(row[:-1] for row in rows) == Counter(expected.released)
    assert tuple(result.levels.values()) == expected.node
    assert result.loss == pytest.approx(float(expected.loss), abs=1e-12)
    assert result.suppressed == expected.suppressed
    assert all(each.met for each in result.privacy)
    assert verdict.safe
    assert checked.verdict.safe


def outcome_of(definition: dict[str, Any]) -> object:
    """What a run ends with: its node and numbers, or the code of its error."""
    try:
        result = shoal.run(definition)
    except shoal.ShoalError as error:
        return error.code
    return result.levels, round(result.loss, 12), result.suppressed, result.privacy


@pytest.mark.slow
@given(
    people_cases(),
    st.sampled_from(DEMANDS),
    st.integers(1, 12),
    st.sampled_from(["extended", "basic"]),
    st.sampled_from(["drop", "mark"]),
)
@settings(max_examples=30)
def test_few_tuples_in_memory_give_the_same_release_or_an_error(
    found: tuple[Case, list[Row]],
    demand: dict[str, Any],
    tuples: int,
    match: str,
    suppressed: str,
) -> None:
    case, people = found
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder / "people.csv", case.names, people)
        population = {"source": str(folder / "people.csv"), **demand}
        missing = {"match": match, "values": ["?"]}
        keys = {"population": population, "missing": missing, "suppressed": suppressed}
        definition = write_case(case, folder, **keys)
        whole = outcome_of(definition)
        few = outcome_of({**definition, "engine": {"tuples": tuples}})
    assert whole != "refused"
    assert few in (whole, "too-many-tuples")


AGES = [("31", "1010"), ("32", "1010"), ("38", "1020"), ("39", "1020"), ("45", "2020")]
BASE: dict[str, Any] = {
    "k": 2,
    "suppression": 0.2,
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": [2, 4]}},
    },
}


def written(
    folder: Path, name: str, rows: list[Row], header: tuple[str, ...] = ("age", "zip")
) -> str:
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return str(folder / name)


def defined(folder: Path, people: list[Row], **keys: Any) -> dict[str, Any]:
    """A definition of the ages with a population, in a folder."""
    return {
        **BASE,
        "source": written(folder, "ages.csv", [*AGES]),
        "output": str(folder / "release.csv"),
        "population": {"source": written(folder, "people.csv", people), "k": 3},
        **keys,
    }


PEOPLE: list[Row] = [*AGES, ("33", "1090"), ("57", "1010"), ("44", "2021"), ("91", "9999")]


@pytest.mark.slow
def test_hierarchies_cover_the_values_of_the_population(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE)
    result = shoal.run(definition)
    assert [(each.demanded, each.met) for each in result.privacy] == [
        ("k >= 2", True),
        ("k >= 3 in the population", True),
    ]
    assert shoal.verify(tmp_path / "release.csv", definition).safe


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres", "mariadb", "spark"])
def test_the_population_may_be_a_table_of_any_engine(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session = request.getfixturevalue("spark_session") if engine == "spark" else None
    place = (
        InDatabase(request.getfixturevalue(f"{engine}_url"))
        if session is None
        else InSpark(tmp_path, session)
    )
    ages, zips = zip(*PEOPLE, strict=True)
    place.load(pa.table({"zip": zips, "age": ages}))
    definition = defined(tmp_path, PEOPLE)
    wanted = shoal.run(definition)
    definition["population"] = {"source": place.source, "k": 3}
    assert shoal.run(definition, spark=session).levels == wanted.levels


@pytest.mark.slow
def test_a_population_of_more_combinations_than_may_be_read_is_generalized(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE, suppression=0, loss="precision")
    wanted = shoal.run(definition)
    found = shoal.run({**definition, "engine": {"tuples": 4}})
    assert (found.levels, found.loss) == (wanted.levels, wanted.loss)


def test_too_many_combinations_of_the_population_are_an_error(tmp_path: Path) -> None:
    many: list[Row] = [(str(age), f"{age * 97 % 8999 + 1000}") for age in range(20, 90)]
    with pytest.raises(shoal.BadData) as caught:
        shoal.run({**defined(tmp_path, [*AGES, *many]), "engine": {"tuples": 20}})
    assert caught.value.code == "too-many-tuples"
    assert "people.csv has more than 20 distinct combinations" in caught.value.what


def test_a_population_that_lacks_records_is_one_error_without_values(tmp_path: Path) -> None:
    with pytest.raises(shoal.BadData) as caught:
        shoal.run(defined(tmp_path, [row for row in PEOPLE if row[0] != "45"]))
    assert caught.value.code == "population-too-small"
    assert "1 of 5 combinations of quasi-identifiers have more records in the source" in str(
        caught.value
    )
    assert "2020" not in str(caught.value)
    assert not (tmp_path / "release.csv").exists()


def test_a_population_without_a_column_is_one_error(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE)
    written(tmp_path, "people.csv", PEOPLE, ("age", "zipcode"))
    with pytest.raises(shoal.BadData, match=r"no column 'zip' in .*people\.csv") as caught:
        shoal.run(definition)
    assert caught.value.code == "unknown-column"


def test_a_population_file_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE)
    (tmp_path / "people.csv").unlink()
    with pytest.raises(shoal.BadData, match=r"people\.csv"):
        shoal.run(definition)


@pytest.mark.parametrize("key", ["output", "report"])
@pytest.mark.parametrize("link", [False, True])
def test_nothing_takes_the_place_of_the_population(tmp_path: Path, key: str, link: bool) -> None:
    definition = defined(tmp_path, PEOPLE)
    before = (tmp_path / "people.csv").read_text(encoding="utf-8")
    path = tmp_path / "people.csv"
    if link:
        path = tmp_path / "other.csv"
        path.symlink_to(tmp_path / "people.csv")
    with pytest.raises(shoal.ShoalError, match="is a file of the population"):
        shoal.run({**definition, key: str(path)})
    assert (tmp_path / "people.csv").read_text(encoding="utf-8") == before


@pytest.mark.slow
def test_a_release_is_judged_by_the_population_as_it_is(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE)
    definition["population"]["k"] = 6
    shoal.run(definition)
    whole = (tmp_path / "people.csv").read_text(encoding="utf-8")
    written(tmp_path, "people.csv", [*AGES])
    verdict = shoal.verify(tmp_path / "release.csv", definition)
    assert [each.name for each in verdict.failures] == ["k-map"]
    (tmp_path / "people.csv").unlink()
    (failure,) = shoal.verify(tmp_path / "release.csv", definition).failures
    assert failure.saw.startswith("not judged: the population or the source cannot be read")
    (tmp_path / "people.csv").write_text(whole, encoding="utf-8")
    assert shoal.verify(tmp_path / "release.csv", definition).safe


@pytest.mark.slow
def test_with_a_least_share_a_class_that_is_left_out_of_the_release_is_found(
    tmp_path: Path,
) -> None:
    definition = defined(tmp_path, PEOPLE, suppression=0)
    definition["population"] = {**definition["population"], "presence": [0.1, 1]}
    definition["attributes"] = {
        name: {**attribute, "limit": 1} for name, attribute in BASE["attributes"].items()
    }
    with pytest.raises(shoal.Infeasible):
        shoal.run(definition)
    written(tmp_path, "release.csv", [("[30,40)", "10**")] * 4)
    verdict = shoal.verify(tmp_path / "release.csv", {**definition, "suppression": 1})
    failure = next(each for each in verdict.failures if each.name == "delta-presence")
    assert failure.saw.endswith("classes of the population are not released")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("demand", "reason", "remedy", "enough"),
    [
        ({"k": 8}, "k-map (k >= 8 in the population) refuses", "weaken k-map to 6", {"k": 6}),
        (
            {"presence": [0, 0.5]},
            "delta-presence (0 <= share of the population <= 0.5) refuses",
            "weaken delta-presence to 0.66666",
            {"presence": [0, 0.667]},
        ),
        (
            {"presence": [0.5, 1]},
            "delta-presence (0.5 <= share",
            "raise the limit of zip to 2",
            None,
        ),
    ],
)
def test_what_stands_in_the_way_is_said_with_a_remedy_that_is_enough(
    tmp_path: Path, demand: dict[str, Any], reason: str, remedy: str, enough: dict[str, Any] | None
) -> None:
    definition = defined(tmp_path, PEOPLE)
    people = definition["population"]["source"]
    definition["attributes"] = {
        name: {**attribute, "limit": limit}
        for (name, attribute), limit in zip(BASE["attributes"].items(), (3, 1), strict=True)
    }
    with pytest.raises(shoal.Infeasible) as caught:
        shoal.run({**definition, "population": {"source": people, **demand}})
    assert reason in caught.value.what
    assert remedy in caught.value.hint
    if enough is not None:
        assert shoal.run({**definition, "population": {"source": people, **enough}}).verified


@pytest.mark.slow
def test_what_a_column_costs_is_explained_with_the_population_too(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE)
    found = {each.column: each.without for each in shoal.explain(definition).columns}
    rest = shoal.run(
        {**definition, "attributes": {**definition["attributes"], "zip": {"role": "drop"}}}
    )
    assert found["zip"] is not None
    assert found["zip"].others_best == pytest.approx(rest.loss)
    assert found["zip"].levels == rest.levels


@pytest.mark.slow
def test_no_transformation_is_kept_without_its_population(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    with pytest.raises(shoal.ShoalError) as caught:
        shoal.run(defined(tmp_path, PEOPLE), transformation=plan)
    assert caught.value.code == "no-transformation"
    assert not plan.exists()
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.slow
def test_a_proof_is_about_its_population(tmp_path: Path) -> None:
    definition = defined(tmp_path, PEOPLE)
    proof = tmp_path / "proof.jsonl"
    shoal.run(definition, proof=proof)
    assert check_file(load(definition), proof, progress=lambda done, boxes: None).verdict.safe
    written(tmp_path, "people.csv", [*PEOPLE, ("33", "1010")])
    (failure,) = check_file(
        load(definition), proof, progress=lambda done, boxes: None
    ).verdict.failures
    assert failure.saw.endswith("population_sha256")


def test_blank_records_that_the_population_hides_are_released_where_others_are_marked(
    tmp_path: Path,
) -> None:
    (tmp_path / "source.csv").write_text("a,b\nx,1\nx,1\n?,1\nx,1\n?,1\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("a\nx\nx\nx\n?\n?\n?\n", encoding="utf-8")
    definition = {
        "source": str(tmp_path / "source.csv"),
        "output": str(tmp_path / "release.csv"),
        "k": 2,
        "suppressed": "mark",
        "missing": {"values": ["?"]},
        "population": {"source": str(tmp_path / "people.csv"), "k": 3},
        "attributes": {
            "a": {"role": "quasi-identifier", "hierarchy": "suppress", "limit": 0},
            "b": "keep",
        },
    }
    assert shoal.run(definition).suppressed == 0
    (tmp_path / "people.csv").write_text("a\nx\nx\nx\n?\n?\n", encoding="utf-8")
    with pytest.raises(shoal.Infeasible):
        shoal.run(definition)


@pytest.mark.parametrize("suppressed", ["drop", "mark"])
def test_blank_records_are_a_class_that_presence_asks_for(tmp_path: Path, suppressed: str) -> None:
    """Marked like suppressed ones, they are released all the same: no class may be left out."""
    (tmp_path / "data.csv").write_text("q\n" + "v\n" * 2 + '""\n' * 2)
    (tmp_path / "people.csv").write_text("q\n" + "v\n" * 3 + '""\n' * 3)
    result = shoal.run(
        {
            "source": str(tmp_path / "data.csv"),
            "output": str(tmp_path / "release.csv"),
            "k": 2,
            "suppressed": suppressed,
            "population": {"source": str(tmp_path / "people.csv"), "presence": ["20%", "90%"]},
            "attributes": {"q": {"role": "quasi-identifier", "hierarchy": "suppress", "limit": 0}},
        }
    )
    assert (result.verified, result.suppressed, result.classes) == (True, 0, 2)
