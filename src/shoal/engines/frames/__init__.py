"""Frames of pandas, polars and Arrow as sources, and releases of the same kind.

`source.py` comes first: a frame becomes an Arrow table that DuckDB counts and recodes, and a
release goes the same way back before it is verified. `pandas.py` and `polars.py` convert frames to
Arrow and back; each is imported only for such a frame. `arrow_types.py` converts Arrow types that
DuckDB does not have.
"""
