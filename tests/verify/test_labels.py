"""Which labels are at a level of each kind of hierarchy, and which are not."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.model import Csv, Cuts, Dates, Groups, Intervals, Mask, Suppress, Taxonomy
from shoal.errors import BadHierarchy
from shoal.verify.labels.built import Labels
from shoal.verify.levels import labels_of


def fits(labels: Labels, level: int, *texts: str) -> bool:
    return labels.misfits(level, texts) == []


def mask(*steps: int, side: str = "right", values: set[str] | None = None) -> Labels:
    return labels_of(Mask.model_validate({"mask": steps, "from": side}), values)


def intervals(*widths: float, values: set[str] | None = None, **ends: float) -> Labels:
    return labels_of(Intervals.model_validate({"intervals": widths, **ends}), values)


def dates(*units: str, form: str | None = None, values: set[str] | None = None) -> Labels:
    return labels_of(Dates.model_validate({"date": units, "format": form}), values)


def groups(*sizes: int, order: str = "auto", values: set[str] | None = None) -> Labels:
    return labels_of(Groups.model_validate({"groups": sizes, "order": order}), values)


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text('﻿rome;Italy;*\n"a;b";Italy;*\n\noslo;Norway;*\n', encoding="utf-8")
    return path


def test_a_file_lists_the_labels_of_each_level(towns: Path) -> None:
    labels = labels_of(Csv(path=towns))
    assert labels.height == 2
    assert fits(labels, 0, "rome", "a;b", "oslo")
    assert fits(labels, 1, "Italy", "Norway")
    assert labels.misfits(1, ["Italy", "rome", "*"]) == ["rome", "*"]
    assert labels.single(2, ["*"])
    assert not labels.single(1, ["Italy"])


def test_a_file_gets_no_star_above_its_last_level(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a;x\nb;y\n", encoding="utf-8")
    labels = labels_of(Csv(path=path))
    assert labels.height == 1
    assert not labels.single(1, ["x"])


@pytest.mark.parametrize("text", ["", "a;x\nb\n", "\xff"])
def test_a_file_that_is_no_hierarchy_is_a_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "h.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadHierarchy, match=r"h\.csv"):
        labels_of(Csv(path=path))


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadHierarchy, match=r"none\.csv"):
        labels_of(Csv(path=tmp_path / "none.csv"))


def test_a_tree_repeats_a_shallow_leaf_upwards_and_gets_a_star() -> None:
    tree = {"[1-2]": {"1": ["1a", "1b"], "2": ["2"]}, "[3-4]": ["3", {"4": None}]}
    labels = labels_of(Taxonomy(tree=tree))
    assert labels.height == 3
    assert fits(labels, 0, "1a", "1b", "2", "3", "4")
    assert fits(labels, 1, "1", "2", "3", "4")
    assert fits(labels, 2, "[1-2]", "[3-4]")
    assert fits(labels, 3, "*")
    assert labels.misfits(1, ["1a", "1", "*"]) == ["1a", "*"]
    assert labels.single(3, ["*"])


def test_a_tree_with_one_root_gets_no_star() -> None:
    labels = labels_of(Taxonomy(tree={"all": ["a", "b"]}))
    assert labels.height == 1
    assert labels.single(1, ["all"])


def test_suppress_has_the_value_and_the_star() -> None:
    labels = labels_of(Suppress())
    assert labels.height == 1
    assert labels.misfits(0, ["f", "*"]) == ["*"]
    assert labels.misfits(1, ["f", "*"]) == ["f"]
    assert labels.single(1, ["*"])
    assert not labels.single(0, ["f"])


def test_a_star_is_allowed_at_level_0_where_the_source_has_it() -> None:
    assert fits(labels_of(Suppress(), {"f", "*"}), 0, "*")
    assert not fits(labels_of(Suppress(), {"f"}), 0, "m")


def test_a_mask_has_exactly_its_stars_at_its_side() -> None:
    labels = mask(1, 3)
    assert fits(labels, 1, "1234*", "12*")
    assert labels.misfits(1, ["123**", "12345", "1*34*", "*234*"]) == [
        "123**",
        "12345",
        "1*34*",
        "*234*",
    ]
    assert fits(mask(2, side="left"), 1, "**345")
    assert not fits(mask(2, side="left"), 1, "123**")


def test_a_value_masked_whole_is_as_long_as_the_longest() -> None:
    assert fits(mask(2), 1, "123**", "*****")
    assert labels_misfit(mask(2), "123**", "***") == ["***"]
    assert labels_misfit(mask(2, values={"12345", "1"}), "*****", "***") == ["***"]


def labels_misfit(labels: Labels, *texts: str) -> list[str]:
    return labels.misfits(1, texts)


def test_the_last_mask_is_the_top_where_it_covers_the_longest_value() -> None:
    assert mask(3, 5).single(2, ["*****"])
    assert not mask(3, 4).single(2, ["*****"])
    assert not mask(3, 5).single(1, ["***"])
    assert mask(3, 4).single(3, ["*"])


@given(st.sets(st.text("1*ab", min_size=1, max_size=5), min_size=1), st.integers(1, 5), st.data())
def test_masked_values_of_a_known_source_always_fit(
    values: set[str], step: int, data: st.DataObject
) -> None:
    longest = max(map(len, values))
    right = [v[:-step] + "*" * step if len(v) > step else "*" * longest for v in values]
    left = ["*" * step + v[step:] if len(v) > step else "*" * longest for v in values]
    assert fits(mask(step, values=values), 1, *right)
    assert fits(mask(step, side="left", values=values), 1, *left)


def test_intervals_have_the_width_of_their_level_from_the_origin() -> None:
    labels = intervals(5, 10)
    assert fits(labels, 1, "[20,25)", "[-5,0)", "[0,5)")
    wrong = ["[20,30)", "[21,26)", "[25,20)", "20", "[20,25]", "[020,25)", "[20.0,25)", "<20", "*"]
    assert labels.misfits(1, wrong) == wrong
    assert fits(labels, 2, "[20,30)")
    assert fits(labels, 3, "*")
    assert fits(intervals(5, origin=1), 1, "[21,26)")
    assert fits(intervals(0.1), 1, "[0.3,0.4)", "[-0.1,0)", "[1,1.1)")


def test_level_0_of_intervals_holds_numbers() -> None:
    assert fits(intervals(5), 0, "20", "-1.50", " 7", "+1e3", ".5")
    wrong = ["[20,25)", "twenty", "nan", "inf", "*", ">=90", ""]
    assert intervals(5).misfits(0, wrong) == wrong


def test_bottom_and_top_coding_cut_the_intervals() -> None:
    labels = intervals(10, bottom=18, top=93)
    assert fits(labels, 1, "<18", "[18,20)", "[20,30)", "[90,93)", ">=93")
    wrong = ["[10,20)", "[90,100)", "<20", ">=90", "[10,18)", "[93,100)"]
    assert labels.misfits(1, wrong) == wrong
    assert fits(intervals(100, bottom=18, top=93), 1, "[18,93)")


@given(
    st.decimals(-1000, 1000, places=2, allow_nan=False),
    st.sampled_from(["0.1", "0.25", "5", "30"]),
    st.sampled_from(["0", "0.05", "-3"]),
)
def test_the_interval_of_any_number_fits_and_a_shifted_one_does_not(
    number: object, width: str, origin: str
) -> None:
    step, start, value = Fraction(width), Fraction(origin), Fraction(str(number))
    low = start + (value - start) // step * step
    labels = intervals(float(width), origin=float(origin))
    assert fits(labels, 1, f"[{plain(low)},{plain(low + step)})")
    off = low + step / 5
    assert not fits(labels, 1, f"[{plain(off)},{plain(off + step)})")


def plain(number: Fraction) -> str:
    return f"{float(number):.6f}".rstrip("0").rstrip(".")


def test_the_last_interval_is_the_top_where_it_holds_every_value() -> None:
    assert intervals(5, 100, values={"3", "99.9"}).single(2, ["[0,100)"])
    assert not intervals(5, 100, values={"3", "100"}).single(2, ["[0,100)"])
    assert not intervals(5, 100).single(2, ["[0,100)"])
    assert not intervals(100, 200, values={"3"}).single(1, ["[0,100)"])


def test_a_label_too_long_to_be_a_number_is_no_interval() -> None:
    assert not fits(intervals(5), 1, f"[{'9' * 5000},{'9' * 5001})")


def test_cuts_have_exactly_the_ranges_between_their_points() -> None:
    labels = labels_of(Cuts.model_validate({"cuts": [[18, 30.5, 65], [18], []]}))
    assert labels.height == 4
    assert fits(labels, 1, "<18", "[18,30.5)", "[30.5,65)", ">=65")
    assert labels.misfits(1, ["[18,65)", "<30.5", ">=18", "*"]) == ["[18,65)", "<30.5", ">=18", "*"]
    assert fits(labels, 2, "<18", ">=18")
    assert fits(labels, 3, "*")
    assert not fits(labels, 3, "<18")
    assert labels.single(3, ["*"])
    assert not labels.single(2, ["<18"])


@pytest.mark.parametrize(
    ("unit", "right", "wrong"),
    [
        ("day", ["2020-02-29"], ["2021-02-29", "2020-2-9", "2020-02", "2020-02-29T10:00"]),
        ("week", ["2020-W53", "2020-W01"], ["2021-W53", "2020-W00", "2020-10", "2020-W10-1"]),
        ("month", ["2020-12"], ["2020-13", "2020-00", "2020-W12", "2020-1"]),
        ("quarter", ["2020-Q4"], ["2020-Q5", "2020-Q0", "2020-04"]),
        ("year", ["2020", "0099"], ["20", "0000", "2020-2029", "２０２０"]),
        ("decade", ["2020-2029"], ["2020-2030", "2021-2030", "2020s", "2000-2099", "2010-2029"]),
        ("century", ["2000-2099"], ["2000-2199", "2020-2119", "2000-2009"]),
    ],
)
def test_each_unit_of_dates_has_its_form(unit: str, right: list[str], wrong: list[str]) -> None:
    labels = dates(unit)
    assert fits(labels, 1, *right)
    assert labels.misfits(1, wrong) == wrong


def test_level_0_of_dates_holds_dates() -> None:
    labels = dates("week", "year")
    assert fits(labels, 0, "2020-03-07", "2020-03-07T10:00:00.5+01:00", "2020-03-07 10:00")
    wrong = ["2020-W10", "2020", "2020-02-30", "7.3.2020", "*"]
    assert labels.misfits(0, wrong) == wrong
    assert fits(dates("year", form="%d.%m.%Y"), 0, "7.3.2020")


@given(st.dates(date(1, 1, 1), date(9999, 1, 1)), st.integers(0, 40000))
def test_the_last_unit_is_the_top_where_it_holds_every_date(first: date, days: int) -> None:
    last = first + timedelta(min(days, (date.max - first).days))
    values = {first.isoformat(), last.isoformat()}
    tens = first.year // 10 * 10
    same = {
        "year": (first.year == last.year, f"{first.year:04}"),
        "month": (first.isoformat()[:7] == last.isoformat()[:7], first.isoformat()[:7]),
        "week": (
            first.isocalendar()[:2] == last.isocalendar()[:2],
            "{:04}-W{:02}".format(*first.isocalendar()),
        ),
        "decade": (last.year < tens + 10, f"{tens:04}-{tens + 9:04}"),
    }
    for unit, (whole, label) in same.items():
        if fits(dates(unit), 1, label):
            assert dates("day", unit, values=values).single(2, [label]) == whole


def test_runs_of_an_unknown_source_rise_and_do_not_overlap() -> None:
    labels = groups(2, 4)
    assert fits(labels, 1, "<C", "[C,M)", ">=M")
    assert labels.misfits(1, ["[M,C)"]) == ["[M,C)"]
    assert set(labels.misfits(1, ["[A,M)", "[C,P)"])) == {"[A,M)", "[C,P)"}
    assert fits(labels, 1, "<9", "[9,100)", ">=100")
    assert not fits(groups(2, order="text"), 1, "[9,10)")
    assert groups(2, order="number").misfits(1, ["[x,y)"]) == ["[x,y)"]
    assert labels.misfits(0, ["a", "<C", "[9,10)", "group 1 of 2"]) == [
        "<C",
        "[9,10)",
        "group 1 of 2",
    ]


def test_runs_of_an_unknown_source_publish_no_values() -> None:
    for label in ("ann", "ann..bea", "RAREZED..ann"):
        assert groups(2).misfits(1, [label, "<C"]) == [label]


def test_numbered_runs_are_of_one_number_of_runs() -> None:
    labels = groups(2, 4)
    assert fits(labels, 1, "group 1 of 12", "group 12 of 12")
    assert not fits(labels, 1, "group 1 of 12", "group 2 of 13")
    assert labels.misfits(1, ["group 1 of 2", "group 3 of 2", "<C"]) == ["group 3 of 2", "<C"]


def test_one_run_for_all_is_a_star() -> None:
    assert fits(groups(2), 1, "*")
    assert not fits(groups(2), 1, "*", "<C")
    assert groups(2, values={"ann", "bea"}).single(1, ["*"])
    assert not fits(groups(2, values={"ann", "bea", "cleo"}), 1, "*")


def test_runs_of_a_known_source_are_its_own() -> None:
    towns = groups(2, values={"Aachen", "Berlin", "Celle", "Dresden", "Essen"})
    assert fits(towns, 1, "<C", "[C,E)", ">=E")
    wrong = ["<D", "<Ce", "[C,Es)", "Aachen..Berlin", "Essen", "group 1 of 3", "*"]
    assert towns.misfits(1, wrong) == wrong


def test_runs_of_a_known_source_are_numbered_where_a_separator_would_disclose_a_value() -> None:
    codes = groups(2, values={"I20", "I21", "I22", "J18", "K01"})
    assert fits(codes, 1, "group 1 of 3", "group 3 of 3")
    wrong = ["<I22", "[I22,K)", ">=K", "group 1 of 2", "group 4 of 3"]
    assert codes.misfits(1, wrong) == wrong


def test_numbers_are_sorted_by_size_when_all_values_are_numbers() -> None:
    assert fits(groups(2, values={"900", "1000", "2000"}), 1, "<2000") is False
    assert fits(groups(2, values={"930", "1010", "2011"}), 1, "<2000", ">=2000")
    assert fits(groups(2, values={"930", "1010", "x"}), 1, "group 1 of 2", "group 2 of 2")
    assert groups(2, values={"37", "38", "39"}).misfits(1, ["<39", ">=38.5"]) == ["<39", ">=38.5"]
    assert fits(groups(2, values={"37", "38", "1e999999"}), 1, "group 1 of 2")
