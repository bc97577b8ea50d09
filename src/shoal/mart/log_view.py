"""The log as people see it: a table of the requests, and what a check found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.report.sections import Section
from shoal.report.shown import Shown

if TYPE_CHECKING:
    from shoal.mart.log_chain import Entry, Fault


@dataclass(frozen=True, repr=False)
class LogTable(Shown):
    """All requests in the order in which they were answered."""

    entries: tuple[Entry, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: every entry as the log has it."""
        return {"entries": [entry.to_dict() for entry in self.entries]}

    def sections(self) -> Sequence[Section]:
        """How many requests there were, then a table of them."""
        released = sum(entry.kind == "released" for entry in self.entries)
        total = _count(len(self.entries), "request", "requests")
        keys = ("number", "time", "asker", "kind", "rows", "k", "reason")
        rows = tuple(tuple(_cell(each[key]) for key in keys) for each in self.records())
        heading = ("entry", "time (UTC)", *keys[2:])
        table = Section("Requests", (), heading, rows, numbers=(0, 4, 5))
        return Section("", (f"{total}, {released:,} released.",)), *((table,) if rows else ())

    def records(self) -> list[dict[str, Any]]:
        """A row for each request."""
        return [
            {
                "number": entry.number,
                "time": entry.time.removesuffix("+00:00").replace("T", " "),
                "asker": entry.asker,
                "kind": entry.kind,
                "rows": (entry.result or {}).get("rows_released"),
                "k": (entry.recipe or {}).get("k"),
                "reason": entry.reason and f"{entry.reason} [{entry.code}]",
                "digest": entry.digest,
            }
            for entry in self.entries
        ]


@dataclass(frozen=True, repr=False)
class LogCheck(Shown):
    """What a check of a log found.

    `last` is the digest of the last entry. `lacking` are digests that the log was to have. An
    `unfinished` entry is what a crash left; the next append removes it.
    """

    entries: int
    last: str
    faults: tuple[Fault, ...] = ()
    lacking: tuple[str, ...] = ()
    unfinished: bool = False

    @property
    def verified(self) -> bool:  # type: ignore[override]
        """Whether the log is as it was written, and has all the digests."""
        return not self.faults and not self.lacking

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"whole": self.verified, **asdict(self)}

    def sections(self) -> Sequence[Section]:
        """The verdict, then what is wrong."""
        total = _count(self.entries, "entry", "entries")
        last = f", the last is {self.last}" if self.entries else ""
        verdict = f"The log is whole: {total}{last}."
        if not self.verified:
            verdict = "The log is not as it was written, so every request is refused."
        if not self.faults and self.lacking:
            verdict = f"The log is a whole chain of {total}, but not the one that was kept."
        notes = ["A crash left an unfinished entry. The next append removes it."] * self.unfinished
        wrong = tuple(each["what"] for each in self.records())
        found = Section("What is wrong", wrong) if wrong else None
        return Section("", (verdict, *notes)), *((found,) if found else ())

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each fault, and for each digest that is not there."""
        faults = [{"entry": each.entry, "what": f"{each!s}."} for each in self.faults]
        lacking = [{"entry": None, "what": f"No entry has the digest {d}."} for d in self.lacking]
        return [*faults, *lacking]


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
