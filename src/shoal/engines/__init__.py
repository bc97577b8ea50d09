"""The engines: what reads, counts, recodes and writes tables, each where its data is.

Read `base.py` first: what is asked of an engine (Question, Recoding) and what it gives (Source,
Staged); `options.py` says what it opens and writes. Then `opening.py`, which chooses the engine for
a source and a target. Then one engine: `duckdb/` for files, tables of DuckDB files, and whatever is
written to a file, with `frames/` (pandas, polars, Arrow) on top of it; `database/` for PostgreSQL,
MariaDB, MySQL and SQLite; `spark/` for clusters. `united.py` is several of these as one table.

The rest is shared by all: `formats/` (CSV, Parquet, Excel and XML outside of any engine, and
plug-ins), `failures.py` (errors that are alike), `process.py` (memory, Ctrl-C), `local_files.py`
(same or not, temporary, written or replaced in one step), `database_files.py` (files that need a
URL) and `object_store/` (objects of S3).
Engines do not import each other, except that all may use DuckDB; an import contract keeps that.
"""
