"""Every pair of a place for new records and a place for their release."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import servers
import shoal

KINDS = ("csv", "parquet", "sqlite", "postgres")
NAMES = ("age", "code", "ill", "stay")


def table_of(ages: range, *further: tuple[int, str]) -> pa.Table:
    """Records of these ages, and of further ages and codes."""
    rows = [*((age, f"12{age % 2}") for age in ages), *further]
    return pa.table(
        {
            "id": pa.array(range(len(rows)), pa.int64()),
            "age": pa.array([age for age, _ in rows], pa.int64()),
            "code": pa.array([code for _, code in rows], pa.string()),
            "ill": pa.array(["ab"[i % 2] for i in range(len(rows))], pa.string()),
            "stay": pa.array([i % 3 for i in range(len(rows))], pa.int64()),
        }
    )


JANUARY = table_of(range(30, 50))
FEBRUARY = table_of(range(34, 36), (41, "120"), (70, "120"), (35, "no code"))
"""Two records and one for the classes of January, one alone, and one without a label."""


@dataclass
class Places:
    """Where tables are put and releases are read back, as texts."""

    folder: Path
    request: pytest.FixtureRequest

    def url(self, kind: str) -> str | None:
        """The URL of a database of this kind; None for files."""
        if kind not in ("sqlite", "postgres"):
            return None
        return str(self.request.getfixturevalue(f"{kind}_url"))

    def put(self, kind: str, table: pa.Table) -> Any:
        """The table in a place of a kind; what `shoal.apply` is given for it."""
        if kind == "frame":
            return table
        name = f"in_{secrets.token_hex(4)}"
        if (url := self.url(kind)) is not None:
            servers.load(url, name, table)
            return {"url": url, "table": name}
        path = self.folder / f"{name}.{kind}"
        (pq.write_table if kind == "parquet" else pa_csv.write_csv)(table, path)
        return path

    def out(self, kind: str) -> Any:
        """A place for a release."""
        name = f"out_{secrets.token_hex(4)}"
        if (url := self.url(kind)) is not None:
            return {"url": url, "table": name}
        return self.folder / f"{name}.{kind}"

    def rows(self, kind: str, place: Any) -> Counter[tuple[str, ...]]:
        """What is stored there."""
        if self.url(kind) is not None:
            rows = servers.rows_of(place["url"], place["table"])
        else:
            read = pq.read_table if kind == "parquet" else pa_csv.read_csv
            table = read(place)
            assert table.column_names == list(NAMES)
            rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return Counter(tuple(map(str, row)) for row in rows)


@pytest.fixture
def places(tmp_path: Path, request: pytest.FixtureRequest) -> Places:
    return Places(tmp_path, request)


@pytest.fixture
def transformation(tmp_path: Path) -> Path:
    """The transformation of January, whose release is in `january.csv`."""
    pa_csv.write_csv(JANUARY, tmp_path / "january-data.csv")
    keys = {"role": "quasi-identifier", "from": 1, "limit": 1}
    shoal.run(
        {
            "source": str(tmp_path / "january-data.csv"),
            "output": str(tmp_path / "january.csv"),
            "k": 4,
            "suppression": "40%",
            "attributes": {
                "id": "identifier",
                "age": {**keys, "hierarchy": {"intervals": [10]}},
                "code": {**keys, "hierarchy": {"mask": [1]}},
                "ill": {"role": "sensitive", "diversity": {"distinct": 2}},
                "stay": "keep",
            },
        },
        transformation=tmp_path / "january.json",
    )
    return tmp_path / "january.json"


EXPECTED = Counter(
    {
        ("[30,40)", "12*", "a", "0"): 1,
        ("[30,40)", "12*", "b", "1"): 1,
        ("[40,50)", "12*", "a", "2"): 1,
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", [*KINDS, "frame"])
def test_new_records_go_from_any_engine_to_any_engine(
    source: str, target: str, places: Places, transformation: Path
) -> None:
    data, out = places.put(source, FEBRUARY), places.out(target)
    earlier = transformation.with_name("january.csv")
    with pytest.raises(shoal.ShoalError) as unknown:
        shoal.apply(transformation, data, out, release=earlier)
    assert unknown.value.code == "unknown-values"
    applied = shoal.apply(transformation, data, out, release=earlier, suppress_new=True)
    assert places.rows(target, out) == EXPECTED
    assert (applied.unknown, applied.result.suppressed, applied.result.records) == (1, 2, 5)
    assert applied.together is not None
    assert applied.together.records == 23


@pytest.fixture
def local_transformation(tmp_path: Path) -> Path:
    """A local recoding of January, whose release is in `january.csv`."""
    pa_csv.write_csv(JANUARY, tmp_path / "january-data.csv")
    shoal.run(
        {
            "source": str(tmp_path / "january-data.csv"),
            "output": str(tmp_path / "january.csv"),
            "k": 3,
            "suppression": "40%",
            "recoding": "local",
            "attributes": {
                "id": "identifier",
                "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
                "code": {"role": "quasi-identifier", "hierarchy": {"mask": [1]}},
                "ill": {"role": "sensitive", "diversity": {"distinct": 2}},
                "stay": "keep",
            },
        },
        transformation=tmp_path / "january.json",
    )
    return tmp_path / "january.json"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("parquet", "sqlite"), ("sqlite", "postgres"), ("postgres", "csv")),
        *(("frame", "parquet"), ("sqlite", "sqlite"), ("postgres", "postgres")),
    ],
)
def test_a_local_recoding_is_applied_alike_by_every_engine(
    source: str, target: str, places: Places, local_transformation: Path
) -> None:
    def applied(kind: str, place: Any) -> shoal.Applied[Any]:
        earlier = local_transformation.with_name("january.csv")
        data = places.put(kind, FEBRUARY)
        return shoal.apply(local_transformation, data, place, release=earlier, suppress_new=True)

    expected, out = places.out("csv"), places.out(target)
    one, other = applied("csv", expected), applied(source, out)
    rows = places.rows("csv", expected)
    assert rows.total() == 3
    assert places.rows(target, out) == rows
    for each in (one, other):
        assert each.result.verified
        assert (each.unknown, each.result.suppressed, each.result.records) == (1, 2, 5)
        assert each.together is not None
        assert each.together.smallest_class >= 3
    assert one.result.levels == other.result.levels


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "frame"])
def test_an_earlier_release_may_be_anywhere(
    kind: str, places: Places, transformation: Path
) -> None:
    january = transformation.with_name("january.csv")
    earlier = places.put(kind, pa_csv.read_csv(january))
    applied = shoal.apply(transformation, FEBRUARY, release=earlier, suppress_new=True)
    rows = zip(*(column.to_pylist() for column in applied.frame.columns), strict=True)
    assert Counter(tuple(map(str, row)) for row in rows) == EXPECTED


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_table_that_is_read_is_replaced(kind: str, places: Places, transformation: Path) -> None:
    data = places.put(kind, FEBRUARY)
    january = places.put(kind, pa_csv.read_csv(transformation.with_name("january.csv")))
    for place in (data, january):
        before = servers.rows_of(place["url"], place["table"])
        with pytest.raises(shoal.ShoalError) as refused:
            shoal.apply(
                transformation,
                data,
                {**place, "replace": True},
                release=january,
                suppress_new=True,
            )
        assert refused.value.code in ("output-is-source", "bad-definition")
        assert servers.rows_of(place["url"], place["table"]) == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_data_earlier_release_and_output_may_be_in_one_database(
    kind: str, places: Places, transformation: Path
) -> None:
    january = places.put(kind, pa_csv.read_csv(transformation.with_name("january.csv")))
    data, out = places.put(kind, FEBRUARY), places.out(kind)
    shoal.apply(transformation, data, out, release=january, suppress_new=True)
    assert places.rows(kind, out) == EXPECTED
