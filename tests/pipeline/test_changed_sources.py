"""A source that changes between two steps of a run is refused, and nothing is released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.events import Phase

ATTRIBUTES = {"age": {"role": "quasi-identifier", "hierarchy": {"mask": [1, 2]}}, "ward": "keep"}
PEOPLE = "age,ward\n" + "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40))
OTHERS = "age,ward\n" + "".join(f"{60 + i // 4},{'ab'[i % 2]}\n" for i in range(40))


@pytest.mark.parametrize("phase", ["search", "warn", "release"])
@pytest.mark.parametrize("changed", ["", "age,ward\n", OTHERS, PEOPLE + PEOPLE.partition("\n")[2]])
def test_what_was_not_counted_is_not_released(tmp_path: Path, phase: str, changed: str) -> None:
    source, output = tmp_path / "people.csv", tmp_path / "release.csv"
    source.write_text(PEOPLE, encoding="utf-8")
    output.write_text("the old release", encoding="utf-8")

    def change(event: Any) -> None:
        if isinstance(event, Phase) and event.name == phase:
            source.write_text(changed, encoding="utf-8")

    definition = {"source": str(source), "output": str(output), "k": 2, "attributes": ATTRIBUTES}
    with pytest.raises(shoal.BadData) as refused:
        shoal.run(definition, observe=change)
    assert refused.value.code == "source-changed"
    assert output.read_text(encoding="utf-8") == "the old release"
