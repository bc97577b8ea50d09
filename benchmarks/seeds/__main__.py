"""Run the experiments of the papers: all of them, or those that are named.

python -m benchmarks.seeds
python -m benchmarks.seeds --quick supercloud mart
"""

from __future__ import annotations

import time

from benchmarks.seeds import (
    anon_diversity,
    anon_k,
    anon_quasi_identifiers,
    mart,
    pruning_heuristic,
    pruning_memory,
    pruning_statistics,
    pruning_stores,
    pruning_times,
    supercloud,
)
from benchmarks.seeds.experiment import command_line, folder_of

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        anon_quasi_identifiers,
        anon_k,
        anon_diversity,
        supercloud,
        mart,
        pruning_stores,
        pruning_statistics,
        pruning_memory,
        pruning_times,
        pruning_heuristic,
    )
}


def main() -> None:
    """Run, print, and save what a full run found."""
    parser = command_line("The experiments of the papers that Shoal builds on.")
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(EXPERIMENTS)}")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    for name in options.names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        started = time.perf_counter()
        if (absent := experiment.lacks()) is not None:
            print(f"{absent}\n")
            continue
        for line in experiment.report(quick=options.quick, output=folder_of(options)):
            print(line)
        print(f"({time.perf_counter() - started:.1f} s)\n", flush=True)


if __name__ == "__main__":
    main()
