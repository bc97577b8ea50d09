"""Weighted information loss of the ANON report: quantifiers of levels times priorities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from shoal.loss.base import Domain


@dataclass(frozen=True)
class Weighted:
    """A level costs the quantifier that the definition gives it (`information loss`).

    Without quantifiers level i of a hierarchy of height h costs i / h. The loss of a node is the
    sum over its attributes of priority times quantifier; suppression is limited but not charged.
    """

    name: ClassVar[str] = "weighted"

    def level_costs(self, domain: Domain) -> tuple[float, ...]:
        if domain.quantifiers is not None:
            return domain.quantifiers
        return tuple(level / max(domain.height, 1) for level in range(domain.height + 1))
