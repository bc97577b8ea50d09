"""`shoal.apply` and `shoal apply`: new months, odd data, attacks on what is read."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import shoal
from commands import leftovers
from commands import shoal as command
from shoal.demo.files import write_demo
from shoal.demo.registry import write_registry
from shoal.errors import UserError

QUASI_IDENTIFIERS = ("birth", "sex", "zip", "country", "occupation")


@pytest.fixture(scope="module")
def january(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release of the demonstration, and its transformation."""
    folder = tmp_path_factory.mktemp("january")
    shoal.run(write_demo(folder, records=3000, seed=1), transformation=folder / "january.json")
    return folder


def records(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def classes(rows: list[dict[str, str]]) -> dict[tuple[str, ...], list[str]]:
    """The diagnoses of each class."""
    found: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        key = tuple(row[name] for name in QUASI_IDENTIFIERS)
        found.setdefault(key, []).append(row["diagnosis"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_new_months_hide_in_the_classes_of_the_release(
    january: Path, tmp_path: Path, seed: int
) -> None:
    write_registry(tmp_path / "new.csv", 700, seed)
    with pytest.raises(shoal.Infeasible) as refused:
        shoal.apply(january / "january.json", tmp_path / "new.csv", tmp_path / "out.csv")
    assert refused.value.code == "new-small-classes"
    assert not (tmp_path / "out.csv").exists()
    applied = shoal.apply(
        january / "january.json",
        tmp_path / "new.csv",
        tmp_path / "out.csv",
        release=january / "release.csv",
        suppress_new=True,
    )
    new, old = records(tmp_path / "out.csv"), records(january / "release.csv")
    assert list(new[0]) == list(old[0])
    union = classes(new + old)
    assert min(map(len, union.values())) >= 5
    assert min(len(set(filter(None, each))) for each in union.values()) >= 3
    assert min(map(len, classes(new).values())) < 5
    assert len(new) == 700 - applied.result.suppressed
    assert applied.result.suppressed <= 35
    assert applied.together is not None
    assert (applied.together.records, applied.together.classes) == (len(new + old), len(union))
    rows = [tuple(row.values()) for row in new]
    assert rows == sorted(rows, key=lambda row: [(value == "", value) for value in row])


@pytest.mark.slow
def test_the_same_data_in_another_order_gives_the_same_bytes(january: Path, tmp_path: Path) -> None:
    table = pa_csv.read_csv(
        january / "patients.csv",
        convert_options=pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in QUASI_IDENTIFIERS}
        ),
    )
    names = sorted(table.column_names)
    turned = table.select(names).take(pa.array(range(table.num_rows - 1, -1, -1)))
    pa_csv.write_csv(turned.drop_columns(["name", "children"]), tmp_path / "turned.csv")
    shoal.apply(
        january / "january.json", tmp_path / "turned.csv", tmp_path / "out.csv", suppress_new=True
    )
    assert (tmp_path / "out.csv").read_bytes() == (january / "release.csv").read_bytes()


def small(folder: Path, rows: list[str], **keys: Any) -> dict[str, Any]:
    """A definition with an age, a code and an illness of a number of people."""
    (folder / "data.csv").write_text("\n".join(["id,age,code,ill", *rows, ""]), encoding="utf-8")
    intervals = {"role": "quasi-identifier", "hierarchy": {"intervals": [10]}, "from": 1}
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": 2,
        "suppression": "50%",
        "attributes": {
            "id": "identifier",
            "age": {**intervals, "limit": 1},
            "code": {"role": "quasi-identifier", "hierarchy": {"mask": [2]}, "limit": 1, "from": 1},
            "ill": keys.pop("ill", {"role": "sensitive", "diversity": {"distinct": 2}}),
        },
        **keys,
    }


TEN = [f"{i},{30 + i},12{i % 2},{'ab'[i % 2]}" for i in range(10)]


def new_data(folder: Path, *rows: str, header: str = "id,age,code,ill") -> Path:
    path = folder / "new.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def refusal(folder: Path, data: Any, **options: Any) -> shoal.ShoalError:
    """The error of applying `t.json` to data; nothing is written."""
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(shoal.ShoalError) as refused:
        shoal.apply(folder / "t.json", data, folder / "out.csv", **options)
    assert sorted(path.name for path in folder.iterdir()) == before
    return refused.value


@pytest.mark.slow
def test_other_columns_are_refused(tmp_path: Path) -> None:
    shoal.run(small(tmp_path, TEN), transformation=tmp_path / "t.json")
    lacking = refusal(tmp_path, new_data(tmp_path, "1,30,x", "2,30,y", header="id,Age,ill"))
    assert lacking.code == "other-columns"
    assert "'age', 'code' absent" in lacking.what
    further = refusal(tmp_path, new_data(tmp_path, "1,30,120,a,5", header="id,age,code,ill,secret"))
    assert "'secret' not known" in further.what
    twice = refusal(tmp_path, new_data(tmp_path, "1,30,120,a,5", header="id,age,code,ill,age"))
    assert twice.code == "repeated-column"
    nothing = refusal(tmp_path, new_data(tmp_path))
    assert nothing.code == "no-records"


@pytest.mark.slow
def test_columns_that_are_not_released_may_be_absent_or_dropped(tmp_path: Path) -> None:
    keys = small(tmp_path, TEN, others="drop")
    del keys["attributes"]["id"]
    shoal.run(keys, transformation=tmp_path / "t.json")
    data = new_data(tmp_path, *(f"{r},x" for r in TEN), header="id,age,code,ill,more")
    shoal.apply(tmp_path / "t.json", data, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()


@pytest.mark.slow
def test_values_without_a_label_are_counted_and_never_named(tmp_path: Path) -> None:
    shoal.run(small(tmp_path, TEN), transformation=tmp_path / "t.json")
    data = new_data(tmp_path, *TEN, "11,eighty,120,a", "12,eighty,120,b", "13,35,123456,b")
    unknown = refusal(tmp_path, data)
    assert unknown.code == "unknown-values"
    assert "1 value of 'age' (2 records), 1 value of 'code' (1 record)" in unknown.what
    assert "eighty" not in str(unknown)
    applied = shoal.apply(tmp_path / "t.json", data, tmp_path / "out.csv", suppress_new=True)
    assert (applied.unknown, applied.result.suppressed, applied.result.records) == (3, 3, 13)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()
    assert "eighty" not in (tmp_path / "out.csv").read_text(encoding="utf-8")
    many = new_data(tmp_path, *TEN[:4], *(f"{i},x,120,a" for i in range(5)))
    too_many = refusal(tmp_path, many, suppress_new=True)
    assert too_many.code == "too-many-unknown"
    assert too_many.exit_code == 3


@pytest.mark.slow
def test_labels_that_would_differ_are_refused(tmp_path: Path) -> None:
    shoal.run(small(tmp_path, TEN), transformation=tmp_path / "t.json")
    shorter = new_data(tmp_path, *(f"{i},31,1{i % 2},{'ab'[i % 2]}" for i in range(4)))
    assert refusal(tmp_path, shorter).code == "other-labels"
    missing = new_data(tmp_path, *TEN, "11,,120,a", "12,,120,b", "13,45,120,a", "14,45,121,b")
    assert refusal(tmp_path, missing).code == "other-labels"


@pytest.mark.slow
def test_distributions_are_those_of_the_union(tmp_path: Path) -> None:
    close = {"role": "sensitive", "closeness": {"t": 0.3}}
    shoal.run(small(tmp_path, TEN, ill=close, suppression=0), transformation=tmp_path / "t.json")
    skewed = new_data(tmp_path, *(f"{i},{31 + i},12{i % 2},a" for i in range(4)))
    applied = shoal.apply(tmp_path / "t.json", skewed, tmp_path / "out.csv")
    assert applied.result.privacy[-1].reached == 0
    (tmp_path / "out.csv").unlink()
    two = new_data(tmp_path, "1,31,120,a", "2,32,121,a", "3,41,120,b", "4,42,121,b")
    assert refusal(tmp_path, two).code == "new-small-classes"
    assert refusal(tmp_path, two, release=tmp_path / "release.csv").code == "new-small-classes"


@pytest.mark.slow
def test_the_average_risk_is_that_of_the_union(tmp_path: Path) -> None:
    keys = small(tmp_path, TEN, risk={"average": 0.12})
    shoal.run(keys, transformation=tmp_path / "t.json")
    inside = new_data(tmp_path, "1,31,120,a", "2,32,121,b")
    assert refusal(tmp_path, inside).code == "new-small-classes"
    earlier = tmp_path / "release.csv"
    applied = shoal.apply(tmp_path / "t.json", inside, tmp_path / "out.csv", release=earlier)
    assert applied.together is not None
    assert (applied.together.records, applied.together.classes) == (12, 1)
    (tmp_path / "out.csv").unlink()
    beside = new_data(tmp_path, "1,51,120,a", "2,52,121,b")
    assert refusal(tmp_path, beside, release=earlier).exit_code == 3


@pytest.mark.slow
def test_one_value_that_is_written_in_two_ways_is_refused(tmp_path: Path) -> None:
    rows = [f"{i},{30 + i},12{i % 2},{i % 2}" for i in range(10)]
    shoal.run(small(tmp_path, rows), transformation=tmp_path / "t.json")
    data = new_data(tmp_path, *(f"{i},35,120,{i % 2}.0" for i in range(4)))
    refused = refusal(tmp_path, data, release=tmp_path / "release.csv")
    assert refused.code == "other-spelling"


@pytest.mark.slow
def test_a_missing_sensitive_value_of_the_earlier_release_is_no_value(tmp_path: Path) -> None:
    rows = [f"{i},{30 + i},12{i % 2},{'ab?'[i % 3]}" for i in range(12)]
    three = {"role": "sensitive", "diversity": {"distinct": 2}}
    keys = small(tmp_path, rows, ill=three, missing={"values": ["?"]})
    shoal.run(keys, transformation=tmp_path / "t.json")
    (tmp_path / "old.csv").write_text(
        'age,code,ill\n"[50,60)",1**,a\n"[50,60)",1**,?\n', encoding="utf-8"
    )
    data = new_data(tmp_path, "1,51,120,a", "2,52,121,a", *TEN)
    refused = refusal(tmp_path, data, release=tmp_path / "old.csv")
    assert refused.code == "new-small-classes"
    assert "1 of 2 classes of new records do not meet the demands (2 records" in refused.what


@pytest.mark.slow
def test_persons_are_counted_alone_and_never_across_releases(tmp_path: Path) -> None:
    rows = [f"{i // 2},{30 + i},12{i % 2},{'ab'[i % 2]}" for i in range(10)]
    shoal.run(small(tmp_path, rows, person="id"), transformation=tmp_path / "t.json")
    one = new_data(tmp_path, "7,31,120,a", "7,32,121,b")
    assert refusal(tmp_path, one).code == "new-small-classes"
    together = refusal(tmp_path, one, release=tmp_path / "release.csv")
    assert together.code == "persons-together"
    two = new_data(tmp_path, "7,31,120,a", "8,32,121,b")
    applied = shoal.apply(tmp_path / "t.json", two, tmp_path / "out.csv")
    assert applied.result.smallest_class_persons == 2
    absent = new_data(tmp_path, "31,120,a", "32,121,b", header="age,code,ill")
    (tmp_path / "out.csv").unlink()
    assert refusal(tmp_path, absent).code == "other-columns"


def test_records_that_are_in_the_earlier_release_are_not_counted_twice(tmp_path: Path) -> None:
    shoal.run(small(tmp_path, TEN), transformation=tmp_path / "t.json")
    again = refusal(tmp_path, tmp_path / "data.csv", release=tmp_path / "release.csv")
    assert again.code == "same-records"


@pytest.mark.slow
def test_an_earlier_release_that_is_none_is_refused(tmp_path: Path) -> None:
    shoal.run(small(tmp_path, TEN), transformation=tmp_path / "t.json")
    data = new_data(tmp_path, *TEN[:2])
    nowhere = refusal(tmp_path, data, release=tmp_path / "nowhere.csv")
    assert nowhere.code in ("no-file", "no-files")
    source = refusal(tmp_path, data, release=tmp_path / "data.csv")
    assert source.code == "other-columns"
    unsafe = tmp_path / "unsafe.csv"
    unsafe.write_text('age,code,ill\n"[90,100)",1**,a\n', encoding="utf-8")
    assert (
        refusal(tmp_path, new_data(tmp_path, *TEN[:9]), release=unsafe).code == "not-safe-together"
    )


def test_nothing_that_is_read_is_overwritten(tmp_path: Path) -> None:
    keys = small(tmp_path, TEN)
    shoal.run(keys, transformation=tmp_path / "t.json")
    data = new_data(tmp_path, *TEN)
    (tmp_path / "link.csv").symlink_to("new.csv")
    (tmp_path / "link-t.json").symlink_to("t.json")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "release.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("new.csv", "link.csv", "t.json", "link-t.json", "release.csv", "hard.csv"):
        with pytest.raises(shoal.BadOutput) as refused:
            shoal.apply(
                tmp_path / "t.json", data, tmp_path / name, release=tmp_path / "release.csv"
            )
        assert refused.value.code == "would-overwrite", name
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_a_frame_is_released_as_a_frame(tmp_path: Path) -> None:
    import pandas as pd  # type: ignore[import-untyped]

    shoal.run(small(tmp_path, TEN), transformation=tmp_path / "t.json")
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)
    applied = shoal.apply(tmp_path / "t.json", frame)
    assert isinstance(applied.frame, pd.DataFrame)
    expected = pd.read_csv(tmp_path / "release.csv", dtype=str)
    assert applied.frame.astype(str).to_numpy().tolist() == expected.to_numpy().tolist()
    strange = pd.concat([frame, frame.tail(1).assign(age="old")])
    known = shoal.apply(tmp_path / "t.json", strange, suppress_new=True)
    assert isinstance(known.frame, pd.DataFrame)
    assert len(known.frame) == 10
    both = shoal.apply(tmp_path / "t.json", frame.head(2), release=applied.frame)
    assert both.together is not None
    assert both.together.records == 12
    assert "Together with the earlier release: 12 records" in str(both)
    assert list(both.to_pandas()["attribute"]) == ["age", "code"]
    with pytest.raises(UserError) as refused:
        shoal.apply(tmp_path / "t.json", tmp_path / "data.csv")  # type: ignore[call-overload]
    assert refused.value.code == "no-output"


@pytest.mark.slow
def test_the_command_applies_and_reports_in_json(january: Path, tmp_path: Path) -> None:
    for name in ("january.json", "release.csv"):
        (tmp_path / name).write_bytes((january / name).read_bytes())
    write_registry(tmp_path / "new.csv", 700, 2)
    alone = command("apply", "january.json", "new.csv", "-o", "out.csv", folder=tmp_path)
    assert alone.returncode == 3
    assert "[new-small-classes]" in alone.stderr
    options = ("--with", "release.csv", "--suppress-new")
    told = command(
        "apply",
        "january.json",
        "new.csv",
        "-o",
        "out.csv",
        *options,
        "--json",
        "-",
        folder=tmp_path,
    )
    assert told.returncode == 0
    found = json.loads(told.stdout)
    assert found["status"] == "applied"
    assert found["together"]["smallest_class"] >= 5
    assert found["transformation"] == "january.json"
    location = "{path: new.csv, delimiter: ','}"
    shown = command(
        "apply", "january.json", location, "-o", "{path: o.json}", *options, folder=tmp_path
    )
    assert shown.returncode == 0
    assert "Together with the earlier release" in shown.stdout
    assert leftovers(tmp_path) == []


@pytest.mark.slow
def test_the_command_overwrites_nothing_and_explains(january: Path, tmp_path: Path) -> None:
    for name in ("january.json", "release.csv", "patients.csv"):
        (tmp_path / name).write_bytes((january / name).read_bytes())
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    base = ("apply", "january.json", "patients.csv", "--with", "release.csv", "-o")
    for name in ("january.json", "release.csv", "patients.csv", "out.csv"):
        ended = command(*base, "out.csv", "--json", name, folder=tmp_path)
        assert ended.returncode == 2
        assert "[would-overwrite]" in ended.stderr
    for wrong, said in {
        ("nowhere.json", "patients.csv", "-o", "out.csv"): "[bad-transformation]",
        ("release.csv", "patients.csv", "-o", "out.csv"): "[bad-transformation]",
        ("january.json", "nowhere.csv", "-o", "out.csv"): "[no-file",
        ("january.json", "{url: x", "-o", "out.csv"): "in braces",
        ("january.json", "patients.csv", "-o", "no/folder/out.csv"): "[no-output-folder]",
        ("january.json", "patients.csv"): "Missing option",
    }.items():
        ended = command("apply", *wrong, folder=tmp_path)
        assert ended.returncode == 2, wrong
        assert said in ended.stderr, ended.stderr
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name != "tmp"} == before


def test_the_oracle_of_this_file_sees_small_classes() -> None:
    rows = [dict.fromkeys((*QUASI_IDENTIFIERS, "diagnosis"), "x")] * 4
    assert Counter(map(len, classes(rows).values())) == {4: 1}
