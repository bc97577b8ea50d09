"""What a release is still good for: found again in its source, measured, printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from adapters import Defined, InDatabase, InFile, InSpark
from shoal.cli.app import app
from shoal.errors import BadData, BadOutput, UserError

PATIENTS = pa.table(
    {
        "sex": pa.array(["f", "m", None, "f "] * 30),
        "age": pa.array([None if i % 17 == 0 else 20 + i * 7 % 40 for i in range(120)]),
        "illness": pa.array(["flu", "Flu", "cancer", "", "NA", "gout"] * 20),
        "ward": pa.array([i % 3 for i in range(120)]),
        "name": pa.array([f"nobody {i % 70}" for i in range(120)]),
    }
)
DEFINITION: dict[str, Any] = {
    "k": 4,
    "suppression": "10%",
    "missing": {"match": "extended", "values": ["NA"]},
    "attributes": {
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20, 40]}},
        "illness": {"role": "sensitive", "diversity": {"distinct": 2}},
        "ward": "keep",
        "name": "identifier",
    },
}
VARIANTS: dict[str, dict[str, Any]] = {
    "extended": {},
    "basic": {"missing": {"match": "basic", "values": ["NA"]}},
    "marked": {"suppressed": "mark"},
    "entropy": {"loss": "entropy", "k": 3},
    "persons": {"person": "name"},
    "classes": {"loss": "discernibility"},
    "raised": {"engine": {"tuples": 100}},
}


@pytest.fixture(params=["parquet", "sqlite", "postgres", "mariadb", "spark"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Defined:
    """A source and an output of each kind."""
    if request.param == "parquet":
        return InFile(tmp_path, ".parquet")
    if request.param == "spark":
        return InSpark(tmp_path, request.getfixturevalue("spark_session"))
    return InDatabase(request.getfixturevalue(f"{request.param}_url"))


def measured(place: Defined, definition: Mapping[str, Any]) -> shoal.UtilityReport:
    session = place.session if isinstance(place, InSpark) else None
    places = {"source": place.source, "output": place.output}
    return shoal.utility({**places, **definition}, spark=session)


@pytest.mark.slow
def test_every_engine_measures_the_same(place: Defined, tmp_path: Path) -> None:
    place.load(PATIENTS)
    (tmp_path / "other").mkdir()
    reference = InFile(tmp_path / "other", ".csv")
    reference.load(PATIENTS)
    result = place.release(DEFINITION)
    reference.release(DEFINITION)
    found, expected = (measured(each, DEFINITION).to_dict() for each in (place, reference))
    assert found["levels"] == dict(result.levels)
    assert found["losses"]["iyengar"]["loss"] == pytest.approx(result.loss)
    for key in ("source", "release"):
        assert found.pop(key) != expected.pop(key)
    assert sorted_labels(found) == sorted_labels(expected)


@pytest.mark.slow
def test_every_engine_measures_the_same_risk(place: Defined, tmp_path: Path) -> None:
    """With persons, sensitive values and warnings, before and after."""
    definition = {**DEFINITION, "person": "name"}
    place.load(PATIENTS)
    (tmp_path / "other").mkdir()
    reference = InFile(tmp_path / "other", ".csv")
    reference.load(PATIENTS)
    found = []
    for each in (place, reference):
        each.release(definition)
        session = each.session if isinstance(each, InSpark) else None
        places = {"source": each.source, "output": each.output}
        report = shoal.risk({**places, **definition}, spark=session).to_dict()
        assert report["after"]["persons"] is not None
        assert report["after"]["sensitive"]
        found.append(json.dumps({key: report[key] | {"name": ""} for key in report}))
    assert found[0] == found[1]


def sorted_labels(report: dict[str, Any]) -> str:
    """The report as text, labels in an order that does not depend on the engine."""
    for each in report["distributions"]:
        each["labels"].sort(key=lambda one: str(one["label"]))
    return json.dumps(
        json.loads(json.dumps(report), parse_float=lambda text: float(f"{float(text):.9g}"))
    )


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_release_is_found_again_with_its_loss(variant: str, tmp_path: Path) -> None:
    place = InFile(tmp_path, ".csv")
    place.load(PATIENTS)
    definition = {**DEFINITION, **VARIANTS[variant]}
    result = place.release(definition)
    found = measured(place, definition)
    assert dict(found.levels) == dict(result.levels)
    assert found.suppressed == result.suppressed
    losses = {each.name: each.loss for each in found.losses}
    assert losses[result.loss_model] == pytest.approx(result.loss)
    assert {"iyengar", "precision", "entropy", "weighted", "discernibility"} <= set(losses)
    ward = next(each for each in found.distributions if each.column == "ward")
    assert sum(ward.befores) == pytest.approx(120 - result.removed)
    if variant == "marked":
        assert ward.distance == 0, "marked records keep what is not generalized"
    columns = {each.column for each in found.distributions}
    assert columns == {"sex", "age", "illness", "ward"}
    if variant == "raised":
        assert [each.columns for each in found.dependences] == [("sex", "age")]
        return
    assert {each.columns for each in found.dependences} == {
        ("sex", "age"),
        ("sex", "illness"),
        ("age", "illness"),
        ("sex", "ward"),
        ("age", "ward"),
    }


@pytest.mark.slow
def test_a_node_that_a_demand_of_the_command_chose_is_found_too(tmp_path: Path) -> None:
    place = InFile(tmp_path, ".csv")
    place.load(PATIENTS)
    harder = place.release({**DEFINITION, "k": 9})
    found = measured(place, DEFINITION)
    assert dict(found.levels) == dict(harder.levels)
    assert found.suppressed == harder.suppressed


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    lines = ["zip,sex,ill,name"]
    for i in range(60):
        lines.append(f"{10 + i % 7},{'fm'[i % 2]},{'abc'[i % 3]},Ann {'ABCDEFGHIJ'[i % 10]}")
    lines.append("99,f,zzz,Zoe")
    (tmp_path / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    path = tmp_path / "it.yaml"
    path.write_text(
        "source: data.csv\noutput: out.csv\nk: 4\nsuppression: 20%\n"
        "attributes:\n  zip: {role: quasi-identifier, hierarchy: {mask: 2}, limit: 1}\n"
        "  sex: {role: quasi-identifier, hierarchy: sex.csv}\n  ill: keep\n  name: identifier\n",
        encoding="utf-8",
    )
    return path


def test_without_a_release_the_error_says_what_to_do(definition: Path) -> None:
    with pytest.raises(BadData, match=f"shoal run {definition}") as caught:
        shoal.utility(definition)
    assert caught.value.code == "no-release"
    text = definition.read_text(encoding="utf-8").replace("output: out.csv\n", "")
    definition.write_text(text, encoding="utf-8")
    with pytest.raises(BadData, match="names no output"):
        shoal.utility(definition)


def change_data(folder: Path) -> None:
    data = folder / "data.csv"
    data.write_text(data.read_text(encoding="utf-8") + "\n10,f,a,Ann A" * 3, encoding="utf-8")


def change_release(folder: Path) -> None:
    out = folder / "out.csv"
    out.write_text(out.read_text(encoding="utf-8") + "nowhere,f,a\n", encoding="utf-8")


def drop_a_record(folder: Path) -> None:
    out = folder / "out.csv"
    out.write_text("".join(out.read_text(encoding="utf-8").splitlines(True)[:-1]), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("change", [change_data, change_release, drop_a_record])
def test_a_release_of_other_data_is_an_error(
    definition: Path, change: Callable[[Path], None]
) -> None:
    shoal.run(definition)
    shoal.utility(definition)
    change(definition.parent)
    with pytest.raises(BadData, match="run it again") as caught:
        shoal.utility(definition)
    assert caught.value.code == "other-release"


def test_a_release_without_a_column_is_one_clear_error(definition: Path) -> None:
    (definition.parent / "out.csv").write_text("zip\n1\n", encoding="utf-8")
    with pytest.raises(UserError, match="sex"):
        shoal.utility(definition)


@pytest.mark.slow
def test_the_command_prints_and_writes_what_it_measured(definition: Path, tmp_path: Path) -> None:
    result = shoal.run(definition)
    assert result.suppressed > 0
    written = tmp_path / "utility.json"
    done = CliRunner().invoke(app, ["utility", str(definition), "--json", str(written)])
    assert done.exit_code == 0
    assert "What each column lost" in done.output
    saved = json.loads(written.read_text(encoding="utf-8"))
    assert {"records", "suppressed", "levels", "losses", "quality", "distributions"} <= set(saved)
    assert saved["losses"]["iyengar"]["loss"] == pytest.approx(result.loss)
    for text in (done.output, written.read_text(encoding="utf-8")):
        assert "zzz" not in text
        assert "Ann" not in text
        assert '"99"' not in text
    piped = CliRunner().invoke(app, ["utility", str(definition), "--json", "-"])
    assert json.loads(piped.output) == saved


@pytest.mark.parametrize("name", ["data.csv", "it.yaml", "out.csv", "sex.csv", "link"])
def test_the_json_overwrites_nothing_that_is_read(definition: Path, name: str) -> None:
    shoal.run(definition)
    path = definition.parent / name
    if name == "link":
        path.symlink_to(definition.parent / "data.csv")
    before = path.read_bytes()
    done = CliRunner().invoke(app, ["utility", str(definition), "--json", str(path)])
    assert isinstance(done.exception, BadOutput)
    assert done.exception.code == "would-overwrite"
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_report_is_text_a_card_and_a_frame(definition: Path) -> None:
    shoal.run(definition)
    report = shoal.utility(definition)
    assert "records are released" in str(report)
    assert "What each column lost" in report._repr_html_()
    frame = report.to_pandas()
    assert list(frame["column"]) == ["zip", "sex", "ill"]
    drawn = report.plot().svg
    assert drawn.startswith("<svg")
    assert "zzz" not in drawn


def test_columns_of_many_values_are_left_out_and_named(tmp_path: Path) -> None:
    rows = "".join(f"{'fm'[i % 2]},note {i}\n" for i in range(1200))
    (tmp_path / "in.csv").write_text(f"sex,note\n{rows}", encoding="utf-8")
    definition = {
        "source": str(tmp_path / "in.csv"),
        "output": str(tmp_path / "out.csv"),
        "k": 2,
        "attributes": {
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "note": "keep",
        },
    }
    shoal.run(definition)
    report = shoal.utility(definition)
    assert report.left_out == {"note": "it has more than 1,000 values"}
    assert "note 7" not in json.dumps(report.to_dict())
