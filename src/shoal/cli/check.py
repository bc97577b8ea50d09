"""`shoal check`: how anonymous is a file as it stands?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.addresses import DATA, Master, Query, Spark, Table, address_of
from shoal.cli.file_options import Decimal, Header, Sheet, decimal_mark, header_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from shoal.measure.disclosure import Disclosure
    from shoal.measure.table import Measure

EXAMPLES = """
\b
Examples:
  shoal check patients.csv --qi zip,birth,sex
  shoal check patients.csv --qi zip,birth,sex --k 5 --missing-value "?" --json
  shoal check release.csv --qi zip,birth,sex --sensitive diagnosis,ward --l 3
  shoal check release.csv --qi zip --sensitive diagnosis --hierarchy diagnosis=icd.csv --t 0.3
  shoal check patients.csv --qi zip,birth,sex --missing all --k 5
  shoal check visits.csv --qi zip,birth,sex --person patient_id --k 5
  shoal check sqlite:///clinic.db --table visits --qi zip,birth,sex
  shoal check registry.visits --spark --qi zip,birth,sex
  shoal check "parts/*.parquet" --qi age --qi "home, town"

A column whose name has a comma needs an option of its own. --l, --t and what follows them are
demanded of every sensitive attribute. With `--missing all`, k is that of extended match. Exit
codes: 0 measured, and all that was demanded is reached; 2 the file or a column is wrong; 4 not
reached.
"""


class Match(StrEnum):
    """What a missing quasi-identifier matches."""

    BASIC = "basic"
    EXTENDED = "extended"
    MAYBE = "maybe"
    RIGHT_MAYBE = "right-maybe"
    ALL = "all"


class Distance(StrEnum):
    """The distance that --t speaks of."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


class Counted(StrEnum):
    """What a missing sensitive value counts as."""

    NONE = "none"
    VALUE = "value"


def check(
    data: Annotated[str, typer.Argument(help=DATA)],
    qi: Annotated[
        list[str],
        typer.Option("--qi", help="Quasi-identifiers, separated by commas; may be repeated."),
    ],
    person: Annotated[
        list[str] | None,
        typer.Option(help="Columns that identify a person: classes then count persons."),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(help="Sensitive attributes, separated by commas; may be repeated."),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(help="attribute=file.csv: a tree for hierarchical distance; repeatable."),
    ] = None,
    missing: Annotated[
        Match, typer.Option(help="What a missing value matches; `all` compares all of them.")
    ] = Match.EXTENDED,
    missing_value: Annotated[
        list[str] | None,
        typer.Option("--missing-value", help="A text that means missing; may be repeated."),
    ] = None,
    missing_sensitive: Annotated[
        Counted, typer.Option(help="Whether a missing sensitive value counts as a value.")
    ] = Counted.NONE,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Fail when a record has fewer matches.")
    ] = None,
    l: Annotated[
        int | None, typer.Option("--l", min=1, help="Fail below this distinct diversity.")
    ] = None,
    entropy_l: Annotated[
        float | None, typer.Option(min=1, help="Fail below this entropy diversity.")
    ] = None,
    t: Annotated[
        float | None, typer.Option("--t", min=0, max=1, help="Fail above this distance.")
    ] = None,
    distance: Annotated[Distance, typer.Option(help="The distance of --t.")] = Distance.EQUAL,
    alpha: Annotated[
        float | None, typer.Option(min=0, max=1, help="Fail above this share of one value.")
    ] = None,
    beta: Annotated[
        float | None, typer.Option(min=0, help="Fail above this basic likeness.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(min=0, help="Fail from this disclosure on.")
    ] = None,
    table: Table = None,
    query: Query = None,
    spark: Spark = False,
    master: Master = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates cells of a CSV.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="That of a CSV, such as latin-1; UTF-8 by default.")
    ] = None,
    header: Header = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    pair_limit: Annotated[
        int | None,
        typer.Option(min=0, help="Pairs to compare for the maybe matches; 100 billion without."),
    ] = None,
    warnings: Annotated[
        bool, typer.Option(help="Look at the other columns too: nearly unique ones, free text.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the measure as JSON on standard output.")
    ] = False,
) -> None:
    """Measure any file, without a definition: its k, and what it gives away."""
    from contextlib import ExitStack, closing
    from dataclasses import replace

    from shoal.cautions.examine import examine_table
    from shoal.cli.terminal import progress_of
    from shoal.engines.opening import open_source
    from shoal.engines.options import Resources
    from shoal.measure.pairs import PAIR_LIMIT
    from shoal.measure.table import measure
    from shoal.verify.labels.listed import read_trees

    options = {"l": l, "entropy-l": entropy_l, "t": t, "alpha": alpha, "beta": beta, "delta": delta}
    demanded = {name: float(value) for name, value in options.items() if value is not None}
    address = address_of(
        data,
        table=table,
        query=query,
        spark=spark,
        master=master,
        delimiter=delimiter,
        encoding=encoding,
        header=header_row(header),
        decimal=decimal_mark(decimal),
        options={} if sheet is None else {"sheet": sheet},
    )
    with progress_of(f"Measuring {address.location.shown}") as display, ExitStack() as opened:
        resources = Resources(on_progress=display.share)
        found_there = open_source(address.location.options(), resources=resources)
        source = opened.enter_context(closing(found_there))
        columns = [column.name for column in source.columns()]
        attributes = names_in(sensitive, columns, "--sensitive") if sensitive else []
        persons = names_in(person, columns, "--person") if person else []
        if demanded and not attributes:
            raise typer.BadParameter("needs --sensitive", param_hint=f"--{next(iter(demanded))}")
        found = measure(
            source,
            names_in(qi, columns, "--qi"),
            missing_value or (),
            person=persons,
            sensitive=attributes,
            match=missing,
            hierarchies=read_trees(dict(map(_pair, hierarchy or ())), attributes),
            missing_as_value=missing_sensitive == Counted.VALUE,
            k=k,
            pair_limit=PAIR_LIMIT if pair_limit is None else pair_limit,
            progress=display.share,
        )
        if warnings:
            names, records = found.quasi_identifiers, found.records
            seen = examine_table(source, names, missing_value or (), records, persons)
            found = replace(found, warnings=seen)
    failures = [
        f"{each.attribute}: {failure}"
        for each in found.sensitive
        for failure in _unreached(each, demanded, distance)
    ]
    if as_json:
        _print_json(found, k, failures)
    else:
        _print_text(found, k, failures)
    if failures or not reaches(found, k):
        raise typer.Exit(4)


check.__doc__ = f"{check.__doc__}\n{EXAMPLES}"


def names_in(given: list[str], columns: list[str], option: str) -> list[str]:
    """The columns that options name: one that is a column as it stands, else a list with commas."""
    names: list[str] = []
    for text in given:
        parts = [text] if text in columns else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    if not names:
        raise typer.BadParameter("name at least one column", param_hint=option)
    return list(dict.fromkeys(names))


def reaches(found: Measure, k: int | None) -> bool:
    """Whether k was not asked for, or is reached; a table without records reaches none."""
    return k is None or found.k >= k


def _pair(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise typer.BadParameter("write attribute=file.csv", param_hint="--hierarchy")
    return name, Path(path)


def _unreached(
    found: Disclosure, demanded: Mapping[str, float], distance: Distance
) -> Iterator[str]:
    """The demands that an attribute does not meet; where no number would do, none is met."""
    if "t" in demanded and distance == Distance.HIERARCHICAL and found.t_hierarchical is None:
        raise typer.BadParameter(f"needs one for {found.attribute}", param_hint="--hierarchy")
    least = {"l": found.distinct_l, "entropy-l": found.entropy_l}
    t = {"equal": found.t_equal, "ordered": found.t_ordered, "hierarchical": found.t_hierarchical}
    most = {"t": t[distance], "alpha": found.alpha, "beta": found.beta, "delta": found.delta}
    for name, value in demanded.items():
        if name in least:
            met, reached = least[name] >= value - 1e-9, f"{least[name]:.6g}"
        else:
            number = most[name]
            met = number is not None and number <= value + 1e-9
            if name == "delta" and number is not None:
                met = number < value
            reached = "none" if number is None else f"{number:.6g}"
        if not met:
            yield f"{name} = {reached}, {value:g} demanded"


def _print_json(found: Measure, k: int | None, failures: list[str]) -> None:
    import dataclasses

    from shoal.cli.terminal import print_json

    fields: dict[str, Any] = {"k": found.k, "demanded": k, **dataclasses.asdict(found)}
    if found.persons is None:
        del fields["persons"]
    fields |= {"attacks": list(found.attacks), "not_reached": failures}
    print_json(fields)


def _print_text(found: Measure, k: int | None, failures: list[str]) -> None:
    """The answer, then what was measured; labels are printed as text, never as markup."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    whole_lines = not console.is_terminal
    unit = "" if found.persons is None else " (persons)"
    answer = f"{found.name}: k = {found.k}{unit}"
    if k is not None:
        answer += f", {k} demanded: {'reached' if reaches(found, k) else 'not reached'}"
    style = "bold green" if reaches(found, k) and not failures else "bold red"
    console.print(Text(answer, style=style), soft_wrap=True)
    for failure in failures:
        console.print(Text(f"{failure}: not reached", style="bold red"), soft_wrap=True)
    _print(console, (), found.facts())
    sizes = [(b.label, f"{b.classes:,}", f"{b.records:,}") for b in found.sizes]
    _print(console, (found.unit, "classes", "records"), sizes, right=(0, 1, 2))
    if len(found.matches) > 1:
        _matches(console, found, k)
    for each in found.sensitive:
        _print(console, (each.attribute, "reached"), each.facts())
    if found.attacks:
        console.print()
        console.print(Text("Attacks found", style="bold"))
    for attack in found.attacks:
        console.print(Text(attack), soft_wrap=whole_lines)
    if found.warnings:
        console.print()
    for warning in found.warnings:
        line = Text(f"Warning: {warning.text} [{warning.code}]", style="yellow")
        console.print(line, soft_wrap=whole_lines)


def _matches(console: Console, found: Measure, k: int | None) -> None:
    """The relations side by side, and what each of them withstands."""
    from rich.text import Text

    rows = []
    for each in found.matches:
        numbers = [each.k, each.unique_records, *(() if k is None else (each.records_below,))]
        rows.append((each.match, *("?" if n is None else f"{n:,}" for n in numbers)))
    heading = ("match", "k", "unique records", *(() if k is None else (f"records below {k}",)))
    _print(console, heading, rows, right=(1, 2, 3))
    console.print()
    for each in found.matches:
        left_out = f"; not counted: {each.not_counted}, --pair-limit allows more"
        said = f"{each.match} match {each.attack}{left_out if each.not_counted else ''}"
        console.print(Text(said), soft_wrap=not console.is_terminal)


def _print(
    console: Console, heading: tuple[str, ...], rows: list[Any], right: tuple[int, ...] = ()
) -> None:
    """A table after an empty line."""
    from shoal.cli.terminal import table_of

    console.print()
    console.print(table_of(heading, rows, right))
