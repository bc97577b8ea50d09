"""What can be demanded of the whole release: of its risk, and against a population."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from shoal.definition.scalars import DefinitionPart, Portion, Wrong, shown
from shoal.definition.sources import SourceChoice  # noqa: TC001 the model needs it


class AboveThreshold(DefinitionPart):
    """How many records may have a risk above a threshold, as a share of the released ones."""

    threshold: float = Field(gt=0, lt=1)
    share: Portion = Field(ge=0, lt=1)


class Risk(DefinitionPart):
    """How high the risk of the released records may be; the risk of one is 1 / its class's size."""

    average: float | None = Field(default=None, gt=0, le=1)
    records_above: AboveThreshold | None = Field(default=None, alias="records above")

    @model_validator(mode="after")
    def _demands_something(self) -> Risk:
        if self.average is None and self.records_above is None:
            raise Wrong(
                "demands nothing",
                "write `average: 0.1` or `records above: {threshold: 0.2, share: 1%}`",
            )
        return self


def _two_shares(value: Any) -> Any:
    """The least and the largest share."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Wrong(
            f"{shown(value)} is no pair of shares", "write the least and the largest: `[0, 0.5]`"
        )
    return value


class Population(DefinitionPart):
    """The table of the people that the records are a part of, and what is demanded against it.

    `k` is demanded of every class there. `presence` has the least and the largest share of the
    population that the records of a class may be.
    """

    source: SourceChoice
    k: int | None = Field(default=None, ge=2)
    presence: Annotated[tuple[Portion, Portion], BeforeValidator(_two_shares)] | None = None

    @model_validator(mode="after")
    def _demands_something(self) -> Population:
        if self.presence is not None:
            least, most = self.presence
            if not 0 <= least <= most <= 1 or most == 0:
                raise Wrong(
                    f"[{least:g}, {most:g}] are no shares that rise from 0 to 1",
                    "write the least and the largest: `presence: [0, 0.5]`",
                )
        if self.k is None and self.presence in (None, (0, 1)):
            raise Wrong("demands nothing", "write `k: 3`, `presence: [0, 0.5]`, or both")
        return self
