"""What a person is asked before a local recoding is released, and what they may not choose."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import shoal
from recoding.test_local_release import NAMES, definition_in, released, write_table
from shoal.errors import UserError
from shoal.report.proposal import Proposal


def test_a_person_is_asked_about_labels_of_mixed_levels(tmp_path: Path) -> None:
    write_table(tmp_path, missing=True)
    proposals: list[Proposal] = []

    def yes(proposal: Proposal) -> bool:
        assert not (tmp_path / "release.csv").exists()
        proposals.append(proposal)
        return True

    result = shoal.run(definition_in(tmp_path, suppression="5%"), ask=yes)
    rows = released(tmp_path)
    (proposal,) = proposals
    classes = Counter(tuple(row[name] or "missing" for name in NAMES) for row in rows)
    sizes = sorted(classes.values(), reverse=True)
    assert [each.records for each in proposal.largest] == sizes[:3]
    assert all(classes[each.labels] == each.records for each in proposal.largest)
    for example in proposal.examples:
        labels = Counter(row[example.attribute] or "missing" for row in rows)
        assert labels[example.after] == max(labels.values())
        assert example.labels == len(labels)
        assert example.level in result.levels[example.attribute]
    shown = str(proposal)
    for name in NAMES:
        assert result.treatments[name].shown_level in shown


def test_a_raw_value_is_shown_only_where_k_records_have_it_and_the_label(tmp_path: Path) -> None:
    rows = [*["1"] * 6, *["2"] * 3, *["3"] * 3]
    (tmp_path / "data.csv").write_text("\n".join(["code", *rows, ""]), encoding="utf-8")
    proposals: list[Proposal] = []
    definition = {
        "source": str(tmp_path / "data.csv"),
        "output": str(tmp_path / "release.csv"),
        "k": 4,
        "recoding": "local",
        "attributes": {"code": {"role": "quasi-identifier", "hierarchy": "suppress"}},
    }

    def no(proposal: Proposal) -> bool:
        proposals.append(proposal)
        return False

    with pytest.raises(shoal.ShoalError) as declined:
        shoal.run(definition, ask=no)
    assert declined.value.code == "declined"
    assert not (tmp_path / "release.csv").exists()
    (code,) = proposals[0].examples
    assert (code.before, code.after, code.level, code.labels) == ("1", "1", 0, 2)


def test_a_node_cannot_be_chosen_and_the_reason_is_given(tmp_path: Path) -> None:
    write_table(tmp_path)
    with pytest.raises(UserError, match="one level for each column") as error:
        shoal.run(definition_in(tmp_path), node={"zip": 1, "age": 1, "sex": 1})
    assert error.value.code == "full-domain-only"
    assert not (tmp_path / "release.csv").exists()
