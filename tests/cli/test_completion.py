"""What the shell completes, in a real bash, and in zsh and fish where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import prefork

BASH = """
eval "$(_SHOAL_COMPLETE=source_bash shoal)"
for line in "shoal ru" "shoal run --re" "shoal mart req" "shoal check --log"; do
  COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _shoal_completion shoal
  echo "$line: ${COMPREPLY[*]}"
done
complete -p shoal
"""
FISH = "_SHOAL_COMPLETE=source_fish shoal | source; complete -C 'shoal run --re'"
ZSH = """
autoload -U compinit; compinit -u -d "$PWD/dump"
eval "$(_SHOAL_COMPLETE=source_zsh shoal)"
echo ${_comps[shoal]}
_TYPER_COMPLETE_ARGS="shoal run --re" _SHOAL_COMPLETE=complete_zsh shoal
"""


def in_shell(folder: Path, *command: str) -> str:
    """What a shell prints that finds a `shoal` which need not import anything."""
    prefork.program(folder)
    path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.slow
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    assert in_shell(tmp_path, "bash", "--norc", "-c", BASH).splitlines() == [
        "shoal ru: run",
        "shoal run --re: --recoding --report",
        "shoal mart req: request",
        "shoal check --log: --log-file",
        "complete -o default -F _shoal_completion shoal",
    ]


@pytest.mark.slow
def test_other_shells_complete_the_same(tmp_path: Path) -> None:
    for shell, arguments in (("fish", ["-c", FISH]), ("zsh", ["-f", "-c", ZSH])):
        if shutil.which(shell) is not None:
            said = in_shell(tmp_path, shell, *arguments)
            assert "--recoding" in said
            assert "--report" in said
