"""The description of a catalog: what it states, for whom, and nothing of the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mart_catalogs import CLINIC
from shoal.errors import Refused
from shoal.mart.describe import MartDescription, describe
from shoal.mart.read import catalog_from_mapping

COLUMNS: dict[str, Any] = {
    **CLINIC["sources"]["findings"]["columns"],
    "town": {"role": "quasi-identifier", "hierarchy": "towns.csv", "limit": "1"},
    "sent": {"role": "quasi-identifier", "hierarchy": {"date": ["month", "year"]}},
    "ward": "quasi-identifier",
    "zip": {"role": "quasi-identifier", "hierarchy": {"cuts": [["1", "2"], ["2"]]}},
    "ill": {"role": "sensitive", "diversity": {"distinct": "3"}},
    "days": {"role": "keep", "derive": "days(sent, patient.birth)"},
}


def described(folder: Path, asker: str | None = None, **changes: Any) -> MartDescription:
    (folder / "towns.csv").write_text("Secretville;North;*\nHidden;North;*\nOther;South;*\n")
    findings = {**CLINIC["sources"]["findings"], "columns": COLUMNS, "askers": ["anna"]}
    sources = {**CLINIC["sources"], "findings": findings}
    data = {**CLINIC, "sources": sources, **changes}
    return describe(catalog_from_mapping(data, folder), asker)


def levels(description: MartDescription, name: str) -> list[tuple[Any, ...]]:
    (column,) = [each for each in description.columns if each.name == name]
    return [(level.rule, level.labels, level.information_loss) for level in column.levels]


def test_labels_are_shown_where_the_catalog_states_them(tmp_path: Path) -> None:
    assert levels(described(tmp_path), "PT") == [
        ("the values", ("1a", "1b", "1c", "1mic", "2"), 0),
        ("listed", ("1", "2"), 0.3),
        ("listed", ("*",), 1),
    ]


def test_rules_are_shown_where_labels_are_made(tmp_path: Path) -> None:
    found = described(tmp_path)
    assert [rule for rule, _, _ in levels(found, "findings.age")] == [
        "the values",
        "intervals 5",
        "intervals 10",
        "everything",
    ]
    assert {loss for _, _, loss in levels(found, "findings.age")} == {None}
    assert [rule for rule, _, _ in levels(found, "sent")][1:3] == ["date month", "date year"]
    assert [rule for rule, _, _ in levels(found, "zip")][1:3] == ["cuts 1 2", "cuts 2"]
    assert levels(found, "ward") == []


def test_the_values_of_a_hierarchy_file_are_not_shown(tmp_path: Path) -> None:
    found = described(tmp_path)
    assert levels(found, "town")[0][1] is None
    assert levels(found, "town")[1][1] == ("North", "South")
    assert [loss for _, _, loss in levels(found, "town")] == [0, 0.5, 1]
    for text in (str(found), json.dumps(found.to_dict()), found._repr_html_()):
        assert "Secretville" not in text
        assert "North" in text


def test_an_asker_sees_the_sources_that_are_for_them(tmp_path: Path) -> None:
    assert "findings" in {column.source for column in described(tmp_path, "anna").columns}
    closed = described(tmp_path, "bert")
    assert {column.source for column in closed.columns} == {"patient", "genes"}
    assert closed.closed == ("findings",)
    assert "Not for this asker: 'findings'." in str(closed)
    with pytest.raises(Refused, match="'bert' may not ask"):
        described(tmp_path, "bert", policy={"askers": ["anna"]})


def test_neither_who_may_ask_nor_where_the_data_is_is_shown(tmp_path: Path) -> None:
    for asker in (None, "anna"):
        found = described(tmp_path, asker, policy={"askers": ["anna", "zoe"]})
        for text in (str(found), json.dumps(found.to_dict())):
            assert "zoe" not in text
            assert "findings.csv" not in text
            assert "mart.log" not in text


def test_the_policy_is_told_in_sentences(tmp_path: Path) -> None:
    policy = {
        "k": "5",
        "suppression": "2.5%",
        "share": "50%",
        "diversity": {"distinct": "2"},
        "apart": [["PT", "sex"]],
        "overlap": "report",
        "across": "all",
    }
    text = str(described(tmp_path, policy=policy))
    for sentence in (
        "at least 5 persons",
        "At most 2.5% of the records may be suppressed",
        "at most 50% of the persons",
        "diverse in every class: distinct 2",
        "Never released together: 'PT', 'sex'",
        "an earlier one of anybody is reported",
    ):
        assert sentence in text
    assert "No record may be suppressed." in str(described(tmp_path))
    assert "At most 7 records may be" in str(described(tmp_path, policy={"suppression": "7"}))


def test_what_people_read_fits_a_terminal(tmp_path: Path) -> None:
    genes = {**CLINIC["sources"]["genes"], "columns": {f"g{n}": "keep" for n in range(300)}}
    sources = {**CLINIC["sources"], "genes": genes}
    text = str(describe(catalog_from_mapping({**CLINIC, "sources": sources}, tmp_path)))
    assert "g0 to g299 (300 columns)" in text
    assert max(map(len, text.splitlines())) <= 90
    assert "findings (PatId) to patient (PatId): many-to-one." in text


def test_a_data_frame_has_a_row_for_each_level(tmp_path: Path) -> None:
    frame = described(tmp_path).to_pandas()
    assert list(frame[frame["name"] == "PT"]["information_loss"]) == [0, 0.3, 1]
    assert len(frame[frame["name"] == "ill"]) == 1
