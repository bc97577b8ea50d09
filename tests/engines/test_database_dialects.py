"""What differs between databases is in their dialects, and nowhere else."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from servers import load, rows_of
from shoal.engines import database
from shoal.engines.base import Generalization
from shoal.engines.database.dialects import DIALECTS
from shoal.engines.options import DatabaseOptions

PACKAGE = Path(str(database.__file__)).parent
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "databases.md"
PEOPLE = pa.table(
    {
        "zip": [f"1011{i % 5}" for i in range(40)],
        "born": pa.array([7000 + i % 3 for i in range(40)], pa.date32()),
        "ward": [i % 2 for i in range(40)],
    }
)


@pytest.fixture
def mysql_url(mariadb_url: str) -> str:
    """MariaDB, reached with the dialect of MySQL, which shares its protocol."""
    return mariadb_url.replace("mariadb://", "mysql://")


def test_no_file_but_the_dialects_names_a_database() -> None:
    names = {name for dialect in DIALECTS.values() for name in (dialect.name, *dialect.schemes)}
    for path in PACKAGE.glob("*.py"):
        constants = (node for node in ast.walk(ast.parse(path.read_text())))
        texts = {node.value for node in constants if isinstance(node, ast.Constant)}
        assert not texts & names, path


def test_the_guide_has_a_row_for_every_database() -> None:
    guide = GUIDE.read_text()
    for dialect in DIALECTS.values():
        assert f"| {dialect.title} | `{dialect.name}://" in guide.replace("sqlite:///", "sqlite://")


def test_the_dialect_of_mysql_releases_what_that_of_mariadb_does(
    mysql_url: str, mariadb_url: str
) -> None:
    load(mariadb_url, "people", PEOPLE)
    released = []
    for url in (mysql_url, mariadb_url):
        result = shoal.run(
            {
                "source": {"url": url, "table": "people"},
                "output": {"url": url, "table": "released", "replace": True},
                "k": 4,
                "attributes": {
                    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
                    "born": {"role": "quasi-identifier", "hierarchy": {"date": ["month", "year"]}},
                    "ward": "keep",
                },
            }
        )
        assert result.verified
        released.append(Counter(rows_of(url, "released")))
    assert released[0] == released[1]
    assert released[0].total() == 40


def test_the_dialect_of_mysql_stops_at_a_value_that_was_not_counted(mysql_url: str) -> None:
    load(mysql_url, "people", PEOPLE)
    labels = {"zip": Generalization(("10110",), ("*",))}
    source = database.open_table(DatabaseOptions(mysql_url, "people"))
    with source, pytest.raises(shoal.ShoalError) as caught:
        source.count_by(["zip"], generalized=labels)
    assert caught.value.code == "source-changed"


@pytest.mark.parametrize("kind", ["postgres", "mariadb", "sqlite"])
@pytest.mark.parametrize("length", [1600, 3000, 3001])
def test_texts_as_long_as_an_index_can_hold_have_labels(
    kind: str, length: int, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(f"{kind}_url")
    texts = tuple(f"{i:02}" + "x" * (length - 2) for i in range(20))
    load(url, "long", pa.table({"text": [*texts, *texts]}))
    labels = {"text": Generalization(texts, ("*",) * 20)}
    with database.open_table(DatabaseOptions(url, "long")) as source:
        assert source.count_by(["text"], generalized=labels).to_pylist() == [
            {"text": "*", "#records": 40}
        ]
