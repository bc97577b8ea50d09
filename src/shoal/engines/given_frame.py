"""Frames that the caller gives, whatever their engine: their releases stay in memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from shoal.engines.base import Source, Staged

if TYPE_CHECKING:
    from shoal.engines.base import Recoding


class StagedFrame(Staged):
    """A release in memory: there is nothing to put in place, the caller takes `frame()`."""

    @abstractmethod
    def frame(self) -> Any:
        """The release."""

    def publish(self) -> str:
        """Nothing to do."""
        return "memory"


class GivenFrame(Source):
    """A frame of the caller's, whose release without a target is a frame of the same kind."""

    @abstractmethod
    def stage_frame(self, recoding: Recoding) -> StagedFrame:
        """The release, as the kind of frame that was given."""
