"""Small random problems for hypothesis: rows with missing cells, nested hierarchies, demands."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from oracle import Ladder, Row


@dataclass(frozen=True)
class Case:
    """A table with its hierarchies and demands."""

    rows: tuple[Row, ...]
    ladders: tuple[Ladder, ...]
    limits: tuple[int, ...]
    priorities: tuple[Fraction, ...]
    k: int
    suppression: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"q{j}" for j in range(len(self.ladders)))


@st.composite
def ladders(draw: st.DrawFn) -> Ladder:
    """A nested hierarchy over a few values: each level merges groups of the one below."""
    values = [f"v{i}" for i in range(draw(st.integers(1, 5)))]
    steps = {value: [value] for value in values}
    groups = {value: i for i, value in enumerate(values)}
    for level in range(1, draw(st.integers(0, 3)) + 1):
        merged = {group: draw(st.integers(0, 2)) for group in sorted(set(groups.values()))}
        groups = {value: merged[group] for value, group in groups.items()}
        for value in values:
            steps[value].append(f"l{level}g{groups[value]}")
    if draw(st.booleans()):
        for value in values:
            steps[value].append("*")
    return Ladder({value: tuple(labels) for value, labels in steps.items()})


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A problem small enough for exhaustive plain Python."""
    hierarchies = tuple(draw(st.lists(ladders(), min_size=1, max_size=3)))
    cells = [st.sampled_from([*ladder.steps, None]) for ladder in hierarchies]
    rows = tuple(draw(st.lists(st.tuples(*cells), min_size=1, max_size=14)))
    priority = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4)])
    return Case(
        rows,
        hierarchies,
        tuple(draw(st.integers(0, ladder.height)) for ladder in hierarchies),
        tuple(draw(priority) for _ in hierarchies),
        draw(st.integers(2, 4)),
        draw(st.integers(0, 6)),
    )
