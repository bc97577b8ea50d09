"""A local recoding applied to new records: each goes to the finest class that covers it."""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from applying.test_apply_against_oracle import UNKNOWN, write_new
from commands import shoal as command
from oracle import Cell, Row
from pipeline.test_run_against_oracle import released, write_case
from problems import Case, cases, table_of
from recoding.test_local_release import NAMES, definition_in, write_table
from shoal.applying.covering import covered, labels_in
from shoal.recoding.local.solution import SUPPRESSED
from shoal.release.local_classes import ReleasedClass


def covers(case: Case, kept: dict[str, Any], row: Row) -> bool:
    """Whether a class of the file covers a record."""
    cells = zip(case.ladders, row, kept["levels"], kept["labels"], strict=True)
    return all(ladder.label(cell, level) == label for ladder, cell, level, label in cells)


def loss_of(case: Case, kept: dict[str, Any]) -> Fraction:
    """Iyengar's loss of a record with a value in every column and these labels."""
    total = Fraction(0)
    cells = zip(case.ladders, kept["levels"], kept["labels"], case.priorities, strict=True)
    for ladder, level, label, priority in cells:
        under = [value for value, steps in ladder.steps.items() if steps[level] == label]
        if under:
            total += priority * ladder.iyengar(under[0], level)
    return total / sum(case.priorities)


def finest(case: Case, classes: list[dict[str, Any]], row: Row) -> Row | None:
    """The labels of the finest class that covers a record, by looking at all of them."""
    if UNKNOWN in row:
        return None

    def order(kept: dict[str, Any]) -> Any:
        labels = [(label is None, label or "") for label in kept["labels"]]
        return (round(float(loss_of(case, kept)), 12), kept["levels"], labels)

    covering = [kept for kept in classes if covers(case, kept, row)]
    return tuple(min(covering, key=order)["labels"]) if covering else None


@pytest.mark.slow
@given(cases(), st.sampled_from(["extended", "basic"]), st.data())
@settings(max_examples=40)
def test_new_records_go_to_the_finest_class_that_covers_them(
    case: Case, match: str, data: Any
) -> None:
    keys = {"recoding": "local", "missing": {"match": match, "values": ["?"]}}
    cells = [st.sampled_from([*ladder.steps, None]) for ladder in case.ladders]
    row = st.one_of(st.sampled_from(case.rows), st.sampled_from(case.rows), st.tuples(*cells))
    known = data.draw(st.lists(row, min_size=1, max_size=14))
    strange = data.draw(st.integers(0, 2))
    rows: list[Row] = known + [(UNKNOWN, *row[1:]) for row in known[:strange]]
    together, suppress = data.draw(st.booleans()), data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            shoal.run(write_case(case, folder, **keys), transformation=folder / "t.json")
        except shoal.ShoalError:
            return
        classes = json.loads((folder / "t.json").read_text(encoding="utf-8"))["classes"]
        old = Counter(row[:-1] for row in released(folder / "release.csv")[1])
        assert Counter(tuple(kept["labels"]) for kept in classes) == Counter(set(old))
        for kept in classes:
            assert kept["loss"] == pytest.approx(float(loss_of(case, kept)), abs=1e-11)

        judged = [row for row in rows if match == "extended" or None not in row]
        every = [finest(case, classes, row) for row in judged]
        sizes = Counter(each for each in every if each is not None)
        both = sizes + old if together else sizes
        keep = [each for each in every if each is not None and both[each] >= case.k]
        suppressed = len(judged) - len(keep)
        allowed = min(case.suppression, len(judged)) if suppress else 0
        write_new(case, rows, folder / "new.csv")

        def apply() -> shoal.Applied[Any]:
            return shoal.apply(
                folder / "t.json",
                folder / "new.csv",
                folder / "new-release.csv",
                release=folder / "release.csv" if together else None,
                suppress_new=suppress,
            )

        is_strange = strange > 0 and not suppress
        if suppressed > allowed or not keep or is_strange:
            with pytest.raises(shoal.ShoalError) as refused:
                apply()
            codes = {"unknown-values", "too-many-unknown", "new-small-classes", "all-missing"}
            assert refused.value.code in codes
            assert UNKNOWN not in str(refused.value)
            assert not (folder / "new-release.csv").exists()
            return
        applied = apply()
        header, written = released(folder / "new-release.csv")
    assert header == [*case.names, "note"]
    assert Counter(row[:-1] for row in written) == Counter(keep)
    result = applied.result
    assert (result.status, result.verified, result.recoding) == ("applied", True, "local")
    assert (result.records, result.suppressed) == (len(rows), suppressed)
    union = Counter(keep) + (old if together else Counter[tuple[Cell, ...]]())
    if together:
        assert applied.together is not None
        assert applied.together.records == union.total()
        assert applied.together.classes == len(union)
        assert applied.together.smallest_class == min(union.values())
        assert result.smallest_class == min(union[each] for each in keep)


@given(cases(), st.data())
@settings(max_examples=150)
def test_the_finest_of_many_classes_is_found_as_by_looking_at_all(case: Case, data: Any) -> None:
    node = st.tuples(*(st.integers(0, limit) for limit in case.limits))
    drawn = st.lists(st.tuples(st.sampled_from(case.rows), node, st.integers(0, 3)), max_size=30)
    classes: dict[Row, ReleasedClass] = {}
    for row, levels, loss in data.draw(drawn):
        cells = zip(case.ladders, row, levels, strict=True)
        labels = tuple(ladder.label(cell, level) for ladder, cell, level in cells)
        classes.setdefault(labels, ReleasedClass(levels, labels, loss / 3))
    ordered = sorted(classes.values(), key=lambda each: each.rank)
    table = table_of(case)
    recoding = covered(table, ordered)
    found = labels_in(table, recoding).to_pylist()
    for row, number, labels_found in zip(
        Counter(case.rows), recoding.class_of.tolist(), found, strict=True
    ):
        covering = [each for each in ordered if covers(case, vars(each), row)]
        if not covering:
            assert number == SUPPRESSED
            continue
        best = min(covering, key=lambda each: each.rank)
        assert tuple(labels_found.values()) == best.labels
        assert tuple(recoding.levels[number].tolist()) == best.levels


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def january(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a local release, and its transformation."""
    folder = tmp_path_factory.mktemp("january")
    write_table(folder, missing=True)
    mapping = definition_in(folder, suppression="20%")
    shoal.run(mapping, transformation=folder / "t.json")
    return folder


def test_the_file_has_classes_and_nothing_of_the_records(january: Path) -> None:
    content = json.loads((january / "t.json").read_text(encoding="utf-8"))
    assert content["definition"]["recoding"] == "local"
    released_ones = {tuple(row[name] for name in NAMES) for row in rows_of(january / "release.csv")}
    assert {tuple(x or "" for x in kept["labels"]) for kept in content["classes"]} == released_ones
    assert all(set(kept) == {"levels", "labels", "loss"} for kept in content["classes"])
    losses = [kept["loss"] for kept in content["classes"]]
    assert losses == sorted(losses)
    assert all(n >= 5 for levels in content["levels"].values() for n in levels.values())


def test_new_records_hide_in_the_classes_of_the_earlier_release(
    january: Path, tmp_path: Path
) -> None:
    new = [*rows_of(january / "data.csv")[:40]]
    frame = pd.DataFrame(new, dtype="str")
    applied = shoal.apply(
        january / "t.json", frame, release=january / "release.csv", suppress_new=True
    )
    assert applied.result.verified
    assert applied.together is not None
    assert applied.together.smallest_class >= 5
    old = rows_of(january / "release.csv")
    texts = applied.frame.fillna("").astype(str)
    both = Counter(tuple(row[name] for name in NAMES) for row in [*old, *texts.to_dict("records")])
    assert min(both.values()) == applied.together.smallest_class
    assert "levels" in applied.to_dict()
    shown = str(applied)
    assert "Together with the earlier release" in shown


def test_persons_are_counted_in_the_classes_of_new_records(tmp_path: Path) -> None:
    write_table(tmp_path, records=600)
    rows = rows_of(tmp_path / "data.csv")
    for number, row in enumerate(rows):
        row["name"] = f"person {number // 2}"
    mapping = definition_in(tmp_path, person="name", suppression="80%")
    for path, part in (("data.csv", rows[:400]), ("new.csv", rows[200:])):
        pd.DataFrame(part).to_csv(tmp_path / path, index=False)
    shoal.run(mapping, transformation=tmp_path / "t.json")
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    applied = shoal.apply(tmp_path / "t.json", new, out, suppress_new=True)
    assert applied.result.verified
    assert applied.result.smallest_class_persons is not None
    assert applied.result.smallest_class_persons >= 5
    with pytest.raises(shoal.BadData) as refused:
        shoal.apply(tmp_path / "t.json", new, out, release=tmp_path / "release.csv")
    assert refused.value.code == "persons-together"


def test_too_few_new_records_are_refused_without_the_earlier_release(
    january: Path, tmp_path: Path
) -> None:
    lines = (january / "data.csv").read_text(encoding="utf-8").splitlines()[:12]
    (tmp_path / "new.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    with pytest.raises(shoal.Infeasible) as refused:
        shoal.apply(january / "t.json", tmp_path / "new.csv", tmp_path / "out.csv")
    assert refused.value.code == "new-small-classes"
    assert not (tmp_path / "out.csv").exists()


def test_records_that_no_class_covers_are_counted(tmp_path: Path) -> None:
    rows = [*["a"] * 3, *["b"] * 3]
    (tmp_path / "data.csv").write_text("\n".join(["code", *rows, ""]), encoding="utf-8")
    tree = {"ab": ["a", "b"], "cd": ["c", "d"]}
    definition = {
        "source": str(tmp_path / "data.csv"),
        "output": str(tmp_path / "release.csv"),
        "k": 2,
        "recoding": "local",
        "suppression": "50%",
        "attributes": {"code": {"role": "quasi-identifier", "hierarchy": {"tree": tree}}},
    }
    shoal.run(definition, transformation=tmp_path / "t.json")
    (tmp_path / "new.csv").write_text("code\na\na\nc\n", encoding="utf-8")
    with pytest.raises(shoal.Infeasible, match="covers 1 record") as refused:
        shoal.apply(tmp_path / "t.json", tmp_path / "new.csv", tmp_path / "out.csv")
    assert refused.value.code == "new-small-classes"
    applied = shoal.apply(
        tmp_path / "t.json", tmp_path / "new.csv", tmp_path / "out.csv", suppress_new=True
    )
    assert (applied.result.suppressed, applied.unknown) == (1, 0)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").split() == ["code", "a", "a"]


def test_groups_that_depend_on_all_values_are_refused_where_a_class_uses_them(
    tmp_path: Path,
) -> None:
    write_table(tmp_path)
    mapping = definition_in(tmp_path)
    mapping["attributes"]["age"] = {"role": "quasi-identifier", "hierarchy": {"groups": [3, 9]}}
    with pytest.raises(shoal.ShoalError) as refused:
        shoal.run(mapping, transformation=tmp_path / "t.json")
    assert refused.value.code == "no-transformation"
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.pop("classes"),
        lambda content: content["classes"].clear(),
        lambda content: content["classes"][0]["labels"].pop(),
        lambda content: content["classes"][0]["labels"].__setitem__(0, 7),
        lambda content: content["definition"].pop("recoding"),
    ],
    ids=["no key", "no class", "a label less", "a label that is no text", "no local recoding"],
)
def test_a_file_that_lacks_something_is_refused(january: Path, tmp_path: Path, change: Any) -> None:
    from shoal.release.transformation import _checksum

    content = json.loads((january / "t.json").read_text(encoding="utf-8"))
    del content["sha256"]
    change(content)
    content["sha256"] = _checksum(content)
    (tmp_path / "t.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(shoal.BadData) as refused:
        shoal.apply(tmp_path / "t.json", january / "data.csv", tmp_path / "out.csv")
    assert refused.value.code == "bad-transformation"


@pytest.mark.slow
def test_the_command_applies_a_local_recoding(january: Path, tmp_path: Path) -> None:
    lines = (january / "data.csv").read_text(encoding="utf-8").splitlines()[:41]
    (tmp_path / "new.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    done = command(
        *("apply", str(january / "t.json"), str(tmp_path / "new.csv")),
        *("-o", str(tmp_path / "out.csv"), "--with", str(january / "release.csv")),
        *("--suppress-new", "--json", str(tmp_path / "result.json")),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["recoding"] == "local"
    assert result["status"] == "applied"
    released_records = result["records"] - result["suppressed"]
    assert all(sum(n.values()) == released_records for n in result["levels"].values())
