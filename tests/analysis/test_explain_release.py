"""`shoal explain`: of a definition, of a result, of a demand that nothing meets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from analysis.zips import call, write_zips
from shoal.errors import BadData, BadOutput, UserError
from shoal.report.result import to_json


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    rare = (*(f"{100 + i},{20 + i},x,Bob {i}" for i in range(9)), "QXQ,97,m,Zoe", "QYQ,23,f,Zed")
    return write_zips(tmp_path, records=240, more=rare)


def changed(path: Path, old: str, new: str) -> Path:
    """The definition with one text in place of another."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_it_explains_what_a_run_releases(definition: Path) -> None:
    result = shoal.run(definition)
    found = shoal.explain(definition)
    assert found.levels == result.levels
    assert found.loss == pytest.approx(result.loss)
    assert found.suppressed == result.suppressed > 0
    assert sum(each.share or 0 for each in found.columns) == pytest.approx(1)
    assert {each.column: each.loss for each in found.columns} == pytest.approx(
        {name: each.loss for name, each in result.treatments.items()}
    )
    assert found.demands[0].records == result.suppressed


def test_a_column_that_is_no_quasi_identifier_gains_what_a_run_without_it_does(
    definition: Path,
) -> None:
    found = {each.column: each.without for each in shoal.explain(definition).columns}
    changed(definition, "sex: {role: quasi-identifier, hierarchy: suppress}", "sex: keep")
    rest = shoal.run(definition)
    assert found["sex"] is not None
    assert found["sex"].others_best == pytest.approx(rest.loss)
    assert found["sex"].levels == rest.levels
    assert found["sex"].proved


def test_no_value_of_few_is_printed_or_written(definition: Path, tmp_path: Path) -> None:
    done = call("explain", definition, "--json", tmp_path / "why.json")
    assert done.exit_code == 0
    assert "What each column costs" in done.output
    saved = (tmp_path / "why.json").read_text(encoding="utf-8")
    for text in (done.output, saved):
        assert not [word for word in ("QX", "QY", "[95,100)", "Ann", "Zoe") if word in text]
    for each in json.loads(saved)["labels"]:
        assert each["suppressed"] >= 5
    assert json.loads(call("explain", definition, "--json", "-").output) == json.loads(saved)


@pytest.mark.slow
def test_what_stands_in_the_way_is_the_answer_where_nothing_is_safe(definition: Path) -> None:
    changed(definition, "suppression: 10%", "suppression: 0")
    changed(definition, "{mask: 3}}", "{mask: 3}, limit: 0}")
    found = shoal.explain(definition)
    assert found.levels is None
    assert "let zip be no quasi-identifier" in found.remedies
    assert "let sex be no quasi-identifier" not in found.remedies
    done = call("explain", definition)
    assert done.exit_code == 0
    assert "What stands in the way" in done.output
    assert "raise the limit of zip" in done.output
    changed(
        definition, "zip: {role: quasi-identifier, hierarchy: {mask: 3}, limit: 0}", "zip: drop"
    )
    assert shoal.run(definition).verified


@pytest.mark.parametrize("loss", ["discernibility", "class-size", "weighted", "entropy"])
def test_every_loss_is_explained(definition: Path, loss: str) -> None:
    changed(definition, "k: 5", f"k: 5\nloss: {loss}")
    result = shoal.run(definition)
    found = shoal.explain(definition)
    assert found.loss == pytest.approx(result.loss)
    assert (found.columns[0].share is None) == (loss in ("discernibility", "class-size"))
    said = shoal.explain(result)
    assert said.loss == pytest.approx(result.loss)
    assert [each.share for each in said.columns] == pytest.approx(
        [each.share for each in found.columns]
    )


@pytest.mark.slow
def test_a_result_is_explained_without_its_data(definition: Path, tmp_path: Path) -> None:
    result = shoal.run(definition)
    path = tmp_path / "result.json"
    path.write_text(to_json(result), encoding="utf-8")
    (tmp_path / "data.csv").unlink()
    done = call("explain", path)
    assert done.exit_code == 0
    assert "that is proved" in done.output
    assert "k >= 5 was demanded" in done.output
    assert shoal.explain(path) == shoal.explain(result)
    before = path.read_bytes()
    refused = call("explain", path, "--json", path)
    assert isinstance(refused.exception, BadOutput)
    assert path.read_bytes() == before


def test_a_failed_run_is_explained_from_its_result(definition: Path, tmp_path: Path) -> None:
    changed(definition, "suppression: 10%", "suppression: 0")
    changed(definition, "{mask: 3}}", "{mask: 3}, limit: 0}")
    path = tmp_path / "result.json"
    assert call("run", definition, "--json", path).exception.code == "infeasible"
    found = shoal.explain(path)
    assert found.levels is None
    assert found.remedies


@pytest.mark.parametrize("key", ["treatments", "privacy", "records", "loss"])
def test_a_broken_result_is_one_clear_error(definition: Path, tmp_path: Path, key: str) -> None:
    saved = json.loads(to_json(shoal.run(definition)))
    path = tmp_path / "result.json"
    for broken in ({k: v for k, v in saved.items() if k != key}, {**saved, key: "x"}):
        path.write_text(json.dumps(broken), encoding="utf-8")
        with pytest.raises(BadData, match="no result of a run") as caught:
            shoal.explain(path)
        assert caught.value.code == "bad-result"


def test_a_file_that_is_neither_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    for text in ("{", "[]", '{"a": 1}'):
        path.write_text(text, encoding="utf-8")
        done = call("explain", path)
        assert isinstance(done.exception, UserError)
    assert isinstance(call("explain", tmp_path / "absent.yaml").exception, UserError)


def test_an_explanation_is_text_a_card_and_a_frame(definition: Path) -> None:
    found = shoal.explain(definition)
    assert "are suppressed" in str(found)
    assert "What each column costs" in found._repr_html_()
    assert list(found.to_pandas()["column"]) == ["zip", "age", "sex"]
    assert "Part of the loss" in found.plot().svg
