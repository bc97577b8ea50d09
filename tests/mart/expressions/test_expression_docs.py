"""The page on expressions: every example has the result it states, every function is explained."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
import yaml

from mart.expressions.deriving import values
from shoal.errors import BadData
from shoal.mart.expressions.functions import FUNCTIONS
from shoal.mart.read import catalog_from_mapping

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "mart-expressions.md"
MAPS = {"icd": {"heart attack": "I219", "traffic accident": "V849"}}


def blocks(language: str) -> list[str]:
    page = PAGE.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str]]:
    lines = [line for block in blocks("text") for line in block.splitlines()]
    return [(text, result) for text, _, result in (line.partition(" => ") for line in lines)]


@pytest.mark.slow
def test_every_example_of_the_page_has_the_result_it_states() -> None:
    with duckdb.connect() as connection:
        for text, expected in examples():
            if expected.startswith("error "):
                with pytest.raises(BadData) as raised:
                    values(connection, text, "(SELECT 1 AS x)", MAPS)
                assert f"error {raised.value.code}" == expected, text
            else:
                found = values(connection, f"text({text})", "(SELECT 1 AS x)", MAPS)
                assert found == [None if expected == "missing" else expected], text


def test_every_function_has_an_example_and_a_line_in_the_table() -> None:
    text = PAGE.read_text("utf-8")
    shown = " ".join(example for example, _ in examples())
    for name in FUNCTIONS:
        assert re.search(rf"\b{name}\(", shown), name
        assert re.search(rf"^\|.*`{name}\(.*\|.*\|$", text, re.MULTILINE), name


def test_the_catalog_of_the_page_is_valid(tmp_path: Path) -> None:
    (block,) = re.findall(
        r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    data = yaml.load(block, yaml.BaseLoader)
    data["sources"]["survival"] = {"source": "survival.csv", "columns": {}}
    link = {"between": {"findings": "PatId", "survival": "PatId"}, "kind": "many-to-one"}
    person = {"source": "survival", "columns": ["PatId"]}
    whole = {"mart": "clinic", "log": "log.jsonl", "person": person, "links": [link], **data}
    catalog = catalog_from_mapping(whole, tmp_path)
    assert list(catalog.sources["findings"].columns) == [
        "survival",
        "bmi",
        "year",
        "icd",
    ]
