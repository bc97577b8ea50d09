"""The statements for systems that no test has a server of: they compile, and say what they must."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mssql, mysql, oracle, postgresql, sqlite

from shoal.engines.base import Generalization, Question, Recoding
from shoal.engines.database import counting
from shoal.engines.database.fields import DATE, DECIMAL, INTEGER, REAL, TEXT, Field
from shoal.engines.database.labels import Scratch
from shoal.engines.database.recoding import recoded
from shoal.engines.database.relation import Relation
from shoal.engines.database.session import Session

DIALECTS: dict[str, Any] = {
    "mssql": mssql.dialect,
    "mysql": mysql.dialect,
    "oracle": oracle.dialect,
    "postgresql": postgresql.dialect,
    "sqlite": sqlite.dialect,
}
FIELDS = tuple(
    Field(name, kind)
    for name, kind in (("x", TEXT), ("n", INTEGER), ("d", DECIMAL), ("f", REAL), ("t", DATE))
)


class Offline:
    """A session without a server: it writes down what it would run."""

    def __init__(self, system: str) -> None:
        self.system = system
        self.said: list[str] = []
        self.connection = SimpleNamespace(dialect=DIALECTS[system](), execute=lambda *_: None)
        self.driver = SimpleNamespace(cursor=self._cursor)

    def sql(self, statement: Any) -> str:
        told = {"literal_binds": True}
        return str(statement.compile(dialect=self.connection.dialect, compile_kwargs=told))

    def run(self, statement: Any) -> None:
        self.said.append(statement if isinstance(statement, str) else self.sql(statement))

    def rows(self, statement: Any) -> list[tuple[Any, ...]]:
        self.run(statement)
        return [(0,)]

    def working(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def attend(self, work: Callable[[], Any]) -> Any:
        return work()

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        copy = contextlib.nullcontext(SimpleNamespace(write=lambda _: None))
        yield SimpleNamespace(copy=lambda _: copy)


def relation(system: str) -> Relation:
    source = sa.table("patients", *(sa.column(field.name) for field in FIELDS)).alias("source")
    return Relation("patients", system, source, FIELDS)


@pytest.mark.parametrize("system", DIALECTS)
def test_counting_and_recoding_compile(system: str) -> None:
    offline = Offline(system)
    session = cast(Session, offline)
    labels = {"x": Generalization(("a",), ("*",), "*"), "n": Generalization((), ())}
    plan = Recoding(("x", "n", "d", "f", "t"), labels, pa.table({"x": ["*"], "n": ["1"]}), ("x",))
    question = Question(("x", "n", "t"), ("NA",), {"x": labels["x"]}, ("t",), 5)
    with Scratch(session) as scratch:
        made = recoded(session, scratch, relation(system), plan, into_table=True)
        text = offline.sql(made.query)
        shape = offline.sql(made.shape)
    assert counting.count_distinct(session, relation(system), question) == 0
    assert "ORDER BY" in text
    assert any("GROUP BY" in statement for statement in offline.said)
    assert shape
    assert any("CREATE" in statement and "shoal_" in statement for statement in offline.said)
    assert any("DROP TABLE" in statement for statement in offline.said)


@pytest.mark.parametrize("system", DIALECTS)
def test_a_value_without_a_label_stops_the_statement(system: str) -> None:
    offline = Offline(system)
    session = cast(Session, offline)
    plan = Recoding(("x",), {"x": Generalization(("a",), ("*",))}, pa.table({"x": ["*"]}), ())
    with Scratch(session) as scratch:
        text = offline.sql(recoded(session, scratch, relation(system), plan).query)
    stops = {"sqlite": "shoal_stop()", "postgresql": "left(records.t0, 0)"}
    assert (
        stops.get(system, "(SELECT ascii(records.t0) UNION ALL SELECT ascii(records.t0))") in text
    )
