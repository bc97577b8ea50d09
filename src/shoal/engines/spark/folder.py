"""A folder of files written by Spark, staged until it is published."""

from __future__ import annotations

import contextlib
import re
import secrets
from typing import TYPE_CHECKING

from shoal.engines.base import Staged
from shoal.engines.local_files import HIDDEN, owned
from shoal.engines.spark.reading import read_written
from shoal.engines.spark.relation import relation_of
from shoal.engines.spark.source import SparkSource
from shoal.engines.spark.storage import Folder
from shoal.engines.spark.writing import OPTIONS, prepared
from shoal.errors import BadOutput, UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from shoal.engines.options import SparkTarget
    from shoal.engines.spark.session import Session

_OF_SPARK = re.compile(r"part-.*|[._].*")
"""Names in a folder that Spark wrote."""


def check_folder(target: SparkTarget, session: Session) -> None:
    """Refuse a folder that is there already, unless it may be replaced, or cannot be made."""
    final = Folder(session, target.name)
    final.sweep()
    if final.exists():
        _check_replaceable(target, final)
    probe = final.beside(f"{owned(HIDDEN)}{secrets.token_hex(4)}")
    try:
        probe.make_private()
        probe.remove()
    except UserError:
        raise BadOutput(
            f"Spark cannot make a folder beside the output {target.name}",
            code="output-folder-not-writable",
            hint="change the permissions there, or choose another output",
        ) from None


def _check_replaceable(target: SparkTarget, final: Folder) -> None:
    if not target.replace:
        raise BadOutput(
            f"the output {target.name} is there already",
            code="folder-exists",
            hint="say replace: true to replace it, or choose another output",
        )
    strangers = [final.name] if not final.is_folder() else final.entries()
    strangers = [name for name in strangers if not _OF_SPARK.fullmatch(name)]
    if strangers:
        raise BadOutput(
            f"the output {target.name} is there already, and Spark did not write {strangers[0]!r}",
            code="output-not-replaceable",
            hint="only a folder that Spark wrote is replaced; choose another, or empty it yourself",
        )


class StagedSparkFolder(Staged):
    """A hidden folder beside the output, which only its owner can look into.

    `owns_session` says that the session is given back once nobody needs the folder.
    """

    def __init__(
        self, target: SparkTarget, kind: str, session: Session, *, owns_session: bool
    ) -> None:
        self._target = target
        self._kind = kind
        self._session = session
        self._owns_session = owns_session
        self._schema: StructType | None = None
        self._final = Folder(session, target.name)
        self._staged = self._final.beside(f"{owned(HIDDEN)}{secrets.token_hex(4)}")
        self._staged.make_private()

    def write(self, frame: DataFrame, names: tuple[str, ...], name: str) -> None:
        """Write the columns r0, r1, ... of a frame under these names, after what is there."""

        def work() -> None:
            ready = prepared(frame, names, self._kind)
            self._schema = ready.schema
            options = OPTIONS.get(self._kind, {})
            ready.write.mode("append").format(self._kind).options(**options).save(self._staged.path)

        self._session.run(work, name, f"the output {self._target.name}")
        self._number_files()
        self._staged.remove_checksums()

    def _number_files(self) -> None:
        """Name new files by their order alone: Spark's own names are random.

        What is written later comes later, and within one write Spark's names begin in order.
        """
        names = self._staged.entries()
        done = [name for name in names if re.match(r"part-[0-9]+\.", name)]
        new = [name for name in names if re.match(r"part-[0-9]+-", name)]
        for number, name in enumerate(new, start=len(done)):
            _, _, ending = name.partition(".")
            self._staged.rename_entry(name, f"part-{number:05d}.{ending}")

    def source(self) -> SparkSource:
        """The staged files, opened afresh.

        In CSV an empty text and a missing value are the same.
        """

        def read() -> DataFrame:
            assert self._schema is not None  # written before it is read  # noqa: S101
            return read_written(self._session.spark, self._staged.path, self._kind, self._schema)

        frame = self._session.run(read, self._target.name)
        relation = relation_of(frame, self._target.name, stored=self._kind != "csv")
        return SparkSource(self._session.shared(), relation)

    def publish(self) -> str:
        """Open it to those who may look, and put it into place."""
        try:
            self._staged.open_to_others()
            self._staged.take_the_place_of(self._final)
        except (OSError, UserError):
            self.discard()
            raise BadOutput(
                f"the output {self._target.name} cannot be put in place",
                code="output-not-published",
                hint="see that its folder is still there, is writable and has space",
            ) from None
        return self._target.name

    def discard(self) -> None:
        """Remove it; harmless after publish or when called twice."""
        with contextlib.suppress(UserError):
            self._staged.remove()
        if self._owns_session:
            self._session.close()
