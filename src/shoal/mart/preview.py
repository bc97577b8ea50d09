"""What a request would release, without a release: for who decides on it, and for who asks.

`preview` is for the owner of the mart: the whole run, with a copy of the log in place of the log,
into a folder that is removed. So it is as exact as the release, and nothing is left of it.

`estimate` is for the asker. Exact counts of many selections would tell of single persons: those of
two selections that differ in one condition do. So an asker gets the order of magnitude of the rows
and the levels, the refusals that the request itself would get (a selection of nobody and one of
fewer than k persons are one answer), and every estimate is an entry in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from shoal.calling.public import public
from shoal.errors import Bug, ShoalError
from shoal.mart.comparing import overlap_refused
from shoal.mart.log import Log
from shoal.mart.pipeline import Observer, load_catalog, load_request, request
from shoal.mart.recording import as_asked, reason_of

if TYPE_CHECKING:
    from shoal.calling.argument_types import SparkSession
    from shoal.mart.catalog import CatalogLike
    from shoal.mart.request import RequestLike
    from shoal.mart.result import MartResult


ESTIMATED = "estimated"
"""The kind of the log's entry of an estimate."""


@dataclass(frozen=True)
class Preview:
    """What a request would lead to.

    `refusal` says why the mart would not release it. `result` is what the release would be; it is
    None where the request ends before that. An overlap that the policy refuses has both.
    """

    result: MartResult | None
    refusal: ShoalError | None

    @property
    def released(self) -> MartResult:
        """The result of a request that would be released."""
        if self.refusal is not None:
            raise self.refusal
        if self.result is None:
            raise Bug("a preview has neither a result nor a refusal", code="bug")
        return self.result


@dataclass(frozen=True)
class Estimate:
    """About how many rows a request would release, and at which levels.

    The number of rows is between `at_least`, a power of ten or k, and `at_most`. In local recoding
    a column has several levels; the rows at each are not counted.
    """

    at_least: int
    at_most: int
    levels: Mapping[str, int | list[int]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@public("mart.preview")
def preview(
    catalog: CatalogLike,
    asked: RequestLike,
    *,
    asker: str,
    folder: Path | None = None,
    observe: Observer | None = None,
    spark: SparkSession | None = None,
) -> Preview:
    """What a request would release, and what would refuse it; nothing is released or logged.

    The files of the run are in a new folder inside `folder`, which is gone at the end.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.
        asked: The request, in the same forms.
        asker: Who asks.
        folder: Where the files of the run are meanwhile, by default where temporary files go.
        observe: Called with every event. Without it a notebook shows the progress.
        spark: The session for what is read in Spark, else one is made.

    Example:
        >>> shoal.mart.preview("catalog.yaml", "request.yaml", asker="study").refusal is None
        True
    """
    mart = load_catalog(catalog)
    with TemporaryDirectory(prefix="preview-", dir=folder) as name:
        inside = Path(name)
        Log(mart.log).copy_to(inside / "log.jsonl")
        policy = mart.policy.model_copy(update={"overlap": "report"})
        copied = mart.model_copy(update={"log": inside / "log.jsonl", "policy": policy})
        written = load_request(asked).model_copy(update={"output": None, "report": None})
        try:
            result = request(
                copied,
                written,
                output=inside / "release.parquet",
                asker=asker,
                observe=observe,
                spark=spark,
            )
        except ShoalError as error:
            return Preview(None, error)
    result = replace(result, output=None, output_sha256=None, digest=None)
    refuses = bool(result.overlaps) and mart.policy.overlap == "refuse"
    return Preview(result, overlap_refused(result.overlaps) if refuses else None)


@public("mart.estimate")
def estimate(
    catalog: CatalogLike,
    asked: RequestLike,
    *,
    asker: str,
    folder: Path | None = None,
    observe: Observer | None = None,
    spark: SparkSession | None = None,
) -> Estimate:
    """About what a request would release, for its asker; the error that would refuse it else.

    The log gets an entry in both cases, before the asker is answered.

    Args:
        catalog: The catalog, or the path of its file, or a mapping with its keys.
        asked: The request, in the same forms.
        asker: Who asks.
        folder: Where the files of the run are meanwhile, by default where temporary files go.
        observe: Called with every event. Without it a notebook shows the progress.
        spark: The session for what is read in Spark, else one is made.

    Example:
        >>> about = shoal.mart.estimate("catalog.yaml", "request.yaml", asker="study")
        >>> about.at_least <= about.at_most
        True
    """
    mart, written = load_catalog(catalog), load_request(asked)
    log = Log(mart.log)
    log.entries()
    found = preview(mart, written, asker=asker, folder=folder, observe=observe, spark=spark)
    entry: dict[str, Any] = {"kind": ESTIMATED, "asker": asker, "request": as_asked(written)}
    refusal = found.refusal
    if refusal is not None:
        code, reason = reason_of(refusal)
        log.append({**entry, "code": code, "reason": reason})
        raise refusal
    about = _about(found.released)
    log.append({**entry, "result": about.to_dict()})
    return about


def _about(result: MartResult) -> Estimate:
    """The power of ten below the number of rows, but at least k, and the one above."""
    power = 10 ** (len(str(result.rows_released)) - 1)
    levels = {
        name: level if isinstance(level, int) else sorted(level)
        for name, level in result.levels.items()
    }
    return Estimate(max(result.k, power), 10 * power - 1, levels)
