"""Attacks on Shoal from outside, with random trials that can be repeated by their seeds.

Read `trial.py` first: what a trial is and when it fails. `tables.py` makes random tables.
`stores.py` chooses where to store them (`files.py`, `databases.py`, Spark, or a frame of
`arrow.py`) and how to read them again with other libraries than Shoal. `judge.py` says whether a
release is safe. Then one file for each kind of attack, which ends with a description of it:
releases and safety; optimality and tampering, on the small `problems.py`; determinism; accidents,
which share `replacing.py`; broken inputs, which share `mutations.py` and `releasing.py`.
`command.py` runs them all within a time budget and prints the table; `report.py` writes
docs/reliability.md.

Nothing here imports more of Shoal than its public functions and errors, but for the expressions of
a mart, which are parsed and computed alone.
"""
