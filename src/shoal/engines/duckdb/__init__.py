"""Files and frames, counted, recoded and written by an in-process DuckDB that spills to disk.

Read in this order: `session.py` is one private connection, `instances.py` keeps idle instances of
DuckDB for the next one; `relation.py` is a table, or several as one, as SQL, and what the text of a
value is; `queries.py` has the two queries, counting and recoding, which sorts few texts as numbers
(`enums.py`); `source.py` puts them together as a Source. `paths.py` finds files and `files.py`
opens them: `json_shape.py` and the readers of `formats/` say how each is read. For a release,
`writing.py` writes a query to a file, with formulas escaped and in the layout of another country
(`local_csv.py`). `staged.py`, which `opening.py` calls, keeps a file or folder hidden until it is
published, `staged_object.py` an object of S3. `tables/` has the tables of DuckDB files.
"""
