"""The `shoal` command. One file for each sub-command, and no privacy logic.

- `main` starts the process: signals, errors, exit codes. `app` lists the sub-commands.
- `run` makes a release, `apply` another like it; `verify` and `check` look at one. `risk`,
  `solutions`, `lattice`, `utility`, `explain`, `what_if`, `frontier` and `compare` analyse. `init`,
  `convert`, `schema` and `hierarchy` help to write definitions. `mart` is for linked sources, `ui`
  and `serve` start the web application. `plugins`, `doctor`, `clean` and `demo` are about Shoal.
- `terminal`: what commands show, ask and save. `interrupts`: what signals do. `addresses`,
  `file_options` and `log_file`: options that several commands have.

A new command is one file and one line in `app`. Slow modules are imported inside the functions, so
that `--help` is quick.
"""
