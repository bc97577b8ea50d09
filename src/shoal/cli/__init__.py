"""The `shoal` command. One file for each sub-command, and no privacy logic.

- `main` starts the process: signals, errors, exit codes. `app` lists the sub-commands.
- `run`, `verify`, `check`, `risk`, `compare`, `init`, `convert`, `schema`, `hierarchy`, `plugins`,
  `doctor`, `clean`, `demo`: one sub-command each.
- `output`: tables, JSON and files that commands write. `progress`: the events of a run as lines.
  `interrupts`: what signals do.

A new command is one file and one line in `app`. Slow modules are imported inside the functions, so
that `--help` is quick.
"""
