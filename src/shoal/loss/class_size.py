"""Average class size: few large classes carry less information than many small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from shoal.values import Ints


@dataclass(frozen=True)
class ClassSize:
    """Records of the table per released class.

    Suppressed records count as records but form no class, so suppression alone never lowers it.
    """

    name: ClassVar[str] = "class-size"

    def class_loss(self, sizes: Ints, suppressed: int, records: int) -> float:  # noqa: ARG002
        return records / max(len(sizes), 1)

    def least(self, finest: Ints, dropped: int, records: int) -> float:
        """No more classes than the finest, nor than records that stay."""
        return records / max(min(len(finest), records - dropped), 1)
