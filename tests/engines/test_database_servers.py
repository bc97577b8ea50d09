"""The databases of the tests themselves."""

from __future__ import annotations

import pyarrow as pa
import pytest

from servers import load, rows_of


@pytest.mark.parametrize("kind", ["postgres", "mariadb", "sqlite"])
def test_a_loaded_table_has_its_rows(kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{kind}_url")
    load(url, "a b", pa.table({"x y": [1, None], "%": ["ä ", None]}))
    assert rows_of(url, "a b") == [(1, "ä "), (None, None)]
