"""What a table gives away: the papers' own tables, and plain definitions on random ones."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import BadHierarchy
from shoal.measure.table import Measure, measure
from verify.rows import Row, source

ANON = ("ZIP", "Age", "Sex", "Condition")
ANON_TABLE_1 = """
13053 28 F Hepatitis
13068 29 M Hepatitis
13068 21 M Flu
13053 23 M Flu
14853 50 F Cancer
14853 55 M Hepatitis
14850 47 M Flu
14850 49 M Flu
13053 31 F Cancer
13053 37 F Cancer
13068 36 F Cancer
13068 35 F Cancer
"""
ANON_TABLE_2_LEFT = """
130** <30 * Hepatitis
130** <30 * Hepatitis
130** <30 * Flu
130** <30 * Flu
148** ≥40 * Cancer
148** ≥40 * Hepatitis
148** ≥40 * Flu
148** ≥40 * Flu
130** 3* * Cancer
130** 3* * Cancer
130** 3* * Cancer
130** 3* * Cancer
"""
ANON_TABLE_2_RIGHT = """
1305* ≤40 * Hepatitis
1305* ≤40 * Flu
1305* ≤40 * Cancer
1305* ≤40 * Cancer
1485* >40 * Cancer
1485* >40 * Hepatitis
1485* >40 * Flu
1485* >40 * Flu
1306* ≤40 * Hepatitis
1306* ≤40 * Flu
1306* ≤40 * Cancer
1306* ≤40 * Cancer
"""


def anon(text: str) -> Measure:
    rows = [tuple(line.split()) for line in text.strip().splitlines()]
    return measure(source(ANON, rows), ANON[:3], sensitive=["Condition"])


def test_in_anons_table_1_every_record_is_unique() -> None:
    found = anon(ANON_TABLE_1)
    assert (found.k, found.unique_records) == (1, 12)
    assert any(attack.startswith("uniqueness: 12 records (100.0%)") for attack in found.attacks)


def test_anons_left_table_is_4_anonymous_and_open_to_the_homogeneity_attack() -> None:
    found = anon(ANON_TABLE_2_LEFT)
    (condition,) = found.sensitive
    assert (found.k, condition.distinct_l) == (4, 1)
    assert (condition.homogeneous_classes, condition.homogeneous_records) == (1, 4)
    (attack,) = found.attacks
    assert attack.startswith("homogeneity of Condition: 1 class with one value only, 4 records")
    assert "{ZIP='130**', Age='3*', Sex='*'} with 4" in attack
    assert condition.recursive_c is None
    assert condition.alpha == 1


def test_anons_right_table_is_4_anonymous_and_3_diverse_and_no_attack_is_found() -> None:
    found = anon(ANON_TABLE_2_RIGHT)
    (condition,) = found.sensitive
    assert (found.k, condition.distinct_l) == (4, 3)
    assert found.attacks == ()
    assert condition.recursive_c == 2  # two records of four over the one of the third value
    assert condition.recursive_c_of_2 == 1
    assert condition.entropy_l == pytest.approx(2 * math.sqrt(2))
    assert condition.alpha == 0.5


SHARED = ("PT", "PN", "PM", "Cause of Death", "Height", "Weight")
SHARED_TABLE_1: list[Row] = [
    ("3A", "0", "1", "Atherosclerotic heart disease", "185", "85"),
    ("3A", "0", "X", "Sigmoid colon", "173", "80"),
    ("3B", "0", "X", "Colon, unspecified", "175", "69"),
    ("3B", "0", "X", "Sigmoid colon", "172", "70"),
    ("3B", "0", "1", "Atherosclerotic heart disease", "170", "62"),
    ("3B", "0", "X", "Caecum", "183", "80"),
]
OVERWEIGHT, NORMAL = "[25.0,...,29.9] Overweight", "[18.5,...,24.9] Normal"
SHARED_TABLE_2: list[Row] = [
    ("3", "0", "1", "I25", OVERWEIGHT),
    ("3", "0", "X", "C18", OVERWEIGHT),
    ("3", "0", "X", "C18", NORMAL),
    ("3", "0", "X", "C18", NORMAL),
    ("3", "0", "1", "I25", NORMAL),
    ("3", "0", "X", "C18", NORMAL),
]


def test_records_of_the_integrated_table_have_no_twin_in_some_of_its_sources() -> None:
    table = source(SHARED, SHARED_TABLE_1)
    staging, cause, body = SHARED[:3], SHARED[3:4], SHARED[4:]
    assert [measure(table, names).unique_records for names in (staging, cause, body)] == [3, 2, 6]


def test_the_anonymised_table_is_2_anonymous_in_each_of_its_sources() -> None:
    table = source((*SHARED[:4], "BMI"), SHARED_TABLE_2)
    for names in (SHARED[:3], SHARED[3:4], ("BMI",)):
        assert measure(table, names).k == 2


CELLS = st.sampled_from(["1", "2", "10", None])
TABLES = st.lists(st.tuples(st.sampled_from("xyz"), CELLS), min_size=1, max_size=25)


@pytest.mark.slow
@given(TABLES, st.booleans())
@settings(max_examples=150)
def test_what_is_reached_is_the_worst_of_all_classes(rows: list[Row], as_value: bool) -> None:
    found = measure(source("qs", rows), "q", sensitive="s", missing_as_value=as_value)
    (reached,) = found.sensitive
    classes: dict[str | None, Counter[str | None]] = defaultdict(Counter)
    for label, value in rows:
        classes[label] += Counter([value] if as_value or value is not None else [])
    table = sum(classes.values(), Counter())
    assert reached.values == len(table)
    assert reached.distinct_l == min(map(len, classes.values()))
    homogeneous = [label for label, values in classes.items() if len(values) == 1]
    assert reached.homogeneous_classes == len(homogeneous)
    assert reached.homogeneous_records == sum(row[0] in homogeneous for row in rows)
    if not all(classes.values()):
        assert reached.alpha is reached.beta is reached.t_equal is reached.delta is None
        return
    shares = [{v: n / each.total() for v, n in each.items()} for each in classes.values()]
    whole = {v: n / table.total() for v, n in table.items()}
    assert reached.alpha == pytest.approx(max(max(each.values()) for each in shares))
    assert reached.beta == pytest.approx(
        max(max(q / whole[v] - 1, 0) for each in shares for v, q in each.items())
    )
    assert reached.t_equal == pytest.approx(
        max(sum(abs(each.get(v, 0) - p) for v, p in whole.items()) / 2 for each in shares)
    )
    entropies = [-sum(q * math.log(q) for q in each.values()) for each in shares]
    assert reached.entropy_l == pytest.approx(math.exp(min(entropies)))
    if all(each.keys() == whole.keys() for each in shares):
        ratios = [abs(math.log(q / whole[v])) for each in shares for v, q in each.items()]
        assert reached.delta == pytest.approx(max(ratios), abs=1e-12)
    else:
        assert reached.delta is None


def test_enhanced_beta_is_none_where_a_value_gained_more_than_any_allows() -> None:
    same = pa.table({"q": ["a", "a", "b", "b"], "s": ["1", "2", "1", "2"]})
    assert shoal.check(same, ["q"], sensitive=["s"]).sensitive[0].enhanced_beta == 0
    apart = pa.table({"q": ["a", "a", "b", "b"], "s": ["1", "1", "2", "2"]})
    assert shoal.check(apart, ["q"], sensitive=["s"]).sensitive[0].enhanced_beta is None


TOWNS = pa.table({"q": ["a", "a", "b", "b"], "town": ["ayr", "bern", "ayr", "cadiz"]})


@pytest.mark.slow
def test_hierarchical_distance_is_measured_by_a_tree_or_a_file(tmp_path: Path) -> None:
    tree = {"tree": {"north": ["ayr", "bern"], "south": ["cadiz"]}}
    path = tmp_path / "towns.csv"
    path.write_text("ayr;north;*\nbern;north;*\ncadiz;south;*\n", encoding="utf-8")
    for given_tree in (tree, path, str(path), {"path": str(path)}):
        found = shoal.check(TOWNS, ["q"], sensitive=["town"], hierarchies={"town": given_tree})
        assert found.sensitive[0].t_hierarchical == pytest.approx(0.25)
    assert shoal.check(TOWNS, ["q"], sensitive=["town"]).sensitive[0].t_hierarchical is None


def test_values_that_a_hierarchy_lacks_are_named_with_their_counts() -> None:
    with pytest.raises(BadHierarchy) as caught:
        shoal.check(TOWNS, "q", sensitive="town", hierarchies={"town": {"tree": {"any": ["x"]}}})
    named = "'ayr' (2 records), 'bern' (1 record), 'cadiz' (1 record)"
    assert caught.value.what == f"town: 3 of 3 values are not in the hierarchy: {named}"


def test_a_hierarchy_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("ayr;north\n", encoding="utf-8")
    for name, hierarchy in [
        ("town", tmp_path / "towns.csv"),
        ("town", tmp_path / "none.csv"),
        ("town", 5),
        ("q", tmp_path / "towns.csv"),
    ]:
        with pytest.raises(BadHierarchy):
            shoal.check(TOWNS, ["q"], sensitive=["town"], hierarchies={name: hierarchy})  # type: ignore[dict-item]


def test_a_measure_of_sensitive_values_reads_as_text_and_in_a_notebook() -> None:
    found = anon(ANON_TABLE_2_LEFT)
    assert "Condition, distinct l: 1" in str(found)
    assert "homogeneity of Condition" in str(found)
    assert "homogeneity of Condition" in found._repr_html_()
    assert "extended match: k = 4" in str(found)
