"""What can be demanded of the risk of the whole release."""

from __future__ import annotations

from pydantic import Field, model_validator

from shoal.definition.scalars import DefinitionPart, Portion, Wrong


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
