"""What came of the trials of one kind, and the table of all kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from prove.trial import Outcome


@dataclass
class Tally:
    """What came of the trials of one kind so far."""

    kind: str
    next_seed: int
    seconds: float = 0.0
    trials: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, seed: int, outcome: Outcome) -> None:
        """Count a trial that has ended."""
        self.trials += 1
        self.seen.update(outcome.seen)
        if outcome.failure:
            self.failures.append((seed, outcome.failure))
        elif outcome.declined:
            self.declined[outcome.declined] += 1

    @property
    def note(self) -> str:
        """The first failure; else what was counted, and why trials were declined."""
        if self.failures:
            seed, failure = self.failures[0]
            return f"seed {seed}: {failure.strip().splitlines()[-1][:120]}"
        return ", ".join(filter(None, [self.counted, _counts(self.declined, 3)]))

    @property
    def counted(self) -> str:
        """What the trials tried, most frequent first."""
        return _counts(self.seen)


def _counts(counter: Counter[str], most: int | None = None) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counter.most_common(most) if count)


def table(tallies: Sequence[Tally]) -> str:
    """The tallies, a line for each kind."""
    lines = [f"{'kind':<12} {'trials':>7} {'failures':>9} {'declined':>9} {'seconds':>8}  note"]
    for each in tallies:
        numbers = f"{each.trials:>7} {len(each.failures):>9} {each.declined.total():>9}"
        lines.append(f"{each.kind:<12} {numbers} {each.seconds:>8.0f}  {each.note}".rstrip())
    return "\n".join(lines)
