"""Linking: the rows of a plain join, with the person of each, on files and databases."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mart.linking.join_oracle import Tables
from mart.linking.stored_tables import Only, catalog_of, check, requests

FILES = ["csv", "parquet", "sqlite", "sqlite-other"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(case=requests(FILES), outer=st.booleans())
def test_linked_rows_are_those_of_a_plain_join(
    case: tuple[Tables, dict[str, str], list[str], Only], outer: bool
) -> None:
    given, kinds, used, only = case
    with TemporaryDirectory() as folder:
        catalog = catalog_of(Path(folder), given, kinds)
        check(given, catalog, used, only, outer=outer)
