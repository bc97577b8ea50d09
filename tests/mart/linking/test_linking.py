"""Linking: the rows of a plain join, with the person of each, on files and databases."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mart.linking.join_oracle import Tables
from mart.linking.stored_tables import Only, catalog_of, check, requests
from shoal.mart.linking import linked
from shoal.mart.read import catalog_from_mapping
from shoal.mart.sources import OpenSources

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


@pytest.mark.parametrize("rename", [{}, {"vector": "profile"}], ids=["as it is", "renamed"])
def test_vectors_and_hundreds_of_numbers_pass_unchanged(
    tmp_path: Path, rename: dict[str, str]
) -> None:
    """Also where the file is fetched, since its columns get other names."""
    (tmp_path / "patient.csv").write_text("id,sex\n1,f\n2,m\n")
    numbers = {f"g{i}": pa.array([i / 7, float(i)], pa.float32()) for i in range(300)}
    vectors = pa.array([[0.1, float("inf")], []], pa.list_(pa.float64()))
    profiles = pa.table({"of": pa.array([2, 1], pa.int16()), "vector": vectors, **numbers})
    pq.write_table(profiles, tmp_path / "genes.parquet")
    names = [rename.get(name, name) for name in profiles.column_names[1:]]
    genes = {
        "source": {"path": "genes.parquet", "rename": rename},
        "untransformed": "nobody knows a profile",
        "columns": dict.fromkeys(names, "keep"),
    }
    patient = {"source": "patient.csv", "columns": {"sex": "quasi-identifier"}}
    mapping = {
        "mart": "wide",
        "log": "log",
        "person": {"source": "patient", "columns": ["id"]},
        "sources": {"patient": patient, "genes": genes},
        "links": [{"between": {"patient": "id", "genes": "of"}, "kind": "one-to-one"}],
    }
    catalog = catalog_from_mapping(mapping, tmp_path)
    columns = {ref.column: ref for ref in catalog.columns}
    with OpenSources(catalog) as sources, linked(sources, columns, {}) as table:
        found = pq.read_table(table.options.path).sort_by("sex")
    assert found.column("sex").to_pylist() == ["f", "m"]
    expected = profiles.sort_by("of").select(profiles.column_names[1:])
    assert found.select(names).to_pydict() == expected.rename_columns(names).to_pydict()
    assert found.schema.field("g7").type == pa.float32()
