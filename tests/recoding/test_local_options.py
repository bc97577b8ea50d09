"""How people ask for local recoding: keys, options of commands, arguments in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from typer.testing import CliRunner

import shoal
from recoding.test_local_release import definition_in, write_table
from shoal.cli.app import app
from shoal.definition.json_schema import json_schema
from shoal.definition.model import Definition
from shoal.definition.read import from_mapping, override, parse
from shoal.definition.write import spelled
from shoal.errors import BadDefinition
from shoal.recoding.local.run import LocalSearch


@pytest.fixture
def efforts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The effort of every local search that is made."""
    made: list[str] = []
    search = LocalSearch.search

    def noted(self: LocalSearch, *arguments: Any) -> Any:
        made.append(self.effort)
        return search(self, *arguments)

    monkeypatch.setattr(LocalSearch, "search", noted)
    return made


def test_all_spellings_have_the_effort(tmp_path: Path) -> None:
    definition = from_mapping(definition_in(tmp_path, search={"effort": "high"}))
    for spelling in ("xml", "yaml", "json"):
        parsed = parse(spelled(definition, spelling).encode(), "definition", f".{spelling}")
        assert parsed.mistakes == ()
        assert Definition.model_validate(parsed.data).search.effort == "high"
    search = json_schema()["$defs"]["Search"]["properties"]["effort"]
    assert ["low", "normal", "high"] in [each.get("enum") for each in (search, *search["anyOf"])]


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"recoding": "full-domain", "search": {"effort": "low"}}, "recodes full-domain"),
        ({"search": {"effort": "most"}}, "search.effort"),
    ],
)
def test_an_effort_that_says_nothing_is_a_mistake(
    tmp_path: Path, keys: dict[str, Any], what: str
) -> None:
    with pytest.raises(BadDefinition, match=what):
        from_mapping(definition_in(tmp_path, **keys))


def test_full_domain_recoding_does_not_inherit_the_effort(tmp_path: Path) -> None:
    definition = from_mapping(definition_in(tmp_path, search={"effort": "high", "gap": 0.1}))
    changed = override(definition, {"recoding": "full-domain"}, "options")
    assert (changed.search.effort, changed.search.gap) == (None, 0.1)


def test_the_options_of_the_command_choose_recoding_and_effort(
    tmp_path: Path, efforts: list[str]
) -> None:
    write_table(tmp_path)
    definition, stated = tmp_path / "definition.json", tmp_path / "result.json"
    mapping = definition_in(tmp_path, recoding="full-domain")
    definition.write_text(json.dumps(mapping), encoding="utf-8")
    command = ["run", str(definition), "--recoding", "local", "--effort", "low"]
    ran = CliRunner().invoke(app, [*command, "--json", str(stated)])
    assert ran.exit_code == 0, ran.output
    assert json.loads(stated.read_text(encoding="utf-8"))["recoding"] == "local"
    assert efforts[0] == "low"
    said = ran.stderr
    assert " classes" in said
    assert " node" not in said
    assert " box" not in said


def test_a_frame_is_recoded_with_an_effort(tmp_path: Path, efforts: list[str]) -> None:
    write_table(tmp_path)
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)[["zip", "sex"]]
    _, result = shoal.anonymize(
        frame, ["zip", "sex"], recoding="local", effort="high", with_result=True
    )
    assert result.recoding == "local"
    assert efforts == ["high"]


def test_the_command_says_in_a_terminal_what_the_other_recoding_would_lose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(tmp_path, records=300)
    definition, run = tmp_path / "definition.json", CliRunner()
    definition.write_text(json.dumps(definition_in(tmp_path)), encoding="utf-8")
    losses = {}
    for recoding in ("local", "full-domain"):
        mapping = definition_in(tmp_path, recoding=recoding)
        losses[recoding] = shoal.run(mapping).loss
    local, full = (f"{losses[name]:.4f}" for name in ("local", "full-domain"))
    assert "would lose" not in run.invoke(app, ["run", str(definition)]).stdout
    monkeypatch.setattr("shoal.cli.run.somebody_reads", lambda: True)
    said = run.invoke(app, ["run", str(definition)]).stdout.splitlines()[-1]
    assert said.startswith(f"Full-domain recoding would lose {full} instead of {local}: ")
    ran = run.invoke(app, ["run", str(definition), "--recoding", "full-domain"])
    said = ran.stdout.splitlines()[-1]
    assert said.startswith("Local recoding would lose about 0.")
    assert f" instead of {full}: `recoding: local`" in said
    assert run.invoke(app, ["run", str(definition), "--quiet"]).stdout == ""


@pytest.mark.parametrize(
    "keys", [{"loss": "discernibility"}, {"k": 200}], ids=["loss", "no better"]
)
def test_nothing_is_said_where_the_other_recoding_is_refused_or_no_better(
    tmp_path: Path, keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.cli.run.somebody_reads", lambda: True)
    write_table(tmp_path)
    definition = tmp_path / "definition.json"
    mapping = definition_in(tmp_path, recoding="full-domain", **keys)
    definition.write_text(json.dumps(mapping), encoding="utf-8")
    ran = CliRunner().invoke(app, ["run", str(definition)])
    assert ran.exit_code == 0, ran.output
    assert "ocal recoding would" not in ran.stdout
