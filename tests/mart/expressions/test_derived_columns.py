"""Derived columns: values, kinds, missing values and failures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import duckdb
import pytest

from mart.expressions.deriving import derived, values
from shoal.errors import BadData, UserError
from shoal.mart.expressions import FAILED

pytestmark = pytest.mark.slow

PAPER = """(
    SELECT * FROM (VALUES
        (1, 'Mamma', 185, '85', '15.08.2005', DATE '2003-09-23', 'heart attack'),
        (2, 'Colon', 170, '60.5', '', DATE '2004-02-29', NULL),
        (3, NULL, NULL, '90', '19.01.2006', DATE '2005-03-07', 'traffic')
    ) AS t("PrepId", "Loc", height, weight, death, "SendDate", cause)
)"""
MAPS = {"icd": {"heart attack": "I219", "traffic": "V849"}}
BMI = "round(weight / (height / 100) ^ 2)"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"autoload_known_extensions": False}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("days(date(death, 'dd.mm.yyyy'), findings.SendDate)", [692, None, 318]),
        ("date(death, 'dd.mm.yyyy') - SendDate", [692, None, 318]),
        (BMI, [25, 21, None]),
        (f"band({BMI}, [18.5, 25, 30], ['U', 'N', '[25.0,...,29.9] O', 'X'])",
         ["[25.0,...,29.9] O", "N", None]),
        ("lookup(cause, icd)", ["I219", None, "V849"]),
        ("lookup(Loc, icd, 'none')", ["none", "none", None]),
        ("year(SendDate) || '/' || quarter(SendDate)", ["2003/3", "2004/1", "2005/1"]),
        ("weekday(SendDate)", [2, 7, 1]),
        ("decade(SendDate)", [2000, 2000, 2000]),
        ("SendDate + 1", [date(2003, 9, 24), date(2004, 3, 1), date(2005, 3, 8)]),
        ("case when Loc = 'Mamma' then 'm' when Loc is missing then '?' else left(Loc, 2) end",
         ["m", "Co", "?"]),
        ("Loc in ('Mamma', 'Lung')", [True, False, None]),
        ("greatest(height, 180)", [185, 180, None]),
        ("coalesce(height, 0) + 1", [186, 171, 1]),
        ("weight % 2", [1.0, 0.5, 0.0]),
        ("round(weight / 3, 2)", [28.33, 20.17, 30.0]),
        ("PrepId", [1, 2, 3]),
    ],
)  # fmt: skip
def test_an_expression_is_computed_for_every_row(
    connection: duckdb.DuckDBPyConnection, text: str, expected: list[Any]
) -> None:
    assert values(connection, text, PAPER, MAPS) == expected


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("1 / (PrepId - 2)", "division-by-zero", "`1 / (PrepId - 2)` divides by zero in 1 row"),
        ("PrepId % 0", "division-by-zero", "in 3 rows"),
        ("0 ^ -PrepId", "division-by-zero", "in 3 rows"),
        ("(-PrepId) ^ 0.5", "not-a-number", "in 3 rows (3 different values)"),
        ("number(Loc)", "not-a-number", "`Loc` is no number in 2 rows (2 different values)"),
        ("Loc = 1", "not-a-number", "`Loc` is no number in 2 rows"),
        ("year(death)", "not-a-date", "`death` is no date in 2 rows"),
        ("date('31.02.2005', 'dd.mm.yyyy')", "not-a-date", "in 3 rows (1 value)"),
        ("date('0000-00-00')", "not-a-date", "in 3 rows"),
        ("date('0000-01-01')", "not-a-date", "in 3 rows"),
        ("lookup(Loc, icd)", "not-in-map", "finds no entry in 2 rows (2 different values)"),
        ("10 ^ 308 * 10", "overflow", "is too large in 3 rows"),
        ("2 ^ 53 + 1", "overflow", "is too large in 3 rows"),
        ("number('1e999')", "overflow", "is too large in 3 rows"),
        ("SendDate + 3000000", "overflow", "is too large in 3 rows"),
        ("SendDate - 2 ^ 40", "overflow", "is too large in 3 rows"),
    ],
)
def test_a_row_without_a_value_is_an_error_that_counts_rows_and_shows_none(
    connection: duckdb.DuckDBPyConnection, text: str, code: str, part: str
) -> None:
    with pytest.raises(BadData) as raised:
        values(connection, text, PAPER, MAPS)
    assert raised.value.code == code
    assert part in raised.value.what
    assert "derived column 'derived'" in raised.value.what
    assert "Mamma" not in str(raised.value)


def test_a_query_without_the_check_gives_an_error_and_no_value(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    column = derived(connection, "1 / (PrepId - 2)", PAPER)
    with pytest.raises(duckdb.Error, match=FAILED):
        connection.sql(column.query(PAPER)).fetchall()


@pytest.mark.parametrize(
    "text",
    [
        "case when PrepId = 2 then 0 else 1 / (PrepId - 2) end",
        "case when PrepId != 2 then 1 / (PrepId - 2) end",
        "PrepId != 2 and 1 / (PrepId - 2) > 0",
        "PrepId = 2 or 1 / (PrepId - 2) > 0",
        "coalesce(PrepId, 1 / 0)",
        "lookup('traffic', icd, text(1 / 0))",
    ],
)
def test_what_is_not_reached_does_not_fail(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    assert len(values(connection, text, PAPER, MAPS)) == 3


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Loc < 'N'", "have no order"),
        ("least(Loc, death)", "have no order"),
        ("death - weight", "texts are subtracted"),
        ("case when PrepId = 1 then 'a' else 1 end", "different kinds: text and whole number"),
        ("coalesce(SendDate, 'x')", "different kinds: date and text"),
        ("SendDate = 1", "different kinds"),
        ("SendDate + 0.5", "must be a whole number"),
        ("SendDate + SendDate", "a number of days is needed here, not a date"),
        ("1 - SendDate", "a date is needed here, not a whole number"),
        ("SendDate * 2", "a number is needed here, not a date"),
        ("not PrepId", "a condition, true or false, is needed here, not a whole number"),
        ("Loc and true", "a condition"),
        ("Loc = missing", "never true"),
        ("PrepId in (1, missing)", "never true"),
        ("-SendDate", "a number is needed"),
        ("year(PrepId)", "a date is needed"),
        ("lookup(Loc, idc)", "there is no map `idc`"),
    ],
)
def test_kinds_that_do_not_fit_are_a_mistake_before_anything_runs(
    connection: duckdb.DuckDBPyConnection, text: str, part: str
) -> None:
    with pytest.raises(UserError) as raised:
        derived(connection, text, PAPER, MAPS)
    assert raised.value.code == "bad-expression"
    assert part in raised.value.what


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        ("200::UTINYINT", "x + 100", 300),
        ("9007199254740991::BIGINT", "x", 2**53 - 1),
        ("(-5)::HUGEINT", "-x", 5),
        ("5::UHUGEINT", "x ^ 2", 25),
        ("12::DECIMAL(38,0)", "x / 8", 1.5),
        ("0.1::DECIMAL(18,3)", "x * 3", 0.1 * 3),
        ("0.1::FLOAT", "x", 0.1),
        ("'nan'::DOUBLE", "coalesce(x, 7)", 7.0),
        ("'-0.0'::DOUBLE", "x || text(x)", "00"),
        ("TIMESTAMP '2024-02-29 23:59:59'", "x + 1", date(2024, 3, 1)),
        ("TIMESTAMP_NS '2024-02-29 23:59:59'", "days(x, '2023-02-28')", 366),
        ("true", "case when x then 'yes' end", "yes"),
        ("'b'::ENUM('b', 'c''(d')", "x || '!'", "b!"),
        ("'00000000-0000-0000-0000-000000000001'::UUID", "right(x, 2)", "01"),
        ("NULL", "coalesce(x, 'none')", "none"),
        ("''", "x is missing", True),
    ],
)
def test_columns_of_every_type_are_read(
    connection: duckdb.DuckDBPyConnection, column: str, text: str, expected: object
) -> None:
    found = values(connection, text, f"(SELECT {column} AS x)")
    assert found == [expected]
    assert type(found[0]) is type(expected)


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("9007199254740992::BIGINT", "overflow"),
        ("(-9007199254740993)::HUGEINT", "overflow"),
        ("99999999999999999999::DECIMAL(38,0)", "overflow"),
        ("18446744073709551615::UBIGINT", "overflow"),
        ("'inf'::DOUBLE", "not-a-number"),
        ("'-inf'::FLOAT", "not-a-number"),
        ("'infinity'::DATE", "overflow"),
        ("'-infinity'::TIMESTAMP", "overflow"),
        ("DATE '0044-03-15 (BC)'", "overflow"),
        ("DATE '10000-01-01'", "overflow"),
        ("'5877642-06-25 (BC)'::DATE", "overflow"),
    ],
)
@pytest.mark.parametrize("text", ["x", "text(x)", "x - 4000000"])
def test_values_that_expressions_cannot_hold_are_errors(
    connection: duckdb.DuckDBPyConnection, column: str, code: str, text: str
) -> None:
    with pytest.raises(BadData) as raised:
        values(connection, text, f"(SELECT {column} AS x)")
    assert raised.value.code == code


def test_a_column_of_another_type_is_a_mistake(connection: duckdb.DuckDBPyConnection) -> None:
    for column in ("[1, 2]", "{'a': 1}", "TIME '12:00:00'", "'a'::BLOB", "now()", "INTERVAL 1 DAY"):
        with pytest.raises(UserError, match="which expressions do not read"):
            derived(connection, "x", f"(SELECT {column} AS x)")


@pytest.mark.parametrize(
    ("number", "digits", "expected"),
    [
        ("2.5", 0, 3), ("-2.5", 0, -3), ("0.5", 0, 1), ("-0.4", 0, 0), ("1.005", 2, 1.01),
        ("2.675", 2, 2.68), ("24.84", 0, 25), ("4.999999999999999e-07", 6, 0.0),
        ("0.0000005", 6, 0.000001), ("999999999999999.5", 0, 10**15), ("1e15", 2, 1e15),
        ("4503599627370495.5", 0, 4503599627370496), ("1e300", 1, 1e300), ("0.1", 6, 0.1),
    ],
)  # fmt: skip
def test_rounding_is_half_away_from_zero_of_the_number_as_it_is_written(
    connection: duckdb.DuckDBPyConnection, number: str, digits: int, expected: float
) -> None:
    text = f"round(x, {digits})" if digits else "round(x)"
    assert values(connection, text, f"(SELECT '{number}' AS x)") == [expected]


@pytest.mark.parametrize(
    "text", ["1.000,5", "1,000", " 1", "1 ", "1_000", "0x10", "1e", ".5", "5.", "--1", "nan",
             "inf", "NULL", "1;2", "١", "１", "1\n", "1e5.5", "+-1"],
)  # fmt: skip
def test_numbers_in_texts_are_read_strictly(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    connection.execute("CREATE TABLE t AS SELECT ? AS x", [text])
    with pytest.raises(BadData) as raised:
        values(connection, "number(x)", "t")
    assert raised.value.code == "not-a-number"


@pytest.mark.parametrize(
    ("text", "layout", "expected"),
    [
        ("2024-02-29", "yyyy-mm-dd", date(2024, 2, 29)),
        ("29.02.2024", "dd.mm.yyyy", date(2024, 2, 29)),
        ("02/29/2024", "mm/dd/yyyy", date(2024, 2, 29)),
        ("1.2.2024", "d.m.yyyy", date(2024, 2, 1)),
        ("11.12.2024", "d.m.yyyy", date(2024, 12, 11)),
        ("20240229", "yyyymmdd", date(2024, 2, 29)),
        ("29.02.2023", "dd.mm.yyyy", None),
        ("29.02.1900", "dd.mm.yyyy", None),
        ("31.04.2024", "dd.mm.yyyy", None),
        ("00.00.0000", "dd.mm.yyyy", None),
        ("1.2.2024", "dd.mm.yyyy", None),
        ("2024-2-9", "yyyy-mm-dd", None),
        ("2024-02-29 00:00:00", "yyyy-mm-dd", None),
        ("29-02-2024", "dd.mm.yyyy", None),
        ("2024-13-01", "yyyy-mm-dd", None),
        ("infinity", "yyyy-mm-dd", None),
        ("2024-02-29 (BC)", "yyyy-mm-dd", None),
    ],
)
def test_dates_in_texts_are_read_strictly(
    connection: duckdb.DuckDBPyConnection, text: str, layout: str, expected: date | None
) -> None:
    relation, expression = f"(SELECT '{text}' AS x)", f"date(x, '{layout}')"
    if expected is not None:
        assert values(connection, expression, relation) == [expected]
        return
    with pytest.raises(BadData) as raised:
        values(connection, expression, relation)
    assert raised.value.code == "not-a-date"


def test_a_derived_column_can_read_another_one(connection: duckdb.DuckDBPyConnection) -> None:
    bmi = derived(connection, BMI, PAPER)
    relation = f"({bmi.query(PAPER)})"
    assert values(connection, "derived >= 25", relation) == [True, False, None]


def test_all_columns_and_rows_of_the_relation_stay(connection: duckdb.DuckDBPyConnection) -> None:
    names = '"a ""b", "shoal_step_0", "SHOAL_STEP__1", k, v, r, failure'
    relation = (
        f"(SELECT * FROM (VALUES (2, 0, 0, 1, 2, 3, 4), (1, 0, 0, 1, 2, 3, 4)) AS t({names}))"
    )
    column = derived(
        connection, "lookup(`a \"b`, m, 'x') || 1 / `a \"b`", relation, {"m": {"1": "one"}}
    )
    rows = connection.sql(column.query(relation))
    assert rows.columns[-1] == "derived"
    assert len(rows.columns) == 8
    assert rows.order("1").fetchall() == [
        (1, 0, 0, 1, 2, 3, 4, "one1"),
        (2, 0, 0, 1, 2, 3, 4, "x0.5"),
    ]
    assert connection.sql(column.failures(relation)).fetchall() == []


def test_a_map_with_many_entries_is_looked_up_fast(connection: duckdb.DuckDBPyConnection) -> None:
    entries = {f"K{number}": f"V{number % 7}" for number in range(20_000)}
    relation = "(SELECT i, 'K' || (i % 20000) AS x FROM range(200000) AS t(i))"
    found = values(connection, "lookup(x, many)", relation, {"many": entries})
    assert found[:8] == [f"V{number % 7}" for number in range(8)]
    assert len(found) == 200_000
