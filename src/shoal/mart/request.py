"""A request R(projection, selection) to a data mart: one frozen model of the file's keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from shoal.definition.demands import Diversity  # noqa: TC001 the model needs it
from shoal.definition.locations import Names  # noqa: TC001 the model needs it
from shoal.definition.model import LossChoice, Search
from shoal.definition.outputs import OutputChoice  # noqa: TC001 the model needs it
from shoal.definition.scalars import DefinitionPart, FilePath, Share, Text
from shoal.mart.conditions import OPERATORS, Condition, conditions_of, parse_condition

__all__ = ["OPERATORS", "Condition", "Request", "parse_condition"]

Priority: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Limit: TypeAlias = Annotated[int, Field(ge=0)]


class Request(DefinitionPart):
    """What is asked: columns, records, and how far each column may be generalized.

    Columns are named as `Catalog.find` understands them; `genes.*` in `project` is all of a source.
    Without `k` the policy's holds. Without `loss` it is `weighted`, in local recoding `iyengar`:
    that needs a loss of cells. `diversity` is demanded of every projected sensitive column,
    beside what the catalog demands.
    """

    asker: Text | None = None
    purpose: Text | None = None
    project: Names = Field(min_length=1)
    select: Annotated[tuple[Condition, ...], BeforeValidator(conditions_of)] = ()
    k: int | None = Field(default=None, ge=2)
    suppression: Share = 0
    scope: Literal["source", "joint"] = "source"
    recoding: Literal["full-domain", "local"] = "full-domain"
    search: Search = Search()
    loss: LossChoice | None = None
    priorities: Mapping[Text, Priority] = Field(default_factory=dict)
    limits: Mapping[Text, Limit] = Field(default_factory=dict)
    keys: Literal["drop", "random"] = "drop"
    diversity: Diversity | None = None
    output: OutputChoice | None = None
    report: FilePath | None = None

    @property
    def demanded_loss(self) -> LossChoice:
        """The loss that is asked for, or the one that suits the recoding."""
        if self.loss is not None:
            return self.loss
        return LossChoice(name="iyengar" if self.recoding == "local" else "weighted")


RequestLike: TypeAlias = Request | Mapping[str, object] | str | Path
"""A request to a data mart; or what one is read from."""
