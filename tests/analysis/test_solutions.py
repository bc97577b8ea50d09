"""`shoal solutions`: what is listed, written, refused, and kept when it ends early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from analysis.zips import call, write_zips
from shoal.errors import BadDefinition, BadOutput, Interrupted, UserError


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    return write_zips(tmp_path)


@pytest.mark.slow
def test_the_best_solutions_come_by_rising_loss_and_the_first_is_the_one_released(
    definition: Path,
) -> None:
    found = shoal.solutions(definition, best=5)
    result = shoal.run(definition)
    losses = [each.loss for each in found.solutions]
    assert found.complete
    assert len(losses) == 5
    assert losses == sorted(losses)
    first = found.solutions[0]
    assert (first.loss, first.levels) == (result.loss, result.levels)
    assert (first.suppressed, first.k) == (result.suppressed, result.smallest_class)
    heights = {"zip": 3, "age": 4, "sex": 1}
    lost = sum(first.levels[name] / height for name, height in heights.items()) / 3
    assert first.precision == pytest.approx(1 - lost)


def test_the_lattice_says_of_each_solution_what_the_list_says(definition: Path) -> None:
    nodes = {tuple(each.levels.values()): each for each in shoal.lattice(definition).nodes}
    safe = sorted(each.loss for each in nodes.values() if each.safe)
    found = shoal.solutions(definition, best=1000)
    assert [each.loss for each in found.solutions] == pytest.approx(safe)
    for each in found.solutions:
        node = nodes[tuple(each.levels.values())]
        assert (node.suppressed, node.precision) == (each.suppressed, each.precision)
        assert node.k == each.k or (node.suppressed and node.k < 5)


def test_minimal_nodes_have_no_safe_node_below(definition: Path) -> None:
    safe = {tuple(each.levels.values()) for each in shoal.lattice(definition).nodes if each.safe}
    found = {tuple(x.levels.values()) for x in shoal.solutions(definition, minimal=True).solutions}
    expected = {
        node
        for node in safe
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in safe
        )
    }
    assert found == expected


@pytest.mark.slow
def test_the_command_writes_what_scripts_rely_on(definition: Path, tmp_path: Path) -> None:
    for options in (["--best", "3"], ["--minimal"]):
        done = call("solutions", definition, *options, "--json", "-")
        assert done.exit_code == 0
        found = json.loads(done.output)
        assert found["complete"] is True
        keys = {"levels", "loss", "suppressed", "k", "precision"}
        assert all(set(each) == keys for each in found["solutions"])
        assert list(found["solutions"][0]["levels"]) == ["zip", "age", "sex"]
    written = tmp_path / "best.json"
    done = call("solutions", definition, "--json", written, "--svg", tmp_path / "best.svg")
    assert done.exit_code == 0
    assert "Proved" in done.output
    assert max(map(len, done.output.splitlines()[:20])) <= 88
    assert len(json.loads(written.read_text(encoding="utf-8"))["solutions"]) == 10
    assert (tmp_path / "best.svg").read_text(encoding="utf-8").startswith("<svg")


def test_nodes_of_persons_are_counted_in_persons(definition: Path) -> None:
    text = definition.read_text(encoding="utf-8")
    definition.write_text(f"person: name\n{text}", encoding="utf-8")
    data = definition.parent / "data.csv"
    header, *rows = data.read_text(encoding="utf-8").splitlines()
    data.write_text("\n".join([header, *rows, *rows]), encoding="utf-8")
    first = shoal.solutions(definition).solutions[0]
    result = shoal.run(definition)
    assert first.k == result.smallest_class_persons
    assert first.k < result.smallest_class


def test_where_nothing_is_safe_the_answer_is_the_one_of_a_run(definition: Path) -> None:
    text = definition.read_text(encoding="utf-8").replace("k: 5", "k: 500")
    definition.write_text(text, encoding="utf-8")
    for minimal in (False, True):
        with pytest.raises(shoal.Infeasible, match="500"):
            shoal.solutions(definition, minimal=minimal)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--best", "0"], "--best"),
        (["--best", "ten"], "--best"),
        (["--minimal", "--at-most", "0"], "--at-most"),
        (["--best", "3", "--minimal"], "not both"),
    ],
)
def test_nonsense_is_one_clear_error(definition: Path, options: list[str], says: str) -> None:
    done = call("solutions", definition, *options)
    assert done.exit_code == 2
    assert says in done.output


def test_bad_numbers_and_columns_are_refused(definition: Path) -> None:
    with pytest.raises(BadDefinition, match="best"):
        shoal.solutions(definition, best=0)
    with pytest.raises(BadDefinition, match="at_most"):
        shoal.solutions(definition, minimal=True, at_most=0)
    text = definition.read_text(encoding="utf-8").replace("zip:", "zipp:")
    definition.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="did you mean 'zip'"):
        shoal.solutions(definition)


def test_a_time_limit_keeps_what_is_proved(definition: Path) -> None:
    found = shoal.solutions(definition, best=5, time_limit=1e-9)
    truth = shoal.solutions(definition, best=5)
    assert not found.complete
    assert found.ended == "time limit"
    assert found.solutions[: found.proved] == truth.solutions[: found.proved]
    assert "Not complete (time limit)" in str(found)


def test_more_minimal_nodes_than_the_limit_are_said_plainly(definition: Path) -> None:
    every = shoal.solutions(definition, minimal=True)
    some = shoal.solutions(definition, minimal=True, at_most=1)
    assert not some.complete
    assert some.ended == "more than 1 found"
    assert set(map(str, some.solutions)) < set(map(str, every.solutions))


@pytest.mark.parametrize("minimal", [False, True])
def test_an_interrupt_keeps_what_was_found(
    definition: Path, minimal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.analysis.nodes import Clock

    def interrupt(self: Clock, line: str) -> None:
        if "Searching: 5" in line or "2 found" in line:
            raise KeyboardInterrupt

    monkeypatch.setattr(Clock, "say", interrupt)
    done = call("solutions", definition, *(["--minimal"] if minimal else []), "--json", "-")
    assert isinstance(done.exception, Interrupted)
    assert done.exception.exit_code == 130
    assert done.exception.what == "interrupted; what was found until then is written"
    found = json.loads(done.output)
    assert found["complete"] is False
    assert found["ended"] == "interrupted"
    assert found["solutions"]


def test_values_are_shown_in_terminals_notebooks_and_frames(definition: Path) -> None:
    found = shoal.solutions(definition, best=4)
    assert "Levels of zip, age, sex" in str(found)
    assert '<div class="shoal">' in found._repr_html_()
    assert "Ann" not in str(found)
    frame = found.to_pandas()
    assert list(frame["loss"]) == [each.loss for each in found.solutions]
    assert "level of zip" in frame.columns
    svg = found.plot().svg
    assert svg.count("<rect") >= 4
    assert "least loss of all safe nodes" in svg


@pytest.mark.parametrize("command", ["solutions", "lattice"])
@pytest.mark.parametrize("option", ["--json", "--svg"])
@pytest.mark.parametrize("name", ["data.csv", "it.yaml", "out.csv", "link.csv"])
def test_nothing_that_is_read_or_released_is_overwritten(
    definition: Path, command: str, option: str, name: str
) -> None:
    shoal.run(definition)
    folder = definition.parent
    (folder / "link.csv").symlink_to(folder / "data.csv")
    before = (folder / name).read_bytes()
    done = call(command, definition, option, folder / name)
    assert isinstance(done.exception, BadOutput)
    assert done.exception.code == "would-overwrite"
    assert (folder / name).read_bytes() == before


def test_two_files_of_a_command_are_two_files(definition: Path) -> None:
    same = definition.parent / "same"
    done = call("lattice", definition, "--json", same, "--csv", same)
    assert isinstance(done.exception, BadOutput)
    assert not same.exists()


def test_the_best_nodes_are_proved_whatever_strategy_the_definition_names(
    definition: Path,
) -> None:
    truth = shoal.solutions(definition)
    text = definition.read_text(encoding="utf-8")
    definition.write_text(f"search: {{strategy: datafly}}\n{text}", encoding="utf-8")
    assert shoal.solutions(definition).solutions == truth.solutions
