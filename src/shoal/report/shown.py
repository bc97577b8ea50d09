"""Values that people look at: text in a terminal, a card in a notebook, a data frame, a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.local_files import write_whole
from shoal.errors import UserError
from shoal.report.drawing import standing_alone
from shoal.report.render import html_card, plain_sections

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

    from shoal.report.sections import Section


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing as SVG that needs nothing from outside. A notebook shows it by itself."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the SVG file in one step."""
        write_whole(standing_alone(self.svg) + "\n", Path(path))

    def __repr__(self) -> str:
        return "a picture: a notebook shows it, .save(path) writes it as SVG"

    def _repr_svg_(self) -> str:
        return standing_alone(self.svg)


def data_frame(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Rows as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError:
        what = "pandas is not installed, so there is no data frame to make"
        raise UserError(what, code="no-pandas", hint="pip install pandas") from None
    return pd.DataFrame.from_records(list(records))


class Shown(ABC):
    """What a value says of itself, once, for the terminal, notebooks and data frames.

    A value that is safe or not says so by `verified`; its card has that colour. A dataclass that
    is shown has `repr=False`, so that Python's prompt shows the same tables.
    """

    verified = True

    @abstractmethod
    def sections(self) -> Sequence[Section]:
        """Titles, sentences and tables; the first section without a title is the verdict."""

    @abstractmethod
    def records(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the value as plain values, a mapping from column to value for each."""

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame."""
        return data_frame(self.records())

    def __str__(self) -> str:
        return plain_sections(self.sections())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_card(self.sections(), verified=self.verified)
