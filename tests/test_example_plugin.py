"""A privacy model and a loss of another distribution, from the definition to the report."""

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
        ({"l": 2, "attribute": "zip"}, "its attribute is the one it stands at"),
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


def test_a_model_that_looks_at_an_attribute_cannot_stand_at_the_top(
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


def test_the_tests_of_the_package_itself_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
