"""Check what the papers state: run the experiments, or look at what was saved.

python -m benchmarks.seeds
python -m benchmarks.seeds --list
python -m benchmarks.seeds pruning-fars
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.seeds import (
    anon_grid,
    mart,
    ola_nodes,
    pruning_heuristic,
    pruning_memory,
    pruning_statistics,
    pruning_stores,
    pruning_tagging,
    pruning_times,
    supercloud,
)
from benchmarks.seeds.experiment import RESULTS, Experiment, command_line, folder_of
from benchmarks.seeds.page import PAGE, write_page
from benchmarks.seeds.statement import Statement, saved_values
from benchmarks.seeds.statements import STATEMENTS

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        anon_grid,
        supercloud,
        ola_nodes,
        mart,
        pruning_statistics,
        pruning_tagging,
        pruning_stores,
        pruning_memory,
        pruning_times,
        pruning_heuristic,
    )
}
BY_NAME = {statement.name: statement for statement in STATEMENTS}


def main() -> None:
    """Run, print, and save what a full run found."""
    parser = _parser()
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in {*EXPERIMENTS, *BY_NAME}]
    if unknown:
        parser.error(f"no experiment or statement {', '.join(unknown)}; --list shows them")
    if options.list:
        print("\n".join(_listed()))
        return
    statements = [BY_NAME[name] for name in options.names if name in BY_NAME]
    if options.saved:
        _print_statements(statements or STATEMENTS, RESULTS)
        return
    if options.names:
        _check(options.names, quick=options.quick, output=options.output)
        return
    output = folder_of(options)
    if output == RESULTS and not options.resume:
        anon_grid.FILE.unlink(missing_ok=True)
    _run(list(EXPERIMENTS.values()), quick=options.quick, output=output)
    if output == RESULTS:
        write_page()
        print(f"wrote {PAGE}")


def _check(names: Sequence[str], *, quick: bool, output: Path | None) -> None:
    """Run some experiments anew, and print what they say of the statements; the page stays."""
    of_names = [BY_NAME[name].experiment if name in BY_NAME else name for name in names]
    chosen = [EXPERIMENTS[name] for name in dict.fromkeys(of_names)]
    with TemporaryDirectory() as folder:
        results = output or Path(folder)
        anew = partial(anon_grid.run, file=results / anon_grid.FILE.name)
        chosen = [
            replace(each, run=anew) if each is anon_grid.EXPERIMENT else each for each in chosen
        ]
        _run(chosen, quick=quick, output=results)
        if not quick:
            asked = [each for each in STATEMENTS if {each.name, each.experiment} & {*names}]
            _print_statements(asked, results)


def _run(chosen: Sequence[Experiment], *, quick: bool, output: Path | None) -> None:
    """Run experiments one after the other, and print their tables."""
    for number, experiment in enumerate(chosen, start=1):
        print(f"[{number}/{len(chosen)}] {experiment.name}", flush=True)
        started = time.perf_counter()
        if (absent := experiment.lacks()) is not None:
            print(f"{absent}\n")
            continue
        for line in experiment.report(quick=quick, output=output):
            print(line)
        print(f"({time.perf_counter() - started:.1f} s)\n", flush=True)


def _parser() -> ArgumentParser:
    parser = command_line("Check what the papers that Shoal builds on state.")
    parser.add_argument("names", nargs="*", help="experiments or statements; all without one")
    parser.add_argument("--list", action="store_true", help="list experiments and statements")
    parser.add_argument("--saved", action="store_true", help="print statements, run nothing")
    parser.add_argument("--resume", action="store_true", help="keep the grid's runs that are saved")
    return parser


def _listed() -> list[str]:
    experiments = [f"  {each.name:24}{each.question}" for each in EXPERIMENTS.values()]
    statements = [f"  {each.name:24}{each.paper}: {each.says}" for each in STATEMENTS]
    return ["experiments:", *experiments, "", "statements:", *statements]


def _print_statements(statements: Sequence[Statement], results: Path) -> None:
    for statement in statements:
        if (results / f"{statement.experiment}.json").exists():
            for line in statement.lines(saved_values(statement.experiment, results)):
                print(line)
            print()


if __name__ == "__main__":
    main()
