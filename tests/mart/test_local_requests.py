"""Requests with `recoding: local`: every class of a source has its own levels."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mart.clinic import Clinic, many, read_csv
from mart.marts import marts, requests
from mart.test_random_marts import Judged, Written
from mart.test_release import persons_by_class, with_who
from shoal import mart
from shoal.errors import Infeasible, Refused, ShoalError
from shoal.mart.preview import estimate
from shoal.mart.read import request_from_mapping
from shoal.mart.recipe import Recipe
from shoal.mart.write import spelled
from shoal.mart.xml_read import parse_request_xml

GROUPS = (["PT", "age"], ["sex"], ["cause"])
PROJECT = ("PT", "age", "sex", "cause", "who")


@pytest.mark.parametrize("findings", [1, 2])
@pytest.mark.parametrize("suppression", [0, "10%"])
def test_every_class_of_each_source_has_k_persons(
    tmp_path: Path, findings: int, suppression: Any
) -> None:
    clinic = with_who(many(tmp_path, findings=findings))
    clinic.keys["policy"] = {"k": 3, "suppression": "10%"}
    result = clinic.ask(*PROJECT, recoding="local", suppression=suppression)
    rows = clinic.released()
    assert len(rows) == result.rows_released == result.rows_selected - result.rows_suppressed
    for columns in GROUPS:
        assert min(map(len, persons_by_class(rows, columns).values())) >= 3
    found = result.sources["findings"]
    assert found.strategy == "local"
    assert found.classes == len(persons_by_class(rows, ["PT", "age"]))
    levels = found.levels["age"]
    assert not isinstance(levels, int)
    assert len(levels) > 1
    assert sum(levels.values()) == len(rows)
    full = clinic.ask(*PROJECT, output=tmp_path / "full.csv", asker="other", loss="iyengar")
    assert found.loss <= full.sources["findings"].loss


def test_a_joint_scope_has_k_persons_for_all_columns_together(tmp_path: Path) -> None:
    clinic = with_who(many(tmp_path))
    result = clinic.ask(*PROJECT, k=3, scope="joint", recoding="local")
    found = persons_by_class(clinic.released(), ["PT", "age", "sex", "cause"])
    assert min(map(len, found.values())) >= 3
    assert result.rows_unique == 0


def test_the_demands_of_the_policy_hold_in_the_classes(tmp_path: Path) -> None:
    clinic = with_who(many(tmp_path))
    clinic.keys["policy"] = {"k": 4, "diversity": {"distinct": 3}}
    with pytest.raises(Refused) as refused:
        clinic.ask(*PROJECT, "therapy", k=3, recoding="local")
    assert refused.value.code == "policy"
    clinic.ask(*PROJECT, "therapy", recoding="local")
    rows = clinic.released()
    for columns in GROUPS:
        therapies = defaultdict(set)
        for row in rows:
            therapies[tuple(row[name] for name in columns)].add(row["therapy"])
        assert min(map(len, persons_by_class(rows, columns).values())) >= 4
        assert min(map(len, therapies.values())) >= 3


def test_random_ids_tie_no_rows_that_fewer_than_k_persons_have(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    result = clinic.ask("PT", "age", "sex", keys="random", k=3, recoding="local")
    rows = clinic.released()
    (ids,) = set(rows[0]) - {"PT", "age", "sex"}
    assert len({row[ids] for row in rows}) == result.persons_released
    twice = many(tmp_path, findings=2)
    with pytest.raises(Refused) as refused:
        twice.ask("PT", "age", "sex", keys="random", k=3, recoding="local", asker="other")
    assert refused.value.code == "ids-tell"


@pytest.mark.parametrize("loss", ["weighted", "discernibility"])
def test_a_loss_that_charges_no_cells_is_refused(tmp_path: Path, loss: str) -> None:
    with pytest.raises(ShoalError) as refused:
        many(tmp_path).ask("PT", "age", k=3, recoding="local", loss=loss)
    assert refused.value.code == "no-local-recoding"


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_releases_of_random_marts_have_k_persons_in_every_class(data: st.DataObject) -> None:
    drawn = data.draw(marts())
    asked = data.draw(requests(drawn))
    judged = Judged(drawn, asked)
    given_keys = {key: each for key, each in asked.mapping.items() if key not in ("search", "loss")}
    with tempfile.TemporaryDirectory() as name:
        output = Path(name, "out.csv")
        try:
            result = mart.request(
                mart.catalog_from_mapping(drawn.write(Path(name))),
                mart.request_from_mapping({**given_keys, "recoding": "local"}),
                output=output,
            )
        except ShoalError as error:
            if error.code != "no-local-recoding":
                judged.check_refusal(error)
            assert not output.exists()
            return
        written = Written(output, judged.columns)
    assert len(written.rows) == result.rows_released
    assert len(judged.rows) - len(written.rows) <= judged.most_removed()
    for group in judged.groups:
        columns = [column for _, column in group]
        rows_of = Counter(tuple(row[each] for each in columns) for row in written.rows)
        assert min(rows_of.values()) >= judged.k
        if asked.mapping["keys"] == "random":
            (ids,) = written.further
            persons: Mapping[Any, set[str]] = defaultdict(set)
            for row in written.rows:
                persons[tuple(row[each] for each in columns)].add(row[ids])
            assert min(map(len, persons.values())) >= judged.k


def cells_below_k(
    one: Sequence[Mapping[str, str]],
    two: Sequence[Mapping[str, str]],
    columns: Sequence[str],
    k: int,
) -> bool:
    """Whether fewer than k persons have the same classes in two releases of one row each."""
    classes: list[dict[str, tuple[str, ...]]] = []
    for rows in (one, two):
        there = [name for name in columns if name in rows[0]]
        classes.append({row["who"]: tuple(row[name] for name in there) for row in rows})
    everybody = set(classes[0]) | set(classes[1])
    cells = Counter((classes[0].get(who), classes[1].get(who)) for who in everybody)
    return min(cells.values()) < k


SECOND: tuple[dict[str, Any], ...] = (
    {"project": PROJECT, "recoding": "local"},
    {"project": PROJECT, "recoding": "full-domain", "loss": "iyengar"},
    {"project": ("age", "sex", "who"), "recoding": "local"},
    {"project": ("PT", "cause", "who"), "recoding": "full-domain"},
    {"project": PROJECT, "recoding": "local", "select": ["sex = m"]},
    {"project": PROJECT, "recoding": "local", "k": 10},
)


@pytest.mark.parametrize("second", SECOND, ids=range(len(SECOND)))
def test_overlaps_with_an_earlier_local_release_are_those_that_can_be_counted(
    tmp_path: Path, second: dict[str, Any]
) -> None:
    clinic = with_who(many(tmp_path, number=80))
    clinic.keys["policy"] = {"k": 3, "overlap": "report"}
    clinic.ask(*PROJECT, k=3, recoding="local")
    asked = {"k": 3, **second}
    project = asked.pop("project")
    result = clinic.ask(*project, output=tmp_path / "second.csv", **asked)
    one, two = clinic.released(), read_csv(tmp_path / "second.csv")
    most = max(3, asked["k"])
    expected = {
        source
        for source, columns in zip(("findings", "patient", "survival"), GROUPS, strict=True)
        if cells_below_k(one, two, columns, most)
    }
    assert {each.source for each in result.overlaps} == expected
    assert all(each.kind != "changed" for each in result.overlaps)


def test_an_earlier_local_release_whose_rows_have_changed_is_said_to_be_changed(
    tmp_path: Path,
) -> None:
    clinic = with_who(many(tmp_path))
    clinic.keys["policy"] = {"k": 3, "overlap": "report"}
    clinic.ask(*PROJECT, k=3, recoding="local", select=["sex = m"])
    other = tmp_path / "other.csv"
    outside = next(i for i, row in enumerate(clinic.findings) if int(row[1]) % 2 == 1)
    clinic.findings[outside] = (*clinic.findings[outside][:2], "2", 77, clinic.findings[outside][4])
    again = clinic.ask("cause", "who", k=3, output=other)
    assert all(each.kind != "changed" for each in again.overlaps)
    inside = next(i for i, row in enumerate(clinic.findings) if int(row[1]) % 2 == 0)
    clinic.findings[inside] = (*clinic.findings[inside][:2], "2", 78, clinic.findings[inside][4])
    changed = clinic.ask("sex", "who", k=3, output=other)
    assert ("changed", (1,)) in [(each.kind, each.earlier) for each in changed.overlaps]


def test_the_log_has_no_value_that_is_not_released(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.ask("PT", "age", k=3, recoding="local")
    stored = clinic.entries[0].recipe
    assert stored is not None
    recipe = Recipe.from_json(stored)
    assert json.loads(json.dumps(recipe.to_json())) == stored
    assert set(recipe.tuples) == {"findings"}
    assert max(recipe.tuples["findings"].classes) == len(recipe.classes["findings"])
    labels = {(row["PT"], row["age"]) for row in clinic.released()}
    assert {each.labels for each in recipe.classes["findings"]} == labels
    assert len(clinic.entries) == 1


def test_an_estimate_tells_levels_and_no_numbers_of_rows(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.write()
    asked = {"project": ["PT", "age"], "k": 3, "recoding": "local"}
    found = estimate(mart.catalog_from_mapping(clinic.catalog), asked, asker="oncology")
    assert all(isinstance(each, list) for each in found.levels.values())
    assert found.to_dict()["levels"]["age"] == sorted(found.levels["age"])  # type: ignore[arg-type]


@pytest.mark.parametrize("spelling", ["yaml", "json", "xml"])
def test_every_spelling_has_the_recoding(spelling: str) -> None:
    asked = request_from_mapping({"project": ["PT"], "recoding": "local", "loss": "precision"})
    text = spelled(asked, spelling)
    assert "local" in text
    if spelling == "xml":
        assert request_from_mapping(parse_request_xml(text).data) == asked


def test_where_no_classes_are_possible_nothing_is_released(tmp_path: Path) -> None:
    clinic: Clinic = many(tmp_path)
    with pytest.raises(Infeasible):
        clinic.ask("PT", "age", k=3, recoding="local", limits={"PT": 0, "age": 0})
    assert not clinic.output.exists()
