"""The engines: what reads, counts, recodes and writes tables, each where its data is.

Read `base.py` first: what is asked of an engine (Question, Recoding) and what it gives (Source,
Staged); `options.py` says what it opens and writes. Then `opening.py`, which chooses the engine for
a source and a target. Then one engine:

- `duckdb/` files, tables of DuckDB files, and whatever is written to a file; `frames/` pandas,
  polars and Arrow on top of it
- `database/` PostgreSQL, MariaDB, MySQL and SQLite; `spark/` clusters
- `united.py` several of these as one table
- `formats/` CSV, Parquet, Excel and XML outside of any engine, and the plug-ins that add formats

The other modules are shared by all engines: `failures.py` (errors that are alike), `process.py`
(memory, Ctrl-C), `local_files.py` (same or not, temporary, written or replaced in one step) and
`object_store/` (objects of S3, copied here and put there).
Engines do not import each other, except that all may use DuckDB; an import contract keeps that.
"""
