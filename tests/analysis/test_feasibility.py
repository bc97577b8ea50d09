"""What is said of a demand before any search, and the search without its release."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from shoal.analysis.best_node import find_best
from shoal.analysis.feasibility import assess
from shoal.errors import Infeasible
from shoal.events import Event, Phase, Progress
from shoal.pipeline import run
from shoal.report.result import to_dict


def definition(folder: Path, **keys: Any) -> dict[str, Any]:
    """Sixty patients of four towns, aged 20 to 49, with three diagnoses."""
    source = folder / "patients.csv"
    with source.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "zip", "age", "diagnosis", "ward"])
        for i in range(60):
            rows.writerow([f"n{i}", f"531{i % 4}", 20 + i % 30, "abc"[i % 3], f"w{i}"])
    return {
        "source": str(source),
        "k": 4,
        "attributes": {
            "name": "identifier",
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 4}},
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 30]}},
            "diagnosis": {"role": "sensitive", "diversity": {"distinct": 2}},
            "ward": "keep",
        },
        **keys,
    }


def test_both_ends_of_the_lattice_are_counted(tmp_path: Path) -> None:
    found = assess(definition(tmp_path))
    assert found.records == 60
    assert [each.height for each in found.attributes] == [4, 4]
    assert found.lattice == 25
    assert found.specific is not None
    assert (found.specific.k, found.specific.suppressed, found.specific.safe) == (1, 60, False)
    assert (found.general.k, found.general.suppressed, found.general.safe) == (60, 0, True)
    assert found.feasible is True


def test_levels_come_with_how_many_labels_they_have(tmp_path: Path) -> None:
    zip_code = assess(definition(tmp_path)).attributes[0]
    assert [level.labels for level in zip_code.levels] == [4, 1, 1, 1, 1]
    assert zip_code.levels[0].example == "5310"


def test_labels_that_fewer_than_k_records_have_are_not_named(tmp_path: Path) -> None:
    age = assess(definition(tmp_path)).attributes[1]
    assert age.levels[0].example is None


def test_limits_shrink_the_lattice_and_can_make_the_demand_infeasible(tmp_path: Path) -> None:
    asked = definition(tmp_path)
    asked["attributes"]["age"]["limit"] = 0
    found = assess(asked)
    assert found.lattice == 5
    assert found.feasible is False
    assert any("limits keep age at level 0" in reason for reason in found.reasons)
    assert "raise the limit of age to 1" in found.remedies


def test_a_kept_column_that_is_unique_warns(tmp_path: Path) -> None:
    assert "ward" in {warning.attribute for warning in assess(definition(tmp_path)).warnings}


def test_the_search_without_a_release_finds_what_a_run_releases(tmp_path: Path) -> None:
    asked = definition(tmp_path, suppression="10%")
    seen: list[Event] = []
    found = find_best(asked, observe=seen.append).to_dict()
    output = tmp_path / "out.csv"
    released = to_dict(run({**asked, "output": str(output)}))
    same = ("levels", "loss", "suppressed", "classes", "smallest_class", "records", "lattice")
    assert {key: found[key] for key in same} == {key: released[key] for key in same}
    assert found["proved"] is True
    assert found["ended"] == ""
    assert [event.name for event in seen if isinstance(event, Phase)] == ["read", "search"]
    assert any(isinstance(event, Progress) for event in seen)


def test_persons_are_counted_where_the_definition_names_them(tmp_path: Path) -> None:
    asked = definition(tmp_path, person=["name"])
    found = find_best(asked).to_dict()
    released = to_dict(run({**asked, "output": str(tmp_path / "out.csv")}))
    assert found["smallest_class_persons"] == released["smallest_class_persons"]
    assert find_best(definition(tmp_path)).smallest_class_persons is None


def test_nothing_is_written_by_a_search(tmp_path: Path) -> None:
    asked = definition(tmp_path, output=str(tmp_path / "out.csv"))
    find_best(asked)
    assert [each.name for each in tmp_path.iterdir()] == ["patients.csv"]


def test_a_search_without_a_solution_says_why(tmp_path: Path) -> None:
    with pytest.raises(Infeasible) as caught:
        find_best(definition(tmp_path, k=61))
    assert "weaken k-anonymity to 60 or below" in caught.value.remedies
