"""A definition names a strategy: which are known, what they take, and how their results read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.definition.read import from_mapping, override
from shoal.definition.write import to_mapping
from shoal.errors import BadDefinition, Infeasible, Interrupted
from shoal.events import Event, Improved, Proved, Stopped
from shoal.plugins import installed
from shoal.report.sections import lost
from shoal.search.run import strategy_of
from shoal.search.strategies.priority_path import PriorityPath

ROWS = "a\n" * 4 + "b\nc\n"
TREE = {"*": {"far": {"mid": {"near": ["b", "c"]}}, "own": {"same": {"alone": ["a"]}}}}


def definition(folder: Path, search: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Six records of which two are rare; one level up they share a class."""
    (folder / "values.csv").write_text(f"value\n{ROWS}", encoding="utf-8")
    return {
        "source": str(folder / "values.csv"),
        "output": str(folder / "release.csv"),
        "k": 2,
        "suppression": 2,
        "loss": "precision",
        "search": search,
        "attributes": {"value": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}},
        **others,
    }


def mistakes(folder: Path, search: dict[str, Any]) -> list[str]:
    with pytest.raises(BadDefinition) as error:
        from_mapping(definition(folder, search))
    return [str(mistake) for mistake in error.value.mistakes]


def test_a_strategy_that_nobody_brings_is_a_mistake_with_the_nearest_name(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, {"strategy": "flsh"})
    assert mistake.startswith("search.strategy: 'flsh' is not known")
    assert "did you mean 'flash'?" in mistake


def test_a_key_that_the_strategy_does_not_take_is_a_mistake(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, {"strategy": "ola", "backtrack": True})
    assert mistake.startswith("search: ola takes no parameters; unknown are 'backtrack'")


def test_parameters_that_the_strategy_does_not_take_are_a_mistake(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, {"strategy": "flash", "parameters": {"depth": 3}})
    assert mistake.startswith("search: flash takes 'published'; unknown are 'depth'")


def test_a_parameter_that_the_strategy_cannot_use_is_a_mistake(tmp_path: Path) -> None:
    search = {"strategy": "priority-path", "parameters": {"backtrack": "perhaps"}}
    (mistake,) = mistakes(tmp_path, search)
    assert mistake.startswith("search: backtrack must be true or false")


@pytest.mark.parametrize(
    "search",
    [
        {"strategy": "priority-path", "backtrack": "true"},
        {"strategy": "priority-path", "parameters": {"backtrack": "true"}},
    ],
)
def test_a_strategy_is_made_with_its_own_keys(tmp_path: Path, search: dict[str, Any]) -> None:
    read = from_mapping(definition(tmp_path, search))
    assert strategy_of(read.search) == PriorityPath(backtrack=True)
    assert from_mapping(to_mapping(read)) == read


def test_only_the_strategy_that_is_asked_for_is_imported() -> None:
    code = (
        "import sys\n"
        "from shoal.plugins import make\n"
        "make('strategy', 'datafly', {})\n"
        "others = [f'shoal.search.strategies.{name}' for name in ('box', 'ola', 'flash')]\n"
        "print([name for name in others if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_answer_without_a_proof_is_released_and_says_so(tmp_path: Path) -> None:
    events: list[Event] = []
    result = shoal.run(definition(tmp_path, {"strategy": "best-first"}), observe=events.append)
    assert result.verified
    assert result.status == "feasible"
    assert result.strategy == "best-first"
    assert result.loss == pytest.approx(1 / 3)
    assert (result.bound, result.gap) == (0.0, 1.0)
    assert any(isinstance(event, Stopped) for event in events)
    assert "not proved the least possible: the search ended without a proof" in lost(result)[0]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["flash", "bfs", "exhaustive", "box"])
def test_an_exact_strategy_releases_the_optimum(tmp_path: Path, strategy: str) -> None:
    result = shoal.run(definition(tmp_path, {"strategy": strategy}))
    assert result.status == "optimal"
    assert result.loss == 0.25
    assert result.levels == {"value": 1}


def test_the_weighted_loss_makes_best_first_exact(tmp_path: Path) -> None:
    result = shoal.run(definition(tmp_path, {"strategy": "best-first"}, loss="weighted"))
    assert result.status == "optimal"
    assert result.levels == {"value": 0}


@pytest.mark.parametrize("strategy", ["best-first", "bfs", "datafly", "flash", "igreedy", "ola"])
def test_every_strategy_proves_that_nothing_is_feasible(tmp_path: Path, strategy: str) -> None:
    with pytest.raises(Infeasible) as error:
        shoal.run(definition(tmp_path, {"strategy": strategy}, k=7, suppression=0))
    assert error.value.code == "infeasible"
    assert not (tmp_path / "release.csv").exists()


def spoiled(folder: Path, strategy: str) -> dict[str, Any]:
    """Entropy diversity holds for the pair alone; merged with the rest it is spoiled."""
    (folder / "people.csv").write_text("where,what\nx,s\nx,t\n" + "y,s\n" * 20, encoding="utf-8")
    return {
        "source": str(folder / "people.csv"),
        "output": str(folder / "release.csv"),
        "k": 2,
        "suppression": 20,
        "search": {"strategy": strategy},
        "attributes": {
            "where": {
                "role": "quasi-identifier",
                "hierarchy": {"tree": {"*": ["x", "y"]}},
            },
            "what": {"role": "sensitive", "diversity": {"entropy": 1.9}},
        },
    }


def test_a_demand_that_merging_can_spoil_is_met_below_the_top(tmp_path: Path) -> None:
    result = shoal.run(spoiled(tmp_path, "flash"))
    assert result.status == "optimal"
    assert result.levels == {"where": 0}
    assert result.suppressed == 20


def test_ctrl_c_releases_the_best_so_far_only_where_that_is_asked_for(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, Improved):
            raise KeyboardInterrupt

    asked = definition(tmp_path, {"strategy": "flash"})
    with pytest.raises(Interrupted):
        shoal.run(asked, observe=interrupt)
    assert not (tmp_path / "release.csv").exists()
    result = shoal.run(asked, observe=interrupt, keep_best=True)
    assert result.status == "feasible"
    assert result.verified


def test_a_search_that_ends_proved_says_so_last(tmp_path: Path) -> None:
    events: list[Event] = []
    shoal.run(definition(tmp_path, {"strategy": "bfs"}), observe=events.append)
    ends = [event for event in events if isinstance(event, Proved | Stopped)]
    assert len(ends) == 1
    assert isinstance(ends[0], Proved)


SAMPLED = """
import random
from dataclasses import dataclass
from typing import ClassVar

from shoal.search.incumbent import Incumbent


@dataclass(frozen=True)
class Sampled:
    nodes: int
    name: ClassVar[str] = "scattered"

    def search(self, problem, limits):
        incumbent, dice = Incumbent(limits), random.Random(0)
        for _ in range(self.nodes):
            node = tuple(dice.randint(0, level) for level in problem.lattice.top)
            yield from incumbent.weigh(problem.check(node))
        yield incumbent.concluded()
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with a strategy, as pip leaves it."""
    folder = tmp_path / "site"
    metadata = folder / "sampling-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "sampling.py").write_text(SAMPLED, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sampling\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[shoal.strategy]\nscattered = sampling:Sampled\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("plugin")
def test_a_strategy_of_another_package_searches_like_ours(tmp_path: Path) -> None:
    search = {"strategy": "scattered", "parameters": {"nodes": "40"}}
    result = shoal.run(definition(tmp_path, search))
    assert (result.strategy, result.status, result.checked) == ("scattered", "feasible", 40)
    assert result.verified


@pytest.mark.usefixtures("plugin")
def test_a_strategy_that_finds_nothing_leaves_the_question_open(tmp_path: Path) -> None:
    search = {"strategy": "scattered", "parameters": {"nodes": 0}}
    with pytest.raises(Infeasible) as error:
        shoal.run(definition(tmp_path, search))
    assert error.value.code == "none-found-by-strategy"
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.usefixtures("plugin")
def test_a_parameter_that_is_missing_is_a_mistake(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, {"strategy": "scattered"})
    assert mistake.startswith("search: scattered takes 'nodes'; missing are 'nodes'")


def test_the_page_of_the_strategies_has_a_section_for_each() -> None:
    page = (Path(__file__).parents[2] / "docs/strategies/strategies.md").read_text("utf-8")
    sections = re.findall(r"^## `([a-z-]+)`$", page, re.MULTILINE)
    ours = [part.name for part in installed("strategy") if part.distribution == "shoal"]
    assert sorted(sections) == ours
    assert all(f"[`{name}`](#{name})" in page for name in ours)


def test_an_option_that_names_another_strategy_drops_the_keys_of_the_first(tmp_path: Path) -> None:
    search = {"strategy": "priority-path", "backtrack": True, "gap": 0.1}
    read = from_mapping(definition(tmp_path, search))
    other = override(read, {"search": {"strategy": "ola"}}, "test")
    assert (other.search.strategy, other.search.backtrack, other.search.gap) == ("ola", None, 0.1)
    same = override(read, {"search": {"time limit": "2s"}}, "test")
    assert same.search.backtrack is True
