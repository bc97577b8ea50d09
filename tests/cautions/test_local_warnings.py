"""Warnings about kept columns where the records of a column have labels of several levels."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from recoding.test_local_release import definition_in, write_table
from shoal.cautions.examine import examine_release
from shoal.cautions.recoded import Recoded
from shoal.definition.read import from_mapping
from shoal.engines.frames.source import open_frame
from shoal.errors import Refused
from shoal.pipeline import prepare
from shoal.values import Caution

RECORDS = 8000


def examined(rows: list[tuple[str, str, int]], *, exact: bool = True) -> tuple[Caution, ...]:
    """The warnings for records of an age and a kept value, released at a level of the age.

    The level is told by a second quasi-identifier, which is released as it is.
    """
    table = pa.table(
        {
            "age": [age for age, _, _ in rows],
            "kept": [kept for _, kept, _ in rows],
            "at": [str(level) for _, _, level in rows],
        }
    )
    mapping: dict[str, Any] = {
        "source": "frame",
        "k": 2,
        "recoding": "local",
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10]}},
            "at": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "kept": "keep",
        },
    }
    with closing(open_frame(table)) as source:
        prepared = prepare(from_mapping(mapping), source, file="test", local=True)
        found = prepared.table
        texts = found.attributes[1].hierarchy.labels[0]
        levels = np.zeros((found.tuples, 2), np.int64)
        levels[:, 0] = [int(texts[code]) for code in found.codes[1]]
        recoded = Recoded(found, levels, np.ones(found.tuples, np.bool_))
        above = recoded.levels_above
        chosen = recoded if exact else None
        return examine_release(prepared.definition, source, found, above, chosen)


def test_what_a_column_discloses_within_a_low_label_is_not_lost_under_a_high_one() -> None:
    rows = []
    for i in range(RECORDS):
        age = i // 8 % 100
        rows.append((str(age), str(age % 10), 1) if i % 8 == 0 else (str(age), "x", 2))
    for exact in (True, False):
        (caution,) = examined(rows, exact=exact)
        assert caution.code == "kept-tells-more"
    (caution,) = examined(rows)
    assert caution.records == RECORDS // 8
    assert "the value itself of 1,000" in caution.text


def test_records_whose_own_value_is_released_are_not_disclosed_by_a_copy_of_it() -> None:
    chance = random.Random(1)
    ages = [str(chance.randrange(100)) for _ in range(RECORDS)]
    rows = [(age, f"copy {age}", 0 if i % 4 else 2) for i, age in enumerate(ages)]
    (caution,) = examined(rows)
    assert caution.code == "kept-tells-more"
    at_top = [age for age, _, level in rows if level == 2]
    assert caution.records == len([age for age in at_top if at_top.count(age) > 1])
    (at_most,) = examined(rows, exact=False)
    assert at_most.records >= caution.records
    assert examined([(age, kept, 0) for age, kept, _ in rows]) == ()


def test_a_column_that_is_independent_of_the_labels_has_no_warning() -> None:
    chance = random.Random(1)
    rows = [
        (str(chance.randrange(100)), chance.choice("abc"), chance.randrange(3))
        for _ in range(RECORDS)
    ]
    assert examined(rows) == ()
    assert examined(rows, exact=False) == ()


def test_a_strict_local_definition_refuses_a_column_that_tells_more(tmp_path: Path) -> None:
    write_table(tmp_path, records=400)
    lines = (tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()
    copied = [f"{line},{line.split(',')[1]}" for line in lines[1:]]
    text = "\n".join([f"{lines[0]},copy", *copied]) + "\n"
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    mapping = definition_in(tmp_path)
    mapping["attributes"]["copy"] = "keep"
    result = shoal.run(mapping)
    assert "kept-tells-more" in [each.code for each in result.warnings]
    after = shoal.risk(mapping).after
    assert after is not None
    assert "kept-tells-more" in [each.code for each in after.warnings or ()]
    with pytest.raises(Refused, match="kept-tells-more"):
        shoal.run({**mapping, "strict": True})
