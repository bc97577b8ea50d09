"""OLA: how many nodes of the lattice are computed?

python -m benchmarks.seeds ola_nodes
"""

from __future__ import annotations

from benchmarks.seeds.experiment import Experiment, Outcome, Value, table
from benchmarks.seeds.frames import problem_on
from benchmarks.seeds.searching import watch
from benchmarks.seeds.supercloud import DEFINITION
from benchmarks.seeds.supercloud_patients import patients
from matplotlib.figure import Figure

from benchmarks import box
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.ola import Ola, minimal_nodes


def run(quick: bool) -> Outcome:
    """OLA on the SUPERCLOUD table and on more and more columns of Adult and mach2019."""
    cases = {"supercloud, 3 attributes": problem_on(patients(), DEFINITION)}
    tables = (("adult", range(3, 6 if quick else 9)), ("mach2019", range(4, 6 if quick else 8)))
    for data, of_data in tables:
        cases |= {f"{data}, {size} attributes": box.Case(data, size).problem() for size in of_data}
    rows: list[list[object]] = []
    shares: dict[str, list[tuple[int, float]]] = {}
    values: dict[str, Value] = {}
    for name, problem in cases.items():
        found, truth = watch(Ola(), problem), watch(BoxSearch(), problem)
        minimal = minimal_nodes(problem) if problem.lattice.nodes < 1000 else None
        nodes = problem.lattice.nodes
        answer = found.best.loss if found.best else None
        optimum = truth.best.loss if truth.best else None
        rows.append(
            [
                name,
                nodes,
                found.checked,
                f"{found.checked / nodes:.1%}",
                None if minimal is None else len(minimal),
                answer,
                "proved" if found.proved else "not proved",
                optimum,
            ]
        )
        shares.setdefault(name.split(",")[0], []).append((nodes, found.checked / nodes))
        values |= {f"{name} lattice": nodes, f"{name} computed": found.checked}
        values[f"{name} share"] = found.checked / nodes
    parts = [part for of_data in shares.values() for _, part in of_data]
    values |= {"least share": min(parts), "most share": max(parts)}
    head = ("", "lattice", "computed", "share", "k-minimal", "loss", "", "box: least loss")
    return Outcome(table(head, rows), {"ola_nodes": chart(shares)}, NOTE, values)


NOTE = """
computed: nodes whose classes were counted, as OLA's authors report it; all others got a tag. The
published method checks each node of the middle height of a sub-lattice. k = 500 without suppression
on the SUPERCLOUD table, else k = 5 and 5 % suppression, Iyengar's loss: there OLA's answer is not
proved, since a node above a k-minimal one may suppress less. The paper of OLA is not among the
seeds, so its own numbers are not compared.
"""


def chart(shares: dict[str, list[tuple[int, float]]]) -> Figure:
    """The computed share by the size of the lattice."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for (name, points), style in zip(shares.items(), ("k*", "C0o-", "C1s-"), strict=True):
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, [100 * y for y in ys], style, label=name)
    axes.set_xscale("log")
    axes.set(title="OLA: nodes computed", xlabel="nodes of the lattice", ylabel="%", ylim=(0, 105))
    axes.legend()
    return figure


EXPERIMENT = Experiment("ola_nodes", "OLA: how many nodes are computed?", run, ("ola_nodes",))

if __name__ == "__main__":
    EXPERIMENT.main()
