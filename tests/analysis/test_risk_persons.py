"""Risk by persons, sensitive values that classes disclose, and warnings; against plain Python."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.analysis.attribute_disclosure import AttributeDisclosure
from shoal.cli.app import app
from shoal.errors import BadDefinition, UserError

Row = tuple[str | None, ...]


def rows_of(seed: int) -> list[Row]:
    """Rows of quasi-identifiers p and q, a person and a sensitive value."""
    draw = random.Random(seed)
    values = [*"xxxxxxxyz", None]
    return [
        (
            draw.choice(["aa", "ab", "ba", None]),
            draw.choice(["1", "2"]),
            str(draw.randrange(25)),
            draw.choice(values),
        )
        for _ in range(draw.choice([20, 60, 150]))
    ]


def table_of(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            name: pa.array(column, pa.string())
            for name, column in zip("pqis", zip(*rows, strict=True), strict=True)
        }
    )


def disclosed(rows: list[tuple[Row, str | None]]) -> tuple[int, ...]:
    """Classes and records with a value, those with one value, and the skewed ones."""
    classes: dict[Row, Counter[str]] = defaultdict(Counter)
    everywhere: Counter[str] = Counter()
    for key, value in rows:
        if value is not None:
            classes[key][value] += 1
            everywhere[value] += 1
    one, skewed = [], []
    for counts in classes.values():
        size, (value, most) = sum(counts.values()), max(counts.items(), key=lambda item: item[1])
        if len(counts) == 1:
            one.append(size)
        elif most / size >= 0.8 and everywhere[value] / sum(everywhere.values()) < 0.8:
            skewed.append(size)
    records = sum(everywhere.values())
    return len(classes), records, len(one), sum(one), len(skewed), sum(skewed)


def numbers(found: AttributeDisclosure) -> tuple[int, ...]:
    return (
        found.classes,
        found.records,
        found.homogeneous_classes,
        found.homogeneous_records,
        found.skewed_classes,
        found.skewed_records,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_disclosing_classes_are_those_of_the_definition(seed: int) -> None:
    rows = rows_of(seed)
    found = shoal.risk(table_of(rows), ["p", "q"], sensitive="s").before
    assert numbers(found.sensitive[0]) == disclosed([(row[:2], row[3]) for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_the_risk_by_persons_is_counted_by_hand(seed: int) -> None:
    rows = rows_of(seed)
    found = shoal.risk(table_of(rows), ["p", "q"], person="i", threshold=0.2).before.persons
    persons, records = defaultdict(set), Counter(row[:2] for row in rows)
    for row in rows:
        persons[row[:2]].add(row[2])
    sizes = {key: len(each) for key, each in persons.items()}
    assert found is not None
    assert found.persons == len({row[2] for row in rows})
    assert found.smallest_class == min(sizes.values())
    assert found.highest == 1 / min(sizes.values())
    assert found.average == pytest.approx(len(sizes) / sum(sizes.values()))
    above = sum(records[key] for key, size in sizes.items() if size < 5)
    assert found.records_above == pytest.approx(above / len(rows))
    assert found.alone == len({p for each in persons.values() if len(each) == 1 for p in each})


@pytest.fixture(params=["csv", "sqlite"])
def definition(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A definition with persons, a sensitive and a kept column that warns, not yet run."""
    rows = [(*row, f"note {i}") for i, row in enumerate(rows_of(2))]
    source, output = "source: data.csv", "output: out.csv"
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'it.db'}"
        source, output = (
            f"{key}: {{url: '{url}', table: {table}}}"
            for key, table in (("source", "data"), ("output", "released"))
        )
        with sqlite3.connect(tmp_path / "it.db") as made:
            made.execute("CREATE TABLE data (p TEXT, q TEXT, i TEXT, s TEXT, note TEXT)")
            made.executemany("INSERT INTO data VALUES (?, ?, ?, ?, ?)", rows)
    else:
        with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("p", "q", "i", "s", "note"), *rows])
    path = tmp_path / "it.yaml"
    path.write_text(
        f"{source}\n{output}\nk: 4\nsuppression: 30%\nperson: i\nattributes:\n"
        "  p: {role: quasi-identifier, hierarchy: {mask: 2}}\n"
        "  q: {role: quasi-identifier, hierarchy: suppress}\n"
        "  i: identifier\n  s: {role: sensitive, diversity: {distinct: 2}}\n  note: keep\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.slow
def test_a_release_has_the_persons_and_the_warnings_of_its_run(definition: Path) -> None:
    before = shoal.risk(definition)
    assert before.after is None
    assert [each.code for each in before.before.warnings or ()] == ["kept-unique"]
    result = shoal.run(definition)
    after = shoal.risk(definition).after
    assert after is not None
    assert after.persons is not None
    assert after.persons.smallest_class == result.smallest_class_persons
    assert after.persons.highest == 1 / after.persons.smallest_class
    assert after.warnings == result.warnings
    assert after.sensitive[0].homogeneous_classes == 0
    assert after.sensitive[0].classes == result.classes


@pytest.mark.slow
def test_a_release_of_other_data_is_measured_without_persons(definition: Path) -> None:
    shoal.run(definition)
    data = definition.parent / "data.csv"
    if not data.exists():
        with sqlite3.connect(definition.parent / "it.db") as made:
            made.execute("DELETE FROM data WHERE p = 'aa'")
    else:
        lines = data.read_text(encoding="utf-8").splitlines()
        data.write_text("\n".join(x for x in lines if not x.startswith("aa")), encoding="utf-8")
    found = shoal.risk(definition)
    assert found.after is not None
    assert found.after.warnings is None
    assert "not one of this source" in str(found)


@pytest.mark.slow
def test_the_command_prints_and_writes_persons_and_disclosure(definition: Path) -> None:
    shoal.run(definition)
    path = definition.parent / "risk.json"
    done = CliRunner().invoke(app, ["risk", str(definition), "--json", str(path)])
    assert done.exit_code == 0
    for part in ("persons alone in a class", "sensitive attributes", "kept-unique"):
        assert part in done.output
    assert "note 1" not in done.output
    found = json.loads(path.read_text(encoding="utf-8"))["after"]
    assert found["persons"]["columns"] == ["i"]
    assert found["sensitive"][0]["attribute"] == "s"
    assert found["warnings"][0]["attribute"] == "note"


@pytest.mark.slow
def test_a_report_has_a_card_a_data_frame_and_a_picture(definition: Path) -> None:
    shoal.run(definition)
    found = shoal.risk(definition)
    assert "by persons: highest risk" in found._repr_html_()
    frame = found.to_pandas().set_index("measure")
    assert frame.loc["records", "before"] == found.before.records
    assert list(frame.columns) == ["before", "after"]
    svg = found.plot()._repr_svg_()
    assert svg.startswith("<svg xmlns=")
    assert "highest risk of a person" in svg
    assert "var(" not in svg
    assert "measured" in shoal.risk(table_of(rows_of(1)), ["p"]).plot().svg


@pytest.mark.parametrize(
    ("options", "said"),
    [({"sensitive": "p"}, "quasi-identifier"), ({"sensitive": "z"}, "z"), ({"person": "z"}, "z")],
)
def test_a_wrong_column_is_one_clear_error(options: dict[str, Any], said: str) -> None:
    with pytest.raises((UserError, BadDefinition), match=said):
        shoal.risk(table_of(rows_of(1)), ["p", "q"], **options)


def test_a_definition_says_its_persons_itself(definition: Path) -> None:
    done = CliRunner().invoke(app, ["risk", str(definition), "--person", "i"])
    assert done.exit_code == 2
