"""A part of every kind from another distribution, from the definition to the report."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "shoal-example-plugin"


@pytest.fixture
def definition(tmp_path: Path) -> dict[str, Any]:
    """Some people whose diagnoses are mostly the same."""
    draw = random.Random(5)
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "zip", "diagnosis"])
        for _ in range(120):
            diagnosis = draw.choices(["flu", "cold", "cough", ""], [6, 2, 1, 1])[0]
            writer.writerow([draw.randrange(20, 40), draw.randrange(10, 40), diagnosis])
    return {
        "source": str(tmp_path / "people.csv"),
        "output": str(tmp_path / "release.csv"),
        "k": 2,
        "suppression": "20%",
        "loss": {"name": "steep", "parameters": {"power": 3}},
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 2}},
            "diagnosis": {"role": "sensitive", "privacy": {"simpson-diversity": {"l": 1.8}}},
        },
    }


def classes_of(path: Path) -> dict[tuple[str, str], Counter[str]]:
    """The diagnoses of each class of a release."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["age"], row["zip"]][row["diagnosis"]] += 1
    return found


def effective(diagnoses: Counter[str]) -> float:
    counts = [count for diagnosis, count in diagnoses.items() if diagnosis]
    return sum(counts) ** 2 / sum(count**2 for count in counts)


@pytest.mark.slow
def test_a_run_meets_the_demand_of_the_plug_in(definition: dict[str, Any], tmp_path: Path) -> None:
    result = shoal.run(definition)
    reached = [effective(diagnoses) for diagnoses in classes_of(tmp_path / "release.csv").values()]
    assert min(reached) >= 1.8
    assert result.verified
    assert result.status == "optimal"
    demand = result.privacy[-1]
    assert (demand.model, demand.attribute) == ("simpson-diversity", "diagnosis")
    assert demand.reached == pytest.approx(min(reached))
    del definition["attributes"]["diagnosis"]["privacy"]
    definition["attributes"]["diagnosis"]["role"] = "keep"
    assert shoal.run(definition).loss < result.loss


def test_a_run_minimises_the_loss_of_the_plug_in(definition: dict[str, Any]) -> None:
    result = shoal.run(definition)
    share = result.suppressed / result.records
    heights = {"age": 3, "zip": 2}
    losses = [
        (1 - share) * (level / heights[name]) ** 3 + share for name, level in result.levels.items()
    ]
    assert result.loss_model == "steep"
    assert result.loss == pytest.approx(sum(losses) / 2)


@pytest.fixture
def of_every_kind(definition: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """The same people in stanzas, with a city, and a part of every kind in the definition."""
    with (tmp_path / "people.csv").open(newline="", encoding="utf-8") as file:
        people = list(csv.DictReader(file))
    cities = ["Oslo", "Oslofjord", "Turku", "Tampere", "Rome"]
    with (tmp_path / "people.stanzas").open("w", encoding="utf-8") as file:
        for number, person in enumerate(people):
            person["city"] = cities[number % len(cities)]
            file.writelines(f"{name}: {value}\n" for name, value in person.items())
            file.write("\n")
    definition["attributes"]["city"] = {
        "role": "quasi-identifier",
        "hierarchy": {"initials": {"letters": 2}},
    }
    return {
        **definition,
        "source": str(tmp_path / "people.stanzas"),
        "output": str(tmp_path / "release.stanzas"),
        "search": {"strategy": "sampled", "parameters": {"nodes": 40}},
        "suppression": "40%",
    }


@pytest.mark.slow
def test_a_definition_uses_a_part_of_every_kind(
    of_every_kind: dict[str, Any], tmp_path: Path
) -> None:
    result = shoal.run(of_every_kind)
    assert result.verified
    assert result.status == "feasible"
    assert (result.strategy, result.loss_model) == ("sampled", "steep")
    assert result.privacy[-1].model == "simpson-diversity"
    text = (tmp_path / "release.stanzas").read_text(encoding="utf-8")
    records = [record for record in text.split("\n\n") if record]
    assert len(records) == 120 - result.suppressed
    if result.levels["city"] == 1:
        assert "city: Os..." in text
    assert shoal.verify(tmp_path / "release.stanzas", of_every_kind).safe
    broken = text.replace("city: ", "city: !", 1)
    (tmp_path / "release.stanzas").write_text(broken, encoding="utf-8")
    names = {
        each.name for each in shoal.verify(tmp_path / "release.stanzas", of_every_kind).failures
    }
    assert "level of city" in names


@pytest.mark.slow
def test_the_levels_of_a_builder_are_released_and_judged(
    of_every_kind: dict[str, Any], tmp_path: Path
) -> None:
    city = of_every_kind["attributes"]["city"]
    for level, label in ((1, "Os..."), (2, "O..."), (3, "*")):
        city |= {"from": level, "limit": level}
        assert shoal.run(of_every_kind).levels["city"] == level
        text = (tmp_path / "release.stanzas").read_text(encoding="utf-8")
        assert f"city: {label}\n" in text
    (tmp_path / "people.stanzas").unlink()
    verdict = shoal.verify(tmp_path / "release.stanzas", of_every_kind)
    assert [each.saw for each in verdict.failures if each.name == "level of city"] == [
        "not judged: what the builder 'initials' makes of the values needs the source"
    ]


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [
        ({"initals": {}}, "did you mean 'initials'"),
        ({"initials": {"letters": 0}}, "letters must be at least 1"),
        ({"initials": {"leters": 2}}, "unknown are 'leters'"),
        ({"builder": "nobody"}, "no builder part called 'nobody'"),
    ],
)
def test_a_wrong_builder_is_a_mistake_at_its_key(
    definition: dict[str, Any], hierarchy: dict[str, Any], words: str
) -> None:
    definition["attributes"]["zip"]["hierarchy"] = hierarchy
    with pytest.raises(shoal.BadDefinition, match=words) as caught:
        shoal.run(definition)
    assert caught.value.mistakes[0].key == "attributes.zip.hierarchy"


def test_a_definition_of_every_kind_is_the_same_in_yaml_and_xml(
    of_every_kind: dict[str, Any], tmp_path: Path
) -> None:
    from shoal.definition.read import from_mapping, read
    from shoal.definition.write import to_yaml
    from shoal.definition.xml_write import to_xml

    definition = from_mapping(of_every_kind)
    for name, text in {"d.yaml": to_yaml(definition), "d.xml": to_xml(definition)}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert read(tmp_path / name) == definition


def test_the_list_of_plug_ins_has_one_of_each_kind_and_who_brought_it() -> None:
    done = CliRunner().invoke(app, ["plugins", "--json"])
    rows = [row for row in json.loads(done.output) if row["distribution"] == EXAMPLE.name]
    kinds = ["privacy", "loss", "strategy", "builder", "reader", "writer"]
    assert [row["kind"] for row in rows] == kinds
    assert all(row["summary"] and row["problem"] is None for row in rows)


def test_the_result_and_the_report_name_the_plug_in(
    definition: dict[str, Any], tmp_path: Path
) -> None:
    file, result, report = (tmp_path / name for name in ("d.json", "result.json", "report.html"))
    file.write_text(json.dumps(definition), encoding="utf-8")
    done = CliRunner().invoke(
        app, ["run", str(file), "--quiet", "--json", str(result), "--report", str(report)]
    )
    assert done.exit_code == 0, done.output
    told = json.loads(result.read_text(encoding="utf-8"))
    assert told["loss_model"] == "steep"
    assert told["privacy"][-1]["demanded"] == "Simpson l >= 1.8"
    page = report.read_text(encoding="utf-8")
    assert "simpson-diversity" in page
    assert "steep" in page


@pytest.mark.slow
def test_the_verifier_refuses_a_release_that_fails_the_plug_in(
    definition: dict[str, Any], tmp_path: Path
) -> None:
    shoal.run(definition)
    release = tmp_path / "release.csv"
    assert shoal.verify(release, definition).safe
    text = release.read_text(encoding="utf-8")
    release.write_text(text.replace(",cold", ",flu").replace(",cough", ",flu"), encoding="utf-8")
    verdict = shoal.verify(release, definition)
    (failure,) = verdict.failures
    assert "simpson-diversity" in failure.name


def test_an_unknown_model_or_loss_is_refused_with_a_suggestion(definition: dict[str, Any]) -> None:
    definition["loss"] = "steap"
    definition["attributes"]["diagnosis"]["privacy"] = {"simpson-diversty": {"l": 2}}
    with pytest.raises(shoal.BadDefinition) as caught:
        shoal.run(definition)
    loss, model = sorted(caught.value.mistakes, key=lambda mistake: mistake.key, reverse=True)
    assert "steep" in str(loss)
    assert "did you mean 'simpson-diversity'" in str(model)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"l": 1}, "l must be above 1"),
        ({"l": 2, "size": 2}, "takes 'l'; unknown are 'size'"),
        ({}, "takes 'l'; missing are 'l'"),
        ({"l": "two"}, "cannot use its parameters as they are"),
        ({"l": 2, "attribute": "zip"}, "its attribute is the one it is demanded of"),
    ],
)
def test_wrong_parameters_of_a_model_are_a_mistake_at_their_key(
    definition: dict[str, Any], parameters: dict[str, Any], words: str
) -> None:
    definition["attributes"]["diagnosis"]["privacy"] = {"simpson-diversity": parameters}
    with pytest.raises(shoal.BadDefinition) as caught:
        shoal.run(definition)
    (mistake,) = caught.value.mistakes
    assert mistake.key == "attributes.diagnosis.privacy.simpson-diversity"
    assert words in mistake.what


def test_a_model_of_an_attribute_is_not_allowed_at_the_top(
    definition: dict[str, Any],
) -> None:
    definition["privacy"] = {"simpson-diversity": {"l": 2}}
    with pytest.raises(shoal.BadDefinition, match="belongs under `privacy` of a sensitive"):
        shoal.run(definition)
    definition["privacy"] = {"k-anonymity": {"k": 3}}
    definition["attributes"]["diagnosis"]["privacy"] = {"k-anonymity": {"k": 3}}
    with pytest.raises(shoal.BadDefinition, match="of the top of the definition"):
        shoal.run(definition)


@pytest.mark.parametrize("parameters", [{"power": 0.5}, {"slope": 2}])
def test_wrong_parameters_of_a_loss_are_a_mistake(
    definition: dict[str, Any], parameters: dict[str, Any]
) -> None:
    definition["loss"] = {"name": "steep", "parameters": parameters}
    with pytest.raises(shoal.BadDefinition) as caught:
        shoal.run(definition)
    (mistake,) = caught.value.mistakes
    assert mistake.key == "loss.parameters"


@pytest.mark.slow
def test_the_tests_of_the_package_itself_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
