"""The transformation file: what it has, what it must not have, and what is refused as one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import BadData, UserError
from shoal.release.transformation import read_transformation

DOMAIN = "Oslo;north\nTurku;north\nRome;south\nBari;south\n"
FROM_DATA = "Oslo;north\nRome;south\nRareville;south\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """60 records, one of them of a town that nobody else lives in."""
    rows = [f"p{i},{30 + i % 20},{('Oslo', 'Rome')[i % 2]},s{i % 3},w" for i in range(59)]
    text = "\n".join(["name,age,town,ill,ward", *rows, "p59,33,Rome,s1,w", ""])
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    (tmp_path / "towns.csv").write_text(DOMAIN, encoding="utf-8")
    return tmp_path


def definition(folder: Path, **keys: Any) -> dict[str, Any]:
    attributes = {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}},
        "town": {"role": "quasi-identifier", "hierarchy": str(folder / "towns.csv")},
        "ill": {"role": "sensitive", "diversity": {"distinct": 2}},
        "ward": "keep",
    }
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": 5,
        "suppression": 2,
        "attributes": {**attributes, **keys.pop("attributes", {})},
        **keys,
    }


@pytest.mark.slow
def test_it_has_levels_demands_content_and_checksums(folder: Path) -> None:
    path = folder / "t.json"
    result = shoal.run(definition(folder), transformation=path)
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["shoal transformation"] == 1
    assert found["levels"] == result.levels
    assert found["definition"]["k"] == 5
    assert found["definition"]["attributes"]["town"]["hierarchy"] == {
        "rows": [line.split(";") for line in DOMAIN.splitlines()]
    }
    assert found["definition"]["attributes"]["age"]["hierarchy"] == {"intervals": [10, 100]}
    assert "source" not in found["definition"]
    assert found["columns"] == ["name", "age", "town", "ill", "ward"]
    assert found["release"]["suppressed"] == result.suppressed

    def sha256(name: str) -> str:
        return hashlib.sha256((folder / name).read_bytes()).hexdigest()

    assert found["checksums"]["input"] == sha256("data.csv")
    assert found["checksums"]["release"] == sha256("release.csv")
    assert found["versions"]["shoal"]
    before = path.read_bytes()
    shoal.run(definition(folder), transformation=path)
    assert path.read_bytes() == before


def test_the_checksum_of_a_definition_file_is_kept(folder: Path) -> None:
    file = folder / "d.json"
    file.write_text(json.dumps(definition(folder)), encoding="utf-8")
    shoal.run(file, transformation=folder / "t.json")
    found = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert found["checksums"]["definition"] == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.slow
def test_a_hierarchy_that_may_be_made_from_the_data_is_kept_by_checksum(folder: Path) -> None:
    data = folder / "data.csv"
    text = data.read_text(encoding="utf-8").replace("p59,33,Rome", "p59,33,Rareville")
    data.write_text(text, encoding="utf-8")
    (folder / "towns.csv").write_text(FROM_DATA, encoding="utf-8")
    path = folder / "t.json"
    shoal.run(definition(folder), transformation=path)
    assert "Rareville" not in path.read_text(encoding="utf-8")
    shoal.apply(path, data, folder / "again.csv")
    assert (folder / "again.csv").read_bytes() == (folder / "release.csv").read_bytes()
    with pytest.raises(shoal.BadOutput, match="is the hierarchy of 'town'"):
        shoal.apply(path, data, folder / "towns.csv")
    (folder / "towns.csv").write_text(FROM_DATA + "Lima;south\n", encoding="utf-8")
    with pytest.raises(BadData) as changed:
        shoal.apply(path, data, folder / "again.csv")
    assert changed.value.code == "hierarchy-changed"
    (folder / "towns.csv").unlink()
    with pytest.raises(BadData, match="not there any more"):
        shoal.apply(path, data, folder / "again.csv")


@pytest.mark.slow
def test_a_hierarchy_by_content_outlives_its_file(folder: Path) -> None:
    shoal.run(definition(folder), transformation=folder / "t.json")
    (folder / "towns.csv").unlink()
    shoal.apply(folder / "t.json", folder / "data.csv", folder / "again.csv")
    assert (folder / "again.csv").read_bytes() == (folder / "release.csv").read_bytes()


def test_groups_that_depend_on_all_values_are_refused_and_nothing_is_released(
    folder: Path,
) -> None:
    groups = {"age": {"role": "quasi-identifier", "hierarchy": {"groups": [10]}, "limit": 1}}
    fixed = {"age": {**groups["age"], "from": 1}}
    with pytest.raises(UserError) as refused:
        shoal.run(definition(folder, attributes=fixed), transformation=folder / "t.json")
    assert refused.value.code == "no-transformation"
    assert not (folder / "release.csv").exists()
    assert not (folder / "t.json").exists()


def test_what_was_cut_or_edited_is_refused(folder: Path) -> None:
    path = folder / "t.json"
    shoal.run(definition(folder), transformation=path)
    text = path.read_text(encoding="utf-8")
    edited = {
        "cut": text[:-40],
        "empty": "",
        "other level": text.replace('"town": ', '"town":  1', 1),
        "weaker": text.replace('"k": 5', '"k": 2'),
        "newer": text.replace('"shoal transformation": 1', '"shoal transformation": 2'),
        "a list": "[]",
        "a result": "{}",
        "not text": "\udcff",
    }
    for what, other in edited.items():
        assert other != text, what
        path.write_bytes(other.encode("utf-8", "surrogateescape"))
        with pytest.raises(BadData) as refused:
            read_transformation(path)
        assert refused.value.code == "bad-transformation", what
    with pytest.raises(BadData, match="cannot be read"):
        read_transformation(folder / "nowhere.json")
    with pytest.raises(BadData, match="cannot be read"):
        read_transformation(folder)


def test_no_key_may_be_lacking_even_with_a_right_checksum(folder: Path) -> None:
    from shoal.release.transformation import _checksum

    path = folder / "t.json"
    shoal.run(definition(folder), transformation=path)
    found = json.loads(path.read_text(encoding="utf-8"))
    del found["sha256"]
    for key in ("levels", "definition", "labels", "columns", "checksums"):
        for other in ({}, {key: None}, {key: 7}):
            content = {**{k: v for k, v in found.items() if k != key}, **other}
            whole = {**content, "sha256": _checksum(content)}
            path.write_text(json.dumps(whole), encoding="utf-8")
            with pytest.raises(BadData) as refused:
                read_transformation(path)
            assert refused.value.code == "bad-transformation"


def test_a_run_that_fails_leaves_no_transformation(folder: Path) -> None:
    with pytest.raises(shoal.Infeasible):
        shoal.run(definition(folder, k=100), transformation=folder / "t.json")
    with pytest.raises(shoal.Declined):
        shoal.run(definition(folder), transformation=folder / "t.json", ask=lambda _: False)
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "towns.csv"]


def test_a_transformation_takes_the_place_of_nothing_else(folder: Path) -> None:
    for name in ("data.csv", "towns.csv", "release.csv"):
        with pytest.raises(shoal.BadOutput) as refused:
            shoal.run(definition(folder), transformation=folder / name)
        assert refused.value.code == "would-overwrite"
    assert not (folder / "release.csv").exists()
