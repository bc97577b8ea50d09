"""Every refusal is one clear error, leaves nothing behind, and is in the log once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mart.clinic import Clinic, many
from shoal import mart as marts
from shoal.engines.base import Recoding, Source, Staged
from shoal.engines.opening import recode_into
from shoal.engines.options import Target
from shoal.errors import BadDefinition, ShoalError
from shoal.events import Event, Phase
from shoal.mart import releasing

pytestmark = pytest.mark.slow


def refused(clinic: Clinic, *project: str, **keys: Any) -> ShoalError:
    """The error of a request; nothing is released, and the log has one entry with its code."""
    before = len(clinic.entries)
    with pytest.raises(ShoalError) as refusal:
        clinic.ask(*project, **keys)
    (entry,) = clinic.entries[before:]
    assert (entry.kind, entry.code) == ("refused", refusal.value.code)
    assert not clinic.output.exists()
    assert sorted(path.name for path in clinic.folder.iterdir() if path.name.startswith(".")) == []
    return refusal.value


@pytest.mark.parametrize(
    ("project", "keys", "code", "exit_code"),
    [
        (["sxe"], {}, "unknown-column", 2),
        (["sex"], {"select": ["aeg > 3"]}, "unknown-column", 2),
        (["days"], {"limits": {"aeg": 1}}, "unknown-column", 2),
        (["days"], {"priorities": {"aeg": 1}}, "unknown-column", 2),
        (["sex"], {"select": ["PT = 7"]}, "unknown-value", 2),
        (["sex"], {"select": ["PT > 1"]}, "no-order", 2),
        (["sex"], {"select": ["age > 99"]}, "few-persons", 4),
        (["sex"], {"select": ["PT = 1a", "age < 22", "sex = m"]}, "few-persons", 4),
        (["age"], {"limits": {"age": 0}}, "infeasible", 3),
        (["age"], {"limits": {"age": 9}}, "bad-definition", 2),
        (["sex"], {"k": 3}, "policy", 4),
        (["sex", "cause"], {"k": 5}, "policy", 4),
        (["sex"], {"suppression": "10%", "k": 5}, "policy", 4),
        (["age"], {"keys": "random", "limits": {"age": 1}}, "ids-tell", 4),
        (["sex"], {"asker": "press", "k": 5}, "policy", 4),
    ],
)
def test_a_request_that_cannot_be_answered_is_refused(
    tmp_path: Path, project: list[str], keys: dict[str, Any], code: str, exit_code: int
) -> None:
    clinic = many(tmp_path, findings=1 + ("keys" in keys))
    policy = {"k": 5, "apart": [["sex", "cause"]], "askers": ["oncology"]}
    clinic.keys = {"policy": policy}
    error = refused(clinic, *project, **keys)
    assert (error.code, error.exit_code) == (code, exit_code)
    assert error.hint or isinstance(error, BadDefinition)


def test_mistakes_have_the_keys_of_a_request(tmp_path: Path) -> None:
    asked = {"limits": {"age": 9}, "priorities": {"age": 0}}
    error = refused(many(tmp_path), "age", **asked)
    assert "limits.age: 9 is above the hierarchy" in error.what
    error = refused(many(tmp_path), "age", priorities={"age": 0})
    assert "priorities: every priority is 0" in error.what
    error = refused(many(tmp_path), "age", loss="weighted by hand")
    assert "loss" in error.what


def test_nobody_and_somebody_get_the_same_answer(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.survival[0] = (0, "C99", 0, "A")
    nobody = refused(clinic, "sex", select=["cause = C98"])
    somebody = refused(clinic, "sex", select=["cause = C99"])
    said, suggested = somebody.what.split("; did you mean ")
    assert nobody.what.startswith(said.replace("C99", "C98"))
    assert "C99" not in suggested
    nobody = refused(clinic, "sex", select=["age > 90"], k=3)
    somebody = refused(clinic, "sex", select=["age < 21", "sex = m"], k=3)
    assert str(nobody) == str(somebody)


def test_a_refusal_for_want_of_levels_counts_nobody(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    error = refused(clinic, "age", limits={"age": 0}, k=5)
    assert "limits keep age at level 0 of 3" in error.what
    assert "record" not in error.what
    assert "raise the limit of age" in error.hint


def test_a_share_of_a_source_is_refused_by_the_policy(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.keys = {"policy": {"share": 0.5}}
    assert refused(clinic, "sex").code == "policy"
    assert clinic.ask("age", select=["sex = m"]).persons_released == 30


def test_a_source_that_is_gone_is_refused(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.write()
    (tmp_path / "survival.csv").unlink()
    with pytest.raises(ShoalError) as refusal:
        marts.request(clinic.catalog, {"project": ["cause"]}, output=clinic.output)
    (entry,) = clinic.entries
    assert (entry.kind, entry.code) == ("refused", refusal.value.code)
    assert refusal.value.exit_code == 2


def test_a_request_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.write()
    with pytest.raises(BadDefinition):
        marts.request(clinic.catalog, {"projct": ["cause"]}, output=clinic.output)
    (entry,) = clinic.entries
    assert (entry.kind, entry.code, entry.request) == ("refused", "bad-definition", None)


def test_a_catalog_with_mistakes_is_refused_in_its_log(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.keys = {"links": [*clinic.catalog["links"], clinic.catalog["links"][0]]}
    with pytest.raises(BadDefinition):
        clinic.ask("sex")
    (entry,) = clinic.entries
    assert entry.kind == "refused"
    assert "links" in str(entry.reason)
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps(clinic.catalog | {"log": "log.jsonl"}))
    with pytest.raises(BadDefinition):
        marts.request(path, {"project": ["sex"]}, output=clinic.output)
    assert len(clinic.entries) == 2


def test_values_that_a_hierarchy_does_not_cover_are_not_told(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.findings[0] = ("x", 0, "secret-stage", 30)
    for keys in ({}, {"select": ["PT = 1"]}):
        error = refused(clinic, "PT", **keys)
        assert error.code == "uncovered-value"
        assert "secret" not in f"{error} {clinic.entries[-1]}"
        assert "does not cover 1 value" in error.what


def test_nothing_goes_on_with_a_forged_log(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.ask("sex")
    log = tmp_path / "log.jsonl"
    log.write_text(log.read_text().replace('"oncology"', '"statistics"'))
    clinic.output.unlink()
    with pytest.raises(ShoalError) as refusal:
        clinic.ask("sex")
    assert refusal.value.code == "broken-log"
    assert not clinic.output.exists()


def test_a_release_is_in_the_log_with_its_recipe_and_no_values(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    result = clinic.ask("PT", "age", "days", select=["sex = m"], purpose="a study")
    (entry,) = clinic.entries
    assert (entry.kind, entry.asker, entry.digest) == ("released", "oncology", result.digest)
    assert entry.request is not None
    assert entry.request["select"] == ["sex = m"]
    assert entry.request["purpose"] == "a study"
    assert entry.result is not None
    assert entry.result["rows_released"] == result.rows_released == 30
    assert entry.output_sha256 == result.output_sha256
    assert entry.recipe is not None
    assert "days" not in json.dumps(entry.recipe)


def test_the_log_is_written_before_the_release_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clinic = many(tmp_path)
    failed = OSError("the disk is gone")

    def fail(*_: Any) -> None:
        raise failed

    clinic.write()
    monkeypatch.setattr("shoal.engines.duckdb.staged.StagedFile.put_in_place", fail)
    with pytest.raises(ShoalError):
        clinic.ask("sex")
    first, second = clinic.entries
    assert (first.kind, second.kind) == ("released", "failed")
    assert second.code == "output-not-published"
    assert not clinic.output.exists()


def test_an_interrupt_is_in_the_log_and_leaves_nothing(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.write()

    def interrupt(event: Event) -> None:
        if event == Phase("verify"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        marts.request(clinic.catalog, {"project": ["sex"]}, output=clinic.output, observe=interrupt)
    (entry,) = clinic.entries
    assert (entry.kind, entry.code) == ("failed", "interrupted")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


Lines = list[str]


def without_a_row(lines: Lines) -> Lines:
    return lines[:-1]


def with_a_row_twice(lines: Lines) -> Lines:
    return [*lines, lines[-1]]


def with_another_value(lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1].replace("C19", "C18").replace("I25", "C18")]


def with_a_column(lines: Lines) -> Lines:
    return [f"{lines[0]},name", *(f"{line},{number}" for number, line in enumerate(lines[1:]))]


def with_a_raw_value(lines: Lines) -> Lines:
    head, rest = lines[1].split('"', 1)
    return [lines[0], f"{head}23{rest.split(chr(34), 1)[1]}", *lines[2:]]


@pytest.mark.parametrize(
    ("tamper", "scope"),
    [
        (without_a_row, "source"),
        (without_a_row, "joint"),
        (with_a_row_twice, "source"),
        (with_another_value, "source"),
        (with_a_column, "joint"),
        (with_a_raw_value, "source"),
        (with_a_raw_value, "joint"),
    ],
)
def test_the_verifier_refuses_a_release_that_is_not_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tamper: Callable[[Lines], Lines], scope: str
) -> None:
    def stage(source: Source, recoding: Recoding, target: Target, *, spark: Any = None) -> Staged:
        staged = recode_into(source, recoding, target, spark=spark)
        path: Path = staged.path  # type: ignore[attr-defined]
        path.write_text("\n".join(tamper(path.read_text().splitlines())) + "\n")
        return staged

    monkeypatch.setattr(releasing, "recode_into", stage)
    asked = {"scope": scope, "limits": {"age": 2}, "k": 2}
    error = refused(many(tmp_path), "sex", "cause", "age", **asked)
    assert (error.code, error.exit_code) == ("refused", 4)


def test_nothing_that_is_read_is_overwritten(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    (tmp_path / "sex.csv").write_text("m;*\nf;*\n")
    clinic.columns["patient"]["sex"]["hierarchy"] = str(tmp_path / "sex.csv")
    clinic.ask("sex")
    request = tmp_path / "request.yaml"
    request.write_text("project: [age]\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "survival.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    names = ("patient.csv", "log.jsonl", "log.jsonl.head", "sex.csv", "request.yaml", "link.csv")
    for written, name in itertools.product(("output", "report", "further"), names):
        path = tmp_path / name
        given: dict[str, Any] = {"output": tmp_path / "other.csv"}
        given[written] = {"result": path} if written == "further" else path
        with pytest.raises(ShoalError) as refusal:
            marts.request(clinic.catalog, request, **given)
        assert refusal.value.code == "would-overwrite", (written, name)
    for path, content in before.items():
        assert path.read_bytes().startswith(content) or path.name == "log.jsonl.head"
