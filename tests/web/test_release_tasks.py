"""What workers do for Explore, Compare and Decide, and the words and commands around it."""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.demo.files import write_demo
from shoal.errors import BadData, Infeasible, UserError
from shoal.steps.choosing import parse_levels
from shoal.web.commands import run_command
from shoal.web.found import Found, Standing
from shoal.web.jobs.model import Context
from shoal.web.laid_out import KEPT
from shoal.web.node_words import full_domain_words, release_sentence
from shoal.web.numbers import numbers_for
from shoal.web.tasks import compare, lattice, node, propose, release, search, solutions
from shoal.web.tasks.release import accepted_of

pytestmark = pytest.mark.slow

NAMES = {
    "yaml": "patients.yaml",
    "xml": "patients-definition.xml",
    "json": "patients-definition.json",
    "zip": "patients-definition.zip",
    "report": "patients-report.html",
    "result": "patients-result.json",
    "transformation": "patients-transformation.json",
    "assignment": "patients-assignment.json",
}


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps the uploads: the demo with few records."""
    folder = tmp_path_factory.mktemp("server")
    write_demo(folder, 1500, 7)
    return folder


def layout_in(folder: Path, **changes: str) -> dict[str, Any]:
    text = (folder / "patients.yaml").read_text(encoding="utf-8")
    text = text.replace("output: release.csv\nreport: report.html", "output: patients-release.csv")
    for old, new in changes.items():
        text = text.replace(f"{old}: ", f"{old}: {new} #", 1)
    return {
        "file": "patients.yaml",
        "text": text,
        "files": {
            "patients.csv": str(folder / "patients.csv"),
            "hierarchies/country.csv": str(folder / "hierarchies" / "country.csv"),
        },
    }


class Said(list[tuple[str, Mapping[str, Any]]]):
    """The events of a job."""


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)
    said = Said()
    yield Context(folder, lambda event: None, lambda name, data: said.append((name, data)), 0)
    assert not any(str(tmp_path) in json.dumps(data) for _, data in said)


def release_arguments(layout: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "layout": layout,
        "command": "shoal run patients.yaml",
        "names": NAMES,
        "definitions": {"yaml": layout["text"]},
        **more,
    }


def test_the_release_of_a_job_is_that_of_the_command_line_byte_by_byte(
    server_folder: Path, context: Context, tmp_path: Path
) -> None:
    layout = layout_in(server_folder)
    made = release.run(release_arguments(layout), context)
    own = tmp_path / "own"
    with zipfile.ZipFile(context.folder / NAMES["zip"]) as packed:
        packed.extractall(own)
    (own / "patients.csv").write_bytes((server_folder / "patients.csv").read_bytes())
    assert (own / "patients.yaml").read_text(encoding="utf-8") == layout["text"]
    shoal.run(own / "patients.yaml")
    released = (context.folder / "patients-release.csv").read_bytes()
    assert released == (own / "patients-release.csv").read_bytes()
    assert made["result"]["verified"]
    assert set(made["files"]) == {"release", "yaml", "zip", "report", "result", "transformation"}
    assert sorted(path.name for path in context.folder.iterdir()) == sorted(made["files"].values())


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "json", "xml"])
def test_every_format_of_a_release_is_that_of_the_command_line(
    server_folder: Path, context: Context, tmp_path: Path, ending: str
) -> None:
    layout = layout_in(server_folder)
    layout["text"] = layout["text"].replace("patients-release.csv", f"patients-release.{ending}")
    levels = {"birth": 3, "sex": 0, "zip": 4, "country": 3, "occupation": 1}
    release.run(release_arguments(layout, levels=levels, seconds="1s"), context)
    own = tmp_path / "own"
    (own / "hierarchies").mkdir(parents=True)
    for name, real in layout["files"].items():
        (own / name).write_bytes(Path(real).read_bytes())
    (own / "patients.yaml").write_text(layout["text"], encoding="utf-8")
    shoal.run(own / "patients.yaml", node=levels)
    name = f"patients-release.{ending}"
    assert (context.folder / name).read_bytes() == (own / name).read_bytes()


def test_what_a_job_writes_names_the_owners_file_and_no_path_of_the_server(
    server_folder: Path, context: Context
) -> None:
    release.run(release_arguments(layout_in(server_folder)), context)
    for path in context.folder.iterdir():
        if path.suffix in (".html", ".json"):
            assert str(server_folder) not in path.read_text(encoding="utf-8")
    assert "Release of patients.csv" in (context.folder / NAMES["report"]).read_text("utf-8")


def test_a_proposal_writes_nothing_and_says_what_the_release_would(
    server_folder: Path, context: Context
) -> None:
    layout = layout_in(server_folder)
    best = solutions.run({"layout": layout, "best": 3}, context)["solutions"][0]
    proposed = propose.run({"layout": layout, "levels": best["levels"]}, context)
    assert list(context.folder.iterdir()) == []
    made = release.run(release_arguments(layout), context)["result"]
    for key in ("levels", "loss", "suppressed", "classes", "smallest_class", "warnings"):
        assert proposed["result"][key] == made[key]
    assert [each["attribute"] for each in proposed["examples"]] == list(best["levels"])


def test_only_what_was_accepted_is_released(server_folder: Path, context: Context) -> None:
    layout = layout_in(server_folder)
    best = solutions.run({"layout": layout, "best": 1}, context)["solutions"][0]["levels"]
    seen = accepted_of(propose.run({"layout": layout, "levels": best}, context)["result"])
    for other in ({"records": 1499}, {"warnings": [["kept-unique", "ward"]]}, {"classes": 1}):
        with pytest.raises(BadData, match="changed"):
            release.run(release_arguments(layout, accepted={**seen, **other}), context)
        assert list(context.folder.iterdir()) == []
    accepted = json.loads(json.dumps(seen))
    assert release.run(release_arguments(layout, accepted=accepted), context)["files"]["release"]


def test_persons_of_a_kept_local_recoding_can_be_verified_again(
    server_folder: Path, context: Context, tmp_path: Path
) -> None:
    layout = layout_in(server_folder)
    layout["text"] += "recoding: local\nperson: name\nsearch: {effort: low}\n"
    found = search.run({"layout": layout}, context)
    kept = (context.folder / KEPT).rename(tmp_path / KEPT)
    seen = accepted_of(propose.run({"layout": layout, "kept": str(kept)}, context)["result"])
    assert seen["levels"] == json.loads(json.dumps(found["levels"]))
    arguments = release_arguments(layout, kept=str(kept), accepted=seen)
    made = release.run(arguments, context)
    assert made["files"]["assignment"] == NAMES["assignment"]
    own = tmp_path / "own"
    (own / "hierarchies").mkdir(parents=True)
    for name, real in layout["files"].items():
        (own / name).write_bytes(Path(real).read_bytes())
    (own / "patients.yaml").write_text(layout["text"], encoding="utf-8")
    verdict = shoal.verify(
        context.folder / made["files"]["release"],
        own / "patients.yaml",
        assignment=context.folder / NAMES["assignment"],
    )
    assert verdict.safe


def test_what_one_level_per_column_would_lose_is_said_as_far_as_it_is_known() -> None:
    numbers = numbers_for("en")
    said = [
        full_domain_words(numbers, known, "iyengar")
        for known in (
            None,
            {"bound": 0.2, "loss": None},
            {"bound": 0.2, "loss": 0.3},
            {"bound": 0.3, "loss": 0.3},
        )
    ]
    assert [each.partition(" would lose ")[2] for each in said] == [
        "",
        "at least 20%.",
        "between 20% and 30%.",
        "30%.",
    ]


def test_nodes_are_described_and_compared_without_writing(
    server_folder: Path, context: Context
) -> None:
    layout = layout_in(server_folder)
    found = solutions.run({"layout": layout, "best": 2}, context)["solutions"]
    first, second = (each["levels"] for each in found)
    described = node.run({"layout": layout, "levels": second, "other": first}, context)
    assert described["node"]["loss"] == found[1]["loss"]
    assert described["other"]["loss"] == found[0]["loss"]
    drawn = lattice.run({"layout": layout, "around": first, "also": [second]}, context)
    shown = [tuple(each["node"]) for each in drawn["nodes"]]
    assert {tuple(first.values()), tuple(second.values())} <= set(shown)
    hidden = compare.run({"layout": layout, "levels": first}, context)
    assert not any(each["examples"] for each in hidden["sample"])
    assert list(context.folder.iterdir()) == []


def test_a_node_that_is_not_safe_is_neither_proposed_nor_released(
    server_folder: Path, context: Context
) -> None:
    layout = layout_in(server_folder)
    levels = dict.fromkeys(("birth", "sex", "zip", "country", "occupation"), 0)
    for task in (propose, compare):
        with pytest.raises(Infeasible, match="is not safe"):
            task.run({"layout": layout, "levels": levels}, context)
    with pytest.raises(Infeasible, match="is not safe"):
        release.run(release_arguments(layout, levels=levels), context)
    assert list(context.folder.iterdir()) == []


def test_an_infeasible_demand_gives_the_reasons_and_remedies_of_the_command_line(
    server_folder: Path, context: Context
) -> None:
    layout = layout_in(server_folder, k="1400", suppression="0%")
    layout["text"] = layout["text"].replace(
        "{date: [year, decade, century]}}", "{date: [year]}, limit: 1}"
    )
    with pytest.raises(Infeasible) as caught:
        release.run(release_arguments(layout), context)
    assert caught.value.reasons
    assert caught.value.remedies
    assert list(context.folder.iterdir()) == []


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1, max_size=8), st.integers(0, 9), min_size=1, max_size=4))
def test_a_command_can_be_pasted_whatever_the_columns_are_called(levels: dict[str, int]) -> None:
    line = run_command("a b.yaml", levels=levels, time_limit="3s", report="r'.html")
    words = shlex.split(line)
    assert words[:3] == ["shoal", "run", "a b.yaml"]
    assert words[-4:] == ["--time-limit", "3s", "--report", "r'.html"]
    given_nodes = [word.removeprefix("--node=") for word in words if word.startswith("--node=")]
    try:
        assert parse_levels(given_nodes) == levels
    except (UserError, AssertionError):
        # A name that begins or ends with a space, or has "=1," in it, cannot be said in --node.
        assert any(name != name.strip() or "=" in name or "," in name for name in levels)


def test_the_sentence_is_in_the_readers_numbers() -> None:
    result = {
        "levels": {"age": 1, "sex": 0, "zip": 3},
        "smallest_class": 2049,
        "smallest_class_persons": None,
        "loss": 0.2833,
        "loss_model": "iyengar",
        "suppressed": 0,
    }
    assert release_sentence(numbers_for("en"), result) == (
        "Release (1,0,3): every record is like at least 2,048 others; 28.33% of the detail is "
        "lost; 0 records left out."
    )
    assert "2.048 others; 28,33\N{NO-BREAK SPACE}%" in release_sentence(numbers_for("de"), result)


def test_what_a_stopped_search_found_is_released_without_waiting_twice() -> None:
    found = Found(
        job="one",
        levels={"a": 1, "b": 0},
        heights={"a": 2, "b": 2},
        losses={"a": 0.5, "b": 0.0},
        loss=0.5,
        bound=0.5,
        suppressed=0,
        k=5,
        proved=True,
        ended="",
        seconds=7.3,
        records=100,
        loss_model="iyengar",
    )
    assert Standing(found.levels, is_best=True, found=found).needed() is None
    assert Standing(found.levels, is_best=True, found=found).search_limit() is None
    chosen = Standing({"a": 1, "b": 1}, is_best=False, found=found)
    assert (chosen.needed(), chosen.search_limit()) == ({"a": 1, "b": 1}, None)
    stopped = Standing(found.levels, is_best=True, found=replace(found, proved=False))
    assert (stopped.needed(), stopped.search_limit()) == ({"a": 1, "b": 0}, "8s")
    line = run_command("x.yaml", levels=stopped.needed(), time_limit=stopped.search_limit())
    assert line == "shoal run x.yaml --node=a=1,b=0 --time-limit 8s"
