"""Risk and utility of a release with labels of several levels, found again in its source."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import shoal
from recoding.test_local_release import NAMES, definition_in, released, write_table
from shoal import plugins
from shoal.analysis.mixed_quality import mixed_loss, mixed_qualities
from shoal.analysis.mixed_release import match_mixed
from shoal.analysis.quality import qualities
from shoal.analysis.released import Measured, find_release
from shoal.cli.app import app
from shoal.definition.read import from_mapping
from shoal.errors import BadData, UserError
from shoal.search.objective import objective_of

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "precision": {"loss": "precision"},
    "entropy": {"loss": "entropy"},
    "geometric": {"loss": {"name": "iyengar", "aggregate": "geometric"}},
    "basic": {"missing": "basic"},
    "marked": {"suppressed": "mark", "suppression": "5%"},
    "persons": {"person": "name"},
    "raised": {"engine": {"tuples": 2900}},
}


def rare(folder: Path) -> None:
    """Add records that can only be suppressed cheaply: nothing is like them."""
    with (folder / "data.csv").open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x", f"9{i}1", str(200 + 40 * i), "x", "a"] for i in range(3)])


@pytest.mark.parametrize("keys", VARIANTS.values(), ids=VARIANTS)
def test_the_loss_that_is_measured_from_the_release_is_that_of_the_run(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    raised = "engine" in keys
    write_table(tmp_path, records=3000 if raised else 300, missing=not raised)
    mapping = definition_in(tmp_path, **keys)
    result = shoal.run(mapping)
    found = shoal.utility(mapping)
    assert bool(result.raised) == raised
    assert max(len(each) for each in result.levels.values()) > 1
    assert found.suppressed == result.suppressed
    losses = {each.name: each for each in found.losses}
    own = losses[found.loss_model]
    assert own.loss == pytest.approx(result.loss, abs=1e-12)
    for name, treatment in result.treatments.items():
        assert own.attributes[name] == pytest.approx(treatment.loss, abs=1e-12)
    sizes = Counter(tuple(row[name] for name in NAMES) for row in released(tmp_path))
    records = result.records - result.removed
    if not result.suppressed:
        squares = sum(n * n for n in sizes.values()) / records**2
        assert losses["discernibility"].loss == pytest.approx(squares)
    assert "squared errors" in found.not_measured


def test_levels_are_those_of_the_run_where_no_value_is_missing(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path)
    result, found = shoal.run(mapping), shoal.utility(mapping)
    assert found.levels == result.levels
    assert found.to_dict()["levels"] == result.levels


@pytest.mark.parametrize("loss", ["iyengar", "entropy", "precision"])
def test_a_loss_that_depends_on_suppressed_records_has_a_range(tmp_path: Path, loss: str) -> None:
    write_table(tmp_path, records=300, missing=True)
    rare(tmp_path)
    mapping = definition_in(tmp_path, suppression=3, loss=loss)
    mapping["attributes"]["zip"]["limit"] = mapping["attributes"]["age"]["limit"] = 2
    result, found = shoal.run(mapping), shoal.utility(mapping)
    assert result.suppressed == found.suppressed == 3
    own = next(each for each in found.losses if each.name == loss)
    assert (own.at_most is None) == (loss != "entropy"), "here no missing value is hidden"
    at_most = own.loss if own.at_most is None else own.at_most
    assert own.loss - 1e-12 <= result.loss <= at_most + 1e-12
    assert at_most - own.loss <= 3 / 303 + 1e-12
    assert found.to_dict()["losses"][loss]["at_most"] == at_most
    assert "non uniform entropy" in found.not_measured
    assert "What was not measured" in str(found)


def test_a_column_is_compared_at_a_level_with_more_general_labels_as_moved(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path)
    result, found = shoal.run(mapping), shoal.utility(mapping)
    for each in found.distributions:
        if each.level is None:
            continue
        at = result.levels[each.column]
        assert each.more_general == sum(n for level, n in at.items() if level > each.level)
        assert sum(label.after for label in each.entries) + each.more_general == 300
        assert all(label.after >= 5 for label in each.labels)
        shares = each.before_shares(), each.after_shares()
        assert sum(shares[0]) == pytest.approx(1)
        assert sum(shares[1]) == pytest.approx(1 - each.more_general / 300)
        assert 0 <= each.distance <= 1
    assert any(each.more_general for each in found.distributions)


def test_a_release_by_an_option_of_the_command_is_found_again(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path, recoding="full-domain")
    shoal.run({**mapping, "recoding": "local"})
    assert any(len(each) > 1 for each in shoal.utility(mapping).levels.values())  # type: ignore[arg-type]


@pytest.mark.parametrize("change", ["other records", "more records", "another label"])
def test_a_release_of_other_data_is_refused(tmp_path: Path, change: str) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path)
    shoal.run(mapping)
    release = tmp_path / "release.csv"
    if change == "other records":
        text = (tmp_path / "data.csv").read_text(encoding="utf-8")
        (tmp_path / "data.csv").write_text(text.replace(",f,", ",m,"), encoding="utf-8")
    elif change == "more records":
        rare(tmp_path)
    else:
        text = release.read_text(encoding="utf-8")
        release.write_text(text.replace(f"\n{released(tmp_path)[0]['zip']},", "\n9x9,"))
    with pytest.raises(BadData) as error:
        shoal.utility(mapping)
    assert error.value.code == "other-release"


def test_risk_before_and_after_is_that_of_the_written_classes(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path)
    mapping["attributes"]["name"] = "drop"
    result, found = shoal.run(mapping), shoal.risk(mapping)
    assert found.after is not None
    assert found.after.smallest_class == result.smallest_class
    assert found.after.classes == result.classes
    assert found.after.warnings == ()
    alone = shoal.risk(tmp_path / "release.csv", NAMES)
    assert alone.before.prosecutor == found.after.prosecutor


def test_risk_says_that_persons_of_a_local_release_were_not_counted(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path, person="name")
    shoal.run(mapping)
    found = shoal.risk(mapping)
    assert found.before.persons is not None
    assert found.after is not None
    assert found.after.persons is None
    assert "Persons were not counted for the release" in str(found)


def test_a_target_to_predict_is_refused_with_the_reason(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path)
    shoal.run(mapping)
    with pytest.raises(UserError, match="a target to predict") as error:
        shoal.utility(mapping, "illness")
    assert error.value.code == "full-domain-only"


def test_the_commands_measure_a_local_release(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    definition = tmp_path / "definition.json"
    definition.write_text(json.dumps(definition_in(tmp_path)), encoding="utf-8")
    shoal.run(definition)
    for command in ("risk", "utility"):
        ran = CliRunner().invoke(app, [command, str(definition)])
        assert ran.exit_code == 0, ran.output


@pytest.mark.parametrize("keys", [{}, {"suppression": "5%"}, {"missing": "basic"}])
def test_a_node_is_measured_alike_by_its_labels(tmp_path: Path, keys: dict[str, Any]) -> None:
    write_table(tmp_path, records=300, missing=True)
    mapping = definition_in(tmp_path, recoding="full-domain", **keys)
    shoal.run(mapping)
    definition = from_mapping(mapping)
    with find_release(definition, file="test") as found:
        assert isinstance(found, Measured)
        counted = found.release.count_by(definition.quasi_identifiers)
        *labels, sizes = (column.combine_chunks() for column in counted.columns)
        mixed = match_mixed(
            found.prepared, found.source, found.release, labels, sizes.to_numpy().astype(np.int64)
        )
        assert mixed is not None
        assert mixed.suppressed == found.suppressed
        exact = {each.name: each for each in qualities(found.table, found.node, found.classes)}
        for each in mixed_qualities(mixed):
            assert each.quality == pytest.approx(exact[each.name].quality, abs=1e-9), each.name
            for name, measure in each.attributes.items():
                assert asdict(measure) == pytest.approx(asdict(exact[each.name].attributes[name]))
        names = {each.name for each in mixed_qualities(mixed)}
        assert exact.keys() - names <= ({"non_uniform_entropy"} if mixed.suppressed else set())
        for loss in ("iyengar", "precision", "entropy", "discernibility", "class-size"):
            objective = objective_of(found.table, plugins.make("loss", loss, {}), "mean")
            measured = mixed_loss(mixed, objective)
            assert measured is not None
            truth = objective.measure(found.node, found.classes)
            assert measured.least - 1e-9 <= truth <= measured.greatest + 1e-9, loss
            if not mixed.suppressed:
                assert measured.greatest - measured.least < 1e-9
