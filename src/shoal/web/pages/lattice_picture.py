"""The lattice as a picture that can be walked through by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nicegui import events, ui

from shoal.web.pages.theme import STATIC


@dataclass(frozen=True)
class ShownNode:
    """A circle: its texts come ready to be shown; `says` is read out."""

    levels: Sequence[int]
    name: str
    k: str
    lost: str
    says: str
    safe: bool
    best: bool = False
    chosen: bool = False


class LatticePicture(ui.element, component=STATIC / "lattice.js"):
    """Rows by height, the most general node at the top. `on_choose` gets the number of a node."""

    def __init__(
        self, nodes: Sequence[ShownNode], label: str, on_choose: Callable[[int], Any]
    ) -> None:
        super().__init__()
        self.props["nodes"] = [asdict(each) for each in nodes]
        self.props["selected"] = -1
        self.props["label"] = label
        self.props["height-word"] = "Height"

        def choose(event: events.GenericEventArguments) -> Any:
            number = event.args
            if isinstance(number, int) and 0 <= number < len(nodes):
                return on_choose(number)
            return None

        self.on("choose", choose)

    def select(self, number: int) -> None:
        """Mark a node as the one that is described."""
        self.props["selected"] = number
        self.update()

    def show(self, nodes: Sequence[ShownNode]) -> None:
        """Show the same nodes with other marks."""
        self.props["nodes"] = [asdict(each) for each in nodes]
        self.update()
