"""`shoal run --ask` and `--node`: nothing is written before yes, in a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest

import shoal as library
from commands import TIME_LIMIT, leftovers, shoal
from shoal.report.proposal import Proposal

DEFINITION = """source: data.csv
output: release.csv
report: report.html
k: 5
suppression: 5
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {intervals: [10, 100]}}
  town: {role: quasi-identifier, hierarchy: towns.csv}
  ward: keep
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """300 records in two towns, and one of a town that nobody else lives in."""
    rows = [f"p{i},{30 + i % 20},{('Oslo', 'Rome')[i % 2]},w{i % 2}" for i in range(300)]
    header = "name,age,town,ward"
    rows.append("p300,77,Rareville,w1")
    (tmp_path / "data.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    towns = "Oslo;north\nRome;south\nRareville;west\n"
    (tmp_path / "towns.csv").write_text(towns, encoding="utf-8")
    (tmp_path / "definition.yaml").write_text(DEFINITION, encoding="utf-8")
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name != "tmp"}


def answered(folder: Path, answer: bytes, *options: str) -> subprocess.CompletedProcess[str]:
    """The command with an answer that does not come from a terminal."""
    return shoal("run", "definition.yaml", "--ask", *options, folder=folder, answer=answer)


def in_terminal(folder: Path, *options: str) -> pexpect.spawn:
    """The command in a pseudo-terminal of 80 columns, waiting for the answer."""
    (folder / "tmp").mkdir(exist_ok=True)
    child = pexpect.spawn(
        sys.executable,
        ["-m", "shoal", "run", "definition.yaml", "--ask", *options],
        cwd=str(folder),
        env={**os.environ, "TMPDIR": str(folder / "tmp"), "TERM": "xterm"},
        encoding="utf-8",
        timeout=TIME_LIMIT,
        dimensions=(50, 80),
    )
    child.expect_exact("Release this? [y/N] ")
    return child


def code_of(child: pexpect.spawn) -> int | None:
    child.expect(pexpect.EOF)
    child.close()
    return int(child.exitstatus) if child.exitstatus is not None else None


@pytest.mark.slow
def test_yes_in_a_terminal_releases(folder: Path) -> None:
    before = files(folder)
    child = in_terminal(folder)
    shown = str(child.before)
    assert files(folder) == before
    for temporary in (folder / "tmp").iterdir():
        assert temporary.stat().st_mode & 0o777 == 0o700
        assert list(temporary.iterdir()) == []
    child.sendline("yes")
    assert code_of(child) == 0
    assert leftovers(folder) == []
    assert files(folder) == before | {"release.csv", "report.html"}
    assert "This would be released to release.csv" in shown.replace("\r\n", " ")
    assert "1 of 301 records suppressed" in shown
    assert "Rareville" not in shown
    assert "west" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["", "yes please"])
def test_any_other_answer_in_a_terminal_releases_nothing(folder: Path, answer: str) -> None:
    before = files(folder)
    child = in_terminal(folder, "--json", "result.json", "--proof", "proof.jsonl")
    child.sendline(answer)
    assert code_of(child) == 5
    assert str(child.before).strip().endswith("declined; nothing was released [declined]")
    assert files(folder) == before
    assert leftovers(folder) == []


@pytest.mark.slow
def test_end_of_input_in_a_terminal_releases_nothing(folder: Path) -> None:
    before = files(folder)
    child = in_terminal(folder)
    child.sendeof()
    assert code_of(child) == 5
    assert files(folder) == before


@pytest.mark.slow
def test_ctrl_c_at_the_question_releases_nothing(folder: Path) -> None:
    before = files(folder)
    child = in_terminal(folder, "--keep-best")
    child.sendintr()
    assert code_of(child) == 130
    assert files(folder) == before
    assert leftovers(folder) == []


@pytest.mark.slow
def test_without_a_terminal_the_answer_comes_from_the_pipe(folder: Path) -> None:
    before = files(folder)
    for answer in (b"", b"n\n", b"\xff\xfe\n", b"y" * 100_000):
        ended = answered(folder, answer)
        assert ended.returncode == 5
        assert ended.stderr.strip().split("\n")[-1].startswith("error: declined;")
        assert files(folder) == before
    assert answered(folder, b"Y\n").returncode == 0
    assert files(folder) == before | {"release.csv", "report.html"}


@pytest.mark.slow
def test_the_question_is_shown_when_quiet_and_keeps_standard_output_free(folder: Path) -> None:
    declined = answered(folder, b"n\n", "--json", "-")
    assert (declined.returncode, declined.stdout) == (5, "")
    quiet = answered(folder, b"y\n", "--quiet", "--json", "-")
    assert quiet.returncode == 0
    assert json.loads(quiet.stdout)["verified"] is True
    assert "Release this?" in quiet.stderr
    assert "Reading" not in quiet.stderr


@pytest.mark.slow
def test_a_chosen_node_is_released_by_the_command(folder: Path) -> None:
    options = ("--node", "age=2", "--node", "town=0", "--json", "r")
    ended = shoal("run", "definition.yaml", *options, folder=folder)
    assert ended.returncode == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "shoal run definition.yaml --node age=2 --node town=0" in page
    assert "of the chosen node" in ended.stdout
    assert json.loads((folder / "r").read_text(encoding="utf-8"))["levels"] == {"age": 2, "town": 0}


@pytest.mark.slow
def test_a_chosen_node_that_is_not_safe_writes_nothing(folder: Path) -> None:
    before = files(folder)
    options = ("--node", "age=0", "--node", "town=0", "--suppression", "0", "--json", "r.json")
    ended = shoal("run", "definition.yaml", *options, folder=folder)
    assert ended.returncode == 3
    assert "[node-not-safe]" in ended.stderr
    assert "Rareville" not in ended.stderr
    assert files(folder) == before
    wrong = shoal("run", "definition.yaml", "--node", "age=2,age=1", folder=folder)
    assert wrong.returncode == 2
    assert "age: is there twice [bad-node]" in wrong.stderr


class Asked:
    """Remembers what it was asked, and always answers the same."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.proposals: list[Proposal] = []

    def __call__(self, proposal: Proposal) -> bool:
        self.proposals.append(proposal)
        return self.answer


def test_a_callback_decides_in_python(folder: Path) -> None:
    no = Asked(False)
    with pytest.raises(library.Declined) as declined:
        library.run(folder / "definition.yaml", ask=no)
    assert declined.value.exit_code == 5
    assert not (folder / "release.csv").exists()
    (proposal,) = no.proposals
    assert not proposal.result.verified
    assert proposal.result.suppressed == 1
    assert "Rareville" not in str(proposal) + proposal._repr_html_()
    assert list(proposal.to_pandas()["attribute"]) == ["age", "town"]
    result = library.run(folder / "definition.yaml", ask=Asked(True))
    assert result.verified
    assert (folder / "release.csv").exists()


def test_a_raw_value_is_shown_only_where_k_released_records_have_it(folder: Path) -> None:
    yes = Asked(True)
    rows = [f"p{i},{30 + i},Oslo,w" for i in range(40)]
    text = "\n".join(["name,age,town,ward", *rows, ""])
    (folder / "data.csv").write_text(text, encoding="utf-8")
    library.run(folder / "definition.yaml", ask=yes)
    age, town = yes.proposals[0].examples
    assert age.before is None
    assert town.before == "Oslo"
    assert all(each.records >= 5 for each in yes.proposals[0].largest)
