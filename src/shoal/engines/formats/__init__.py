"""File formats outside of any engine: what a file is, and how its rows are read and written.

`registry.py` comes first: which format a file has by its ending, and the protocols of readers and
writers, which plug-ins implement. `csv.py` guesses delimiter, quote, encoding and header of a CSV
file, and reads its rows in Python, to tidy a file or to say where it is broken. `parquet.py` reads
the columns of Parquet files and writes folders of them. `excel.py` (with `workbook.py` and
`sheet_rows.py`) and `xml.py` have a reader and a writer each, registered like those of plug-ins.
`guessing.py` guesses for `shoal init` how a file is read, from `samples.py`: `file_kind.py`,
`encodings.py`, `table_form.py`, `decimals.py`. DuckDB itself reads CSV, Parquet and JSON.
"""
