"""A request to a mart, from its sources to the rows that are released."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from mart.clinic import Clinic, clinic, many
from shoal.errors import Infeasible, Refused


def persons_by_class(
    rows: Iterable[Mapping[str, str]], columns: Sequence[str]
) -> dict[tuple[str, ...], set[str]]:
    """Who is in each class: rows show their person by a kept column in these tests."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        found[tuple(row[name] for name in columns)].add(row["who"])
    return found


def with_who(mart: Clinic) -> Clinic:
    """The mart with a kept column of the findings that says who the person is."""
    mart.columns["findings"]["who"] = "keep"
    mart.findings = [(*row, row[1]) for row in mart.findings]
    write = mart.write

    def write_with_who() -> None:
        write()
        path = mart.folder / "findings.csv"
        path.write_text(path.read_text().replace("PT,age", "PT,age,who", 1))

    mart.write = write_with_who  # type: ignore[method-assign]
    return mart


@pytest.mark.slow
def test_every_class_of_each_source_has_k_persons_in_the_release(tmp_path: Path) -> None:
    mart = with_who(many(tmp_path))
    result = mart.ask("PT", "age", "sex", "cause", "who", k=3)
    rows = mart.released()
    assert len(rows) == result.rows_released == 60
    for columns in (["PT", "age"], ["sex"], ["cause"]):
        found = persons_by_class(rows, columns)
        assert min(map(len, found.values())) >= 3
    assert result.sources["findings"].smallest_class >= 3
    assert result.sources["findings"].status == "optimal"
    assert set(result.sources) == {"findings", "patient", "survival"}
    alone = persons_by_class(rows, ["PT", "age", "sex", "cause"])
    assert result.rows_unique == sum(len(each) == 1 for each in alone.values()) > 0
    assert "knows columns of two sources" in result.withstands


@pytest.mark.slow
def test_a_joint_scope_has_k_persons_for_all_columns_together(tmp_path: Path) -> None:
    mart = with_who(many(tmp_path))
    result = mart.ask("PT", "age", "sex", "cause", "who", k=3, scope="joint")
    found = persons_by_class(mart.released(), ["PT", "age", "sex", "cause"])
    assert min(map(len, found.values())) >= 3
    assert list(result.sources) == ["*"]
    assert result.rows_unique == 0
    assert result.rows_unique_before > 0


def test_persons_are_counted_not_rows(tmp_path: Path) -> None:
    twice: list[tuple[str, int]] = [("1a", 30), ("1a", 30)]
    mart = clinic(tmp_path, [("m", "I25", twice, "A"), ("m", "I25", [("1b", 30)], "B")])
    result = mart.ask("PT", k=2)
    assert [row["PT"] for row in mart.released()] == ["1", "1", "1"]
    assert result.sources["findings"].smallest_class == 2


def test_a_source_without_projected_quasi_identifiers_asks_for_nothing(tmp_path: Path) -> None:
    mart = many(tmp_path)
    result = mart.ask("days")
    assert result.sources == {}
    assert sorted(int(row["days"]) for row in mart.released()) == [10 * i for i in range(60)]


def test_a_selection_changes_no_label(tmp_path: Path) -> None:
    mart = many(tmp_path)
    mart.columns["findings"]["age"] |= {"hierarchy": {"groups": [10, 20]}, "from": 1, "limit": 1}
    mart.ask("age")
    whole = {row["age"] for row in mart.released()}
    mart.keys = {"policy": {"overlap": "report"}}
    mart.ask("age", select=["sex = m"])
    assert len(whole) == 5
    assert {row["age"] for row in mart.released()} == whole
    mart.findings = [row for row in mart.findings if row[1] % 2 == 0]
    mart.ask("age")
    assert not {row["age"] for row in mart.released()} <= whole


@pytest.mark.slow
def test_a_selected_column_need_not_be_projected(tmp_path: Path) -> None:
    mart = many(tmp_path)
    result = mart.ask("cause", select=["PT = 1", "age < 40"])
    young = [row for row in mart.findings if row[2].startswith("1") and row[3] < 40]
    assert result.rows_selected == len(young) == len(mart.released())
    assert result.columns == ("cause",)
    assert result.notes == ("PT = 1: '1' is the label of 4 values at level 1",)


@pytest.mark.slow
def test_limits_come_from_selection_request_and_catalog(tmp_path: Path) -> None:
    mart = many(tmp_path)
    mart.columns["patient"]["sex"]["limit"] = 0
    result = mart.ask("PT", "age", "sex", select=["PT = 1"], limits={"PT": 2, "age": 2})
    findings, patient = result.sources["findings"], result.sources["patient"]
    assert (findings.limits["PT"].level, findings.limits["PT"].reason) == (1, "selection")
    assert (findings.limits["age"].level, findings.limits["age"].reason) == (2, "request")
    assert (patient.limits["sex"].level, patient.limits["sex"].reason) == (0, "catalog")
    for name in ("PT", "age"):
        level = findings.levels[name]
        assert isinstance(level, int)
        assert level <= findings.limits[name].level


def test_limits_and_priorities_without_effect_are_told(tmp_path: Path) -> None:
    result = many(tmp_path).ask("sex", limits={"age": 1}, priorities={"days": 1})
    assert result.notes == (
        "limits: 'age' is no projected quasi-identifier, so it has no effect",
        "priorities: 'days' is no projected quasi-identifier, so it has no effect",
    )


@pytest.mark.slow
def test_the_path_of_the_paper_is_told_step_by_step(tmp_path: Path) -> None:
    mart = many(tmp_path)
    priorities = {"PT": 0.2, "age": 0.9}
    found = mart.ask("PT", "age", k=3, search={"strategy": "priority-path"}, priorities=priorities)
    findings = found.sources["findings"]
    assert [(step.column, step.level) for step in findings.steps][:2] == [("PT", 1), ("PT", 2)]
    assert findings.steps[-1].classes == findings.classes
    assert findings.steps[-1].singles == 0
    assert findings.classes_before >= findings.steps[0].classes
    assert dict(findings.levels) == {"PT": 2, "age": findings.steps[-1].level}


def cascading(folder: Path) -> Clinic:
    """The person with the cause C18 is alone there. Without them the only woman is too."""
    people = [
        ("m", "I25", [("1a", 30)], "A"),
        ("m", "I25", [("1a", 30)], "B"),
        ("f", "I25", [("1a", 30)], "A"),
        ("f", "C18", [("1a", 30)], "B"),
    ]
    mart = clinic(folder, people)
    mart.keys = {"policy": {"suppression": 4}}
    return mart


@pytest.mark.slow
def test_rows_that_one_source_suppresses_can_take_rows_of_others_with_them(tmp_path: Path) -> None:
    mart = cascading(tmp_path)
    result = mart.ask("sex", "cause", suppression=2, limits={"sex": 0, "cause": 0})
    assert mart.released() == [{"sex": "m", "cause": "I25"}] * 2
    assert result.rows_suppressed == 2
    assert result.sources["survival"].budget == 2


@pytest.mark.slow
def test_when_that_takes_too_many_rows_the_searches_may_suppress_less(tmp_path: Path) -> None:
    mart = cascading(tmp_path)
    result = mart.ask("sex", "cause", suppression=1, limits={"sex": 0})
    assert result.rows_suppressed == 0
    assert [row["cause"] for row in mart.released()] == ["*"] * 4
    assert result.sources["survival"].budget == 0


def test_when_nothing_else_is_possible_nothing_is_released(tmp_path: Path) -> None:
    mart = cascading(tmp_path)
    with pytest.raises(Infeasible) as refusal:
        mart.ask("sex", "cause", suppression=1, limits={"sex": 0, "cause": 0})
    assert refusal.value.code == "removal-spreads"
    assert not any(letter.isdigit() for letter in refusal.value.what)
    assert not mart.output.exists()


@pytest.mark.slow
def test_demands_on_sensitive_columns_hold_in_the_classes_of_every_source(tmp_path: Path) -> None:
    people = [
        (sex, cause, [("1a", 30)], therapy)
        for sex, cause, therapy in [
            ("m", "I25", "A"),
            ("m", "I25", "A"),
            ("f", "C18", "A"),
            ("f", "C18", "B"),
        ]
    ]
    mart = clinic(tmp_path, people)
    result = mart.ask("sex", "therapy")
    assert result.levels == {"sex": 1}
    assert {row["sex"] for row in mart.released()} == {"*"}
    assert clinic(tmp_path, people).ask("sex").levels == {"sex": 0}


@pytest.mark.slow
def test_without_quasi_identifiers_all_selected_rows_are_one_class(tmp_path: Path) -> None:
    mart = many(tmp_path)
    assert mart.ask("therapy").rows_released == 60
    mart.survival = [(*row[:3], "A") for row in mart.survival]
    with pytest.raises(Infeasible) as refusal:
        mart.ask("therapy")
    assert "all selected rows are one class" in refusal.value.what
    assert "therapy" in refusal.value.what


@pytest.mark.slow
def test_kept_columns_that_tell_too_much_are_warned_of(tmp_path: Path) -> None:
    mart = many(tmp_path)
    found = mart.ask("age", "days", k=5)
    assert {(each.code, each.attribute) for each in found.warnings} == {("kept-unique", "days")}
    assert "Warnings" in str(found)


@pytest.mark.slow
def test_random_ids_are_new_in_each_release_and_one_for_each_person(tmp_path: Path) -> None:
    mart = many(tmp_path, findings=2)
    mart.keys = {"policy": {"overlap": "report"}}
    asked = {"keys": "random", "limits": {"sex": 0}}
    mart.ask("sex", **asked)
    first = [row["person_id"] for row in mart.released()]
    mart.ask("sex", **asked)
    second = [row["person_id"] for row in mart.released()]
    assert len(set(first)) == len(set(second)) == 60
    assert not set(first) & set(second)


@pytest.mark.slow
def test_ids_that_tie_rows_together_as_few_persons_have_them_are_refused(tmp_path: Path) -> None:
    people = [("m", "I25", [("1a", 30), ("2", 30)], "A")]
    people += [("m", "I25", [(stage, 30)], "A") for stage in ("1a", "1a", "2", "2")]
    mart = clinic(tmp_path, people)
    mart.ask("PT", limits={"PT": 0})
    with pytest.raises(Refused) as refusal:
        mart.ask("PT", limits={"PT": 0}, keys="random")
    assert refusal.value.code == "ids-tell"
    assert "some persons" in refusal.value.what


@pytest.mark.slow
def test_kept_columns_that_tie_rows_together_are_refused_like_ids(tmp_path: Path) -> None:
    people = [("m", "I25", [("1a", 30), ("2", 30)], "A")]
    people += [("m", "I25", [(stage, 30)], "A") for stage in ("1a", "1a", "2", "2")]
    mart = clinic(tmp_path, people)
    with pytest.raises(Refused) as refusal:
        mart.ask("PT", "days", limits={"PT": 0})
    assert refusal.value.code == "rows-tied"
    assert "'days'" in refusal.value.what
    one_each = clinic(tmp_path, people[1:])
    assert one_each.ask("PT", "days", limits={"PT": 0}).rows_released == 4


@pytest.mark.slow
def test_rows_without_an_optional_source_stay_and_have_missing_values(tmp_path: Path) -> None:
    mart = many(tmp_path, 8)
    mart.survival = mart.survival[:4]
    mart.keys = {
        "links": [
            {
                "between": {"survival": "Ident", "patient": "PatId"},
                "kind": "one-to-one",
                "optional": "survival",
            },
            {"between": {"findings": "PatId", "patient": "PatId"}, "kind": "many-to-one"},
        ]
    }
    result = mart.ask("sex", "cause", k=2)
    assert result.rows_released == 8
    basic = mart.keys | {"missing": "basic", "policy": {"overlap": "report"}}
    mart.keys = basic
    result = mart.ask("sex", "cause", k=2)
    assert result.rows_released == 4
    assert all(row["cause"] for row in mart.released())
