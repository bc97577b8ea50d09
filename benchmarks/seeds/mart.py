"""Data mart, tables 1, 2 and 6 to 9: which steps do priorities, limits and quantifiers choose?

python -m benchmarks.seeds mart
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.seeds.experiment import Experiment, Outcome, Value, table
from benchmarks.seeds.frames import problem_on
from benchmarks.seeds.mart_findings import CASES, PT, findings, request
from benchmarks.seeds.mart_sources import anonymised_sources
from benchmarks.seeds.searching import watch
from matplotlib.figure import Figure

from shoal.search.problem import Problem
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.priority_path import PriorityPath

if TYPE_CHECKING:
    from shoal.values import Best, Node

HIERARCHIES: Mapping[str, Any] = {
    "PT": {
        "tree": {
            "[1-2]": {"1": list(PT), "2": ["2"]},
            "[3-4]": {"3": ["3"], "4": ["4a", "4b", "4c", "4d"]},
        }
    },
    "PN": {"tree": {"X": ["X"], "0": ["0"], "1": ["1mi", "1a", "1b"], "2": ["2"], "3": ["3"]}},
    "PM": "suppress",
    "R": "suppress",
}
QUANTIFIERS: Mapping[str, list[float]] = {
    "PT": [0, 0.3, 0.7, 1],
    "PN": [0, 0.5, 1],
    "PM": [0, 1],
    "R": [0, 1],
}


@dataclass(frozen=True)
class Setting:
    """Priorities and limits of a request, and what the paper reports of it."""

    name: str
    priorities: Mapping[str, float]
    limits: Mapping[str, int]
    steps: tuple[str, ...]
    classes: tuple[int | None, ...]

    def problem(self) -> Problem:
        """The request under this setting, with k = 2 and nothing suppressed."""
        attributes: dict[str, Any] = {
            name: {
                "role": "quasi-identifier",
                "hierarchy": HIERARCHIES[name],
                "information loss": QUANTIFIERS[name],
                "priority": priority,
                **({"limit": self.limits[name]} if name in self.limits else {}),
            }
            for name, priority in self.priorities.items()
        }
        attributes["G"] = {"role": "quasi-identifier", "hierarchy": "suppress", "limit": 0}
        definition = {"k": 2, "loss": "weighted", "others": "drop", "attributes": attributes}
        return problem_on(request(findings()), definition)


A = Setting(
    "A",
    {"PT": 0.8, "PN": 0.6, "PM": 0.4, "R": 0.2},
    {"PT": 1},
    ("R", "PT"),
    (107, 98, 16),
)
B = Setting(
    "B",
    {"PN": 0.8, "R": 0.6, "PM": 0.4, "PT": 0.2},
    {"PM": 0, "PT": 1},
    ("PT", "PN"),
    (107, None, 20),
)


@dataclass(frozen=True)
class Step:
    """A node of the path: which attribute was raised to come here, and the classes there."""

    raised: str
    node: Node
    classes: int
    single: int


def path(problem: Problem) -> list[Step]:
    """The nodes that the search checks, until one is safe."""
    recorder = _Recorder(problem.table, problem.models, problem.objective, problem.limit)
    watch(PriorityPath(), recorder)
    names = [attribute.name for attribute in problem.table.attributes]
    steps, before = [], problem.lattice.bottom
    for node in recorder.checked:
        raised = [name for name, i, j in zip(names, before, node, strict=True) if i < j]
        sizes = problem.partition(node).counts.sizes
        steps.append(Step("".join(raised), node, len(sizes), int((sizes == 1).sum())))
        before = node
    return steps


@dataclass(frozen=True, eq=False)
class _Recorder(Problem):
    """A problem that remembers which nodes were checked."""

    checked: list[Node] = field(default_factory=list)

    def check(self, node: Node) -> Best | None:
        self.checked.append(node)
        return super().check(node)


def first_costs(setting: Setting) -> dict[str, float]:
    """What the first step of each attribute costs: priority times quantifier."""
    return {
        name: priority * QUANTIFIERS[name][1]
        for name, priority in setting.priorities.items()
        if setting.limits.get(name) != 0
    }


def run(quick: bool) -> Outcome:  # noqa: ARG001 - three hundred cases are quick
    """Both settings of the use case, and the six patients of tables 1 and 2."""
    lines: list[str] = []
    paths: dict[str, list[Step]] = {}
    for setting in (A, B):
        problem = setting.problem()
        paths[setting.name] = path(problem)
        lines += [*step_lines(setting, paths[setting.name]), optimum(problem), ""]
    values: dict[str, Value] = {}
    for setting in (A, B):
        steps = paths[setting.name]
        values[f"{setting.name} steps"] = ", then ".join(step.raised for step in steps[1:])
        values[f"{setting.name} classes"] = ", ".join(str(step.classes) for step in steps)
        values[f"{setting.name} single"] = ", ".join(str(step.single) for step in steps)
        costs = sorted(first_costs(setting).items(), key=lambda each: each[1])
        values[f"{setting.name} costs"] = ", ".join(f"{name} {cost:.2f}" for name, cost in costs)
    values |= {"cases": CASES, "selected": request(findings()).num_rows}
    return Outcome([*lines, *anonymised_sources()], {"mart": chart(paths)}, NOTE, values)


def step_lines(setting: Setting, steps: list[Step]) -> Iterator[str]:
    """The steps of a setting, with the paper's beside them."""
    costs = sorted(first_costs(setting).items(), key=lambda each: each[1])
    yield f"Setting {setting.name}: first steps cost " + ", ".join(
        f"{name} {cost:.2f}" for name, cost in costs
    )
    yield from table(
        ["generalized", "classes", "of one case", "paper: classes"],
        [
            [step.raised or "nothing", step.classes, step.single, expected]
            for step, expected in zip(steps, setting.classes, strict=True)
        ],
    )
    yield f"paper: {' then '.join(setting.steps)}"


def optimum(problem: Problem) -> str:
    """What is generalized at the proved optimum."""
    best = watch(BoxSearch(), problem).best
    levels = zip(problem.table.attributes, best.node if best else (), strict=True)
    raised = sorted(attribute.name for attribute, level in levels if level)
    return f"box: least weighted loss with {', '.join(raised)}"


NOTE = """
The findings are a table of counts made for these numbers (examples/mart/selected.csv), so that they
are repeated shows nothing but that such a table exists; the costs and the order of the steps follow
from the method. Table 6 lists four values of PT below 1: then 16 classes can come from 64 at most,
not from 98, so the table has nine values. The paper's first steps in setting A: R 0.20, PT 0.24, PN
0.30, PM 0.40. Classes of one case: the paper has 67, then 48, which no table can have
(mart_findings.py). Table 2 calls record 1 overweight: 85 kg at 185 cm are a body mass index of
24.8, which is in [25.0, 29.9] only when it is rounded to a whole number. So it is rounded here.
"""


def chart(paths: Mapping[str, list[Step]]) -> Figure:
    """The cost of the first steps, and the classes after each step of both settings."""
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    costs, *settings = figure.subplots(1, 3)
    for offset, setting, colour in ((-0.2, A, "C0"), (0.2, B, "C1")):
        of_setting = first_costs(setting)
        places = [i + offset for i, name in enumerate(HIERARCHIES) if name in of_setting]
        values = [of_setting[name] for name in HIERARCHIES if name in of_setting]
        bars = costs.bar(places, values, 0.38, color=colour, label=f"setting {setting.name}")
        costs.bar_label(bars, fmt="%.2f", fontsize=9)
    costs.set_xticks(range(len(HIERARCHIES)), list(HIERARCHIES))
    costs.set(title="Cost of the first step", ylabel="priority times quantifier", ylim=(0, 0.7))
    costs.legend(loc="upper left")
    for axes, setting in zip(settings, (A, B), strict=True):
        steps = paths[setting.name]
        names = ["nothing", *(f"then {step.raised}" for step in steps[1:])]
        places = list(range(len(names)))
        bars = axes.bar(places, [step.classes for step in steps], 0.6, color="C2", label="classes")
        axes.bar_label(bars, fontsize=9, padding=7)
        axes.bar(places, [step.single for step in steps], 0.3, color="C3", label="of one case")
        known = [(i, count) for i, count in enumerate(setting.classes) if count is not None]
        axes.plot(*zip(*known, strict=True), "k*", markersize=9, label="the paper's classes")
        axes.set_xticks(places, names)
        axes.set(title=f"Setting {setting.name}: generalize", ylabel="classes", ylim=(0, 125))
    figure.legend(*settings[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


EXPERIMENT = Experiment(
    "mart",
    "Data mart, tables 1, 2 and 6 to 9: which steps do priorities, limits and quantifiers choose?",
    run,
    ("mart",),
    needs_data=False,
)

if __name__ == "__main__":
    EXPERIMENT.main()
