"""The proof of a local recoding: the prices of its bound, written by a run and checked alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import shoal
from recoding.test_local_release import definition_in, write_table
from shoal.cli.app import app
from shoal.definition.read import from_mapping
from shoal.proof.check import Checked, check_file


def checked(mapping: dict[str, Any], path: Path) -> Checked:
    return check_file(from_mapping(mapping), path, progress=lambda _done, _all: None)


@pytest.mark.parametrize("name", ["proof.jsonl", "proof.jsonl.gz"])
def test_a_run_writes_a_proof_of_its_bound(tmp_path: Path, name: str) -> None:
    write_table(tmp_path, missing=True)
    mapping = definition_in(tmp_path, suppression="5%")
    result = shoal.run(mapping, proof=tmp_path / name)
    assert 0 < result.bound < result.loss
    found = checked(mapping, tmp_path / name)
    assert found.verdict.safe, found.verdict.failures
    (bound,) = [each for each in found.verdict.findings if each.name == "prices: bound"]
    assert bound.saw == f"every local recoding loses at least {result.bound:.6g}"
    other = checked({**mapping, "k": 6}, tmp_path / name)
    assert not other.verdict.safe


def test_no_proof_is_written_of_a_table_that_is_counted_at_higher_levels(tmp_path: Path) -> None:
    write_table(tmp_path, records=3000)
    mapping = definition_in(tmp_path, engine={"tuples": 2900})
    with pytest.raises(shoal.ShoalError) as refused:
        shoal.run(mapping, proof=tmp_path / "proof.jsonl")
    assert refused.value.code == "no-proof"
    assert not (tmp_path / "release.csv").exists()
    assert not (tmp_path / "proof.jsonl").exists()


def test_a_proof_of_the_other_recoding_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path)
    local = definition_in(tmp_path)
    full = definition_in(tmp_path, recoding="full-domain")
    shoal.run(local, proof=tmp_path / "local.jsonl")
    shoal.run(full, proof=tmp_path / "full.jsonl")
    assert checked(local, tmp_path / "local.jsonl").verdict.safe
    assert checked(full, tmp_path / "full.jsonl").verdict.safe
    for mapping, proof in ((local, "full.jsonl"), (full, "local.jsonl")):
        verdict = checked(mapping, tmp_path / proof).verdict
        assert [each.name for each in verdict.failures] == ["proof: recoding"]


def test_the_commands_write_and_check_the_proof(tmp_path: Path) -> None:
    write_table(tmp_path)
    definition, proof = tmp_path / "definition.json", str(tmp_path / "proof.jsonl")
    definition.write_text(json.dumps(definition_in(tmp_path)), encoding="utf-8")
    run = CliRunner()
    stated = str(tmp_path / "result.json")
    ran = run.invoke(app, ["run", str(definition), "--proof", proof, "--json", stated])
    assert ran.exit_code == 0, ran.output
    assert f"Proof:   {proof}" in ran.output
    release = str(tmp_path / "release.csv")
    for arguments in ([], [release], [release, "--result", stated]):
        options = ["-d", str(definition), "--proof", proof]
        verified = run.invoke(app, ["verify", *arguments, *options])
        assert verified.exit_code == 0, verified.output
        assert "every local recoding loses at least" in " ".join(verified.output.split())
    text = Path(proof).read_text(encoding="utf-8").splitlines()
    Path(proof).write_text("\n".join([*text[:-1], ""]), encoding="utf-8")
    damaged = run.invoke(app, ["verify", "-d", str(definition), "--proof", proof])
    assert damaged.exit_code != 0
