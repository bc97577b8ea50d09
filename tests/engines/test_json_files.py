"""JSON files: every value arrives under its key; what differs in the file differs when verified."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from adapters import Rows, rows_of
from shoal.engines.duckdb.files import open_files
from shoal.engines.options import FileOptions
from shoal.errors import BadData

ODD_KEYS = [
    *("a\tb", "a\nb", "a\rb", 'a"b', "a\\b", "a.b", "ü€😀", "n\0l", "$", "[0]", "a[*]", "*", "**"),
    *("/", "~", "a/b", "a~1b", "it's", "$.a", "#", "-", "0", " ", "a b", "\u2028", "null"),
]


def read(folder: Path, records: str | list[Any], *, stored: bool = False) -> Rows:
    text = records if isinstance(records, str) else json.dumps(records)
    (folder / "a.json").write_text(text, encoding="utf-8")
    return rows_of(open_files(FileOptions(str(folder / "a.json")), stored=stored))


def test_a_key_of_any_characters_has_its_values(tmp_path: Path) -> None:
    records = [{key: f"{row} {key}" for key in ODD_KEYS} for row in range(2)]
    for stored in (False, True):
        found = read(tmp_path, records, stored=stored)
        assert found == Counter(tuple(record.values()) for record in records)


@pytest.mark.slow
def test_a_key_of_any_characters_is_released(tmp_path: Path) -> None:
    records = [dict.fromkeys(ODD_KEYS, "x")] * 3
    (tmp_path / "in.json").write_text(json.dumps(records), encoding="utf-8")
    shoal.run(
        {
            "source": str(tmp_path / "in.json"),
            "output": str(tmp_path / "out.json"),
            "k": 3,
            "attributes": {"*": "quasi-identifier", "a\tb": "quasi-identifier"},
            "others": "keep",
        }
    )
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == records


def test_a_key_without_characters_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadData) as caught:
        read(tmp_path, [{"": 1, "a": 2}])
    assert caught.value.code == "unnamed-column"


def test_a_key_twice_in_one_object_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadData) as caught:
        read(tmp_path, '[{"a": 1, "b": 2}, {"a": 1, "a": 2}]')
    assert caught.value.code == "repeated-column"


@pytest.mark.slow
@pytest.mark.parametrize(
    "pair",
    [
        '1, "1"',
        '1.0, "1.0"',
        "1, 1.0",
        'true, "true"',
        '0, ""',
        '"", null',
        '"null", null',
        "[], {}",
    ],
)
def test_what_json_distinguishes_is_not_merged_when_it_is_verified(
    tmp_path: Path, pair: str
) -> None:
    one, other = pair.split(", ")
    records = [f'{{"a": {value}}}' for value in (one, one, one, other)]
    counts = sorted(read(tmp_path, f"[{', '.join(records)}]", stored=True).values())
    assert counts == [1, 3]


def test_a_key_that_is_absent_is_not_null_when_it_is_verified(tmp_path: Path) -> None:
    found = read(tmp_path, '[{"a": null, "b": 1}, {"b": 1}, {"a": "x", "b": 1}]', stored=True)
    assert sorted(found.values()) == [1, 1, 1]


def test_long_integers_beside_fractions_keep_their_digits(tmp_path: Path) -> None:
    found = read(tmp_path, '[{"a": 9007199254740993}, {"a": 0.5}]')
    assert found == Counter([("9007199254740993",), ("0.5",)])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("text", ['[{"a": 1},', '[{"a": 1}, {"a": 2},\n ', "[", '\ufeff[{"a": 1},'])
def test_an_array_without_its_end_is_refused(tmp_path: Path, text: str, packed: bool) -> None:
    content = text.encode()
    path = tmp_path / ("a.json.gz" if packed else "a.json")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(BadData, match="not JSON"):
        rows_of(open_files(FileOptions(str(path))))


def test_blanks_around_an_array_are_no_matter(tmp_path: Path) -> None:
    assert read(tmp_path, '\n \t[{"a": 1}] \r\n') == Counter([("1",)])
