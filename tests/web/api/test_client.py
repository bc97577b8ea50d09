"""`shoal.Client` does over the network what the functions of the package do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from shoal.client.session import Unreachable
from shoal.errors import BadData, BadDefinition, Infeasible, Mistake, ShoalError, rebuilt
from web.server import Running

pytestmark = pytest.mark.slow
pytest_plugins = ("web.server",)

DEFINITION = """
source: people.csv
output: safe.csv
k: 4
attributes:
  age: {role: quasi-identifier, hierarchy: levels/ages.csv}
  zip: {role: quasi-identifier, hierarchy: {mask: 5}}
"""


@pytest.fixture(scope="module")
def client(team_server: Running) -> Iterator[shoal.Client]:
    with shoal.Client(team_server.base, team_server.tokens["bob"]) as client:
        yield client


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    rows = [f"{age},{code}" for age in (31, 38, 44) for code in (10115, 10117)]
    (tmp_path / "people.csv").write_text("age,zip\n" + "\n".join(rows * 3) + "\n")
    (tmp_path / "levels").mkdir()
    ages = "".join(f"{age};{age // 10}0s;*\n" for age in (31, 38, 44))
    (tmp_path / "levels" / "ages.csv").write_text(ages)
    (tmp_path / "people.yaml").write_text(DEFINITION)
    return tmp_path / "people.yaml"


FILES = ["people.csv", "levels/ages.csv"]


def test_a_definition_file_is_run_with_its_files_and_gives_the_same_release(
    client: shoal.Client, definition: Path
) -> None:
    job = client.run(definition, FILES)
    names: list[str] = []
    result = job.wait(lambda event: names.append(event.name))
    assert result["result"]["status"] == "optimal"
    assert {"phase", "proved", "released"} <= set(names)
    saved = job.save_release(definition.parent / "remote.csv")
    shoal.run(definition)
    assert saved.read_bytes() == (definition.parent / "safe.csv").read_bytes()
    assert job.save_report(definition.parent / "report.html").stat().st_size > 1000
    assert job.save_definition(definition.parent / "d.xml").read_text().startswith("<?xml")
    assert client.risk(job).wait()["after"]["prosecutor"]["highest"] <= 0.25
    assert client.job(job.id).state() == "done"


def test_a_definition_is_recoded_locally_over_the_network(
    client: shoal.Client, definition: Path
) -> None:
    text = definition.read_text() + "recoding: local\nsearch: {effort: low}\n"
    definition.write_text(text.replace("hierarchy: levels/ages.csv", "hierarchy: {mask: 2}"))
    job = client.run(definition, FILES[:1])
    bests: list[object] = []
    result = job.wait(lambda event: bests.append(event.data.get("best")))["result"]
    found = [each for each in bests if isinstance(each, dict)]
    assert found
    assert all(each["node"] is None and each["loss"] >= 0 for each in found)
    assert result["recoding"] == "local"
    saved = job.save_release(definition.parent / "remote.csv")
    local = shoal.run(definition)
    assert saved.read_bytes() == (definition.parent / "safe.csv").read_bytes()
    assert {
        name: {int(n): records for n, records in levels.items()}
        for name, levels in result["levels"].items()
    } == local.levels
    with pytest.raises(ShoalError) as refused:
        client.run(definition, FILES[:1], node={"age": 1, "zip": 1}).wait()
    assert refused.value.code == "full-domain-only"


def test_an_upload_can_be_used_again_by_its_id(client: shoal.Client, definition: Path) -> None:
    upload = client.upload(definition.parent / "people.csv")
    files = {"people.csv": upload, "levels/ages.csv": "levels/ages.csv"}
    assert "source: people.csv" in client.check(definition, files)
    client.delete_upload(upload)
    assert upload not in [each["id"] for each in client.uploads()]


def test_errors_are_those_of_the_package(client: shoal.Client, definition: Path) -> None:
    text = definition.read_text()
    definition.write_text(text.replace("k: 4", "k: 1"))
    with pytest.raises(BadDefinition) as wrong:
        client.check(definition, FILES)
    assert [(each.key, each.line) for each in wrong.value.mistakes] == [("k", 4)]
    definition.write_text(text.replace("k: 4", "k: 500"))
    with pytest.raises(Infeasible) as impossible:
        client.run(definition, FILES).wait()
    assert impossible.value.remedies
    with pytest.raises(BadData, match="no file"):
        client.upload("nowhere.csv")
    with pytest.raises(ShoalError, match="no such job"):
        client.job("0" * 32)


def test_a_wrong_token_or_address_is_said(team_server: Running) -> None:
    with shoal.Client(team_server.base, "guessed") as client, pytest.raises(ShoalError) as refused:
        client.jobs()
    assert refused.value.code == "not-logged-in"
    with shoal.Client("http://127.0.0.1:9", "x") as client, pytest.raises(Unreachable):
        client.jobs()


def test_a_problem_becomes_the_error_it_was_made_from() -> None:
    unknown = rebuilt({"kind": "Path", "code": "new", "detail": "of a newer server"})
    assert type(unknown) is ShoalError
    assert (unknown.code, unknown.what) == ("new", "of a newer server")
    mistake = Mistake("k", "is wrong", "correct it", 3)
    problem = {"kind": "BadDefinition", "file": "x", "mistakes": [vars(mistake)]}
    wrong = rebuilt(problem)
    assert isinstance(wrong, BadDefinition)
    assert wrong.mistakes == (mistake,)
