"""Why a local recoding loses what it does: from the definition, and from the result of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shoal
from recoding.test_local_release import NAMES, definition_in, write_table
from shoal.cli.app import app
from shoal.errors import UserError
from shoal.report.result import write_result


def test_a_definition_and_its_result_are_explained_alike(tmp_path: Path) -> None:
    write_table(tmp_path, records=300, missing=True)
    mapping = definition_in(tmp_path)
    result = shoal.run(mapping)
    path = tmp_path / "result.json"
    write_result(result, path)
    from_data = shoal.explain(mapping)
    for found in (from_data, shoal.explain(result), shoal.explain(path)):
        assert found.levels == result.levels
        assert found.loss == pytest.approx(result.loss, abs=1e-12)
        assert found.suppressed == result.suppressed
        assert [each.records_at for each in found.columns] == [result.levels[n] for n in NAMES]
        assert sum(each.share or 0 for each in found.columns) == pytest.approx(1)
        assert "local recoding" in str(found)
        assert json.loads(json.dumps(found.to_dict()))["records"] == 300
    for each in from_data.columns:
        assert each.loss == pytest.approx(result.treatments[each.column].loss, abs=1e-12)


def test_what_others_lose_without_a_column_is_what_a_run_without_it_loses(tmp_path: Path) -> None:
    write_table(tmp_path, records=300)
    mapping = definition_in(tmp_path)
    found = {each.column: each.without for each in shoal.explain(mapping).columns}
    for name in NAMES:
        attributes = {**mapping["attributes"], name: "drop"}
        run = shoal.run({**mapping, "attributes": attributes})
        without = found[name]
        assert without is not None
        assert without.others_best is not None
        assert without.others_best >= run.bound - 1e-9
        assert without.others_best <= (without.others_now or 0) + 1e-12
        assert without.others_best == pytest.approx(run.loss, rel=0.05, abs=1e-3)


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("solutions", "a bound for all"),
        ("lattice", "shoal explain"),
        ("what-if", "shoal explain"),
        ("frontier", "one k after the other"),
    ],
)
def test_questions_about_nodes_say_what_to_ask_instead(
    tmp_path: Path, command: str, instead: str
) -> None:
    write_table(tmp_path)
    definition = tmp_path / "definition.json"
    definition.write_text(json.dumps(definition_in(tmp_path)), encoding="utf-8")
    refused = CliRunner().invoke(app, [command, str(definition)]).exception
    assert isinstance(refused, UserError)
    assert refused.code == "full-domain-only"
    assert "node" in str(refused)
    assert instead in (refused.hint or "")
    explained = CliRunner().invoke(app, ["explain", str(definition)])
    assert explained.exit_code == 0, explained.output
    asked = CliRunner().invoke(app, [command, str(definition), "--recoding", "full-domain"])
    assert asked.exit_code == 0, asked.output


def test_a_table_that_was_read_at_raised_levels_has_no_costs_without_a_column(
    tmp_path: Path,
) -> None:
    write_table(tmp_path, records=3000)
    found = shoal.explain(definition_in(tmp_path, engine={"tuples": 2900}))
    assert all(each.without is None for each in found.columns)
    assert "at its limit" not in str(found)
