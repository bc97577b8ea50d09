"""Local recoding: every class has its own levels, with a bound of what any such recoding loses.

Read in this order:

- `run.py`: `LocalSearch`, from a problem to events; `refusal.py` says what cannot be recoded.
  `raised.py` searches a table that was read from higher levels up.
- `solution.py`: `Recoding`, what it costs, and whether the models accept its classes.
- `prepare.py`: a problem as paths and whole costs; `memory.py`: the memory of the compiled code.
- `groups.py`: packing, repairing and annealing groups, in C: `search/compiled/local.h` and the
  files that begin with `local_`, compiled as `local.c` into the library of the search.
- `bound.py`: the lower bounds. `records.py` and `labels.py` look at one record at a time,
  `prices.py` at all labels. `shoal.proof.prices` checks prices in plain Python.

The argument is in docs/internals/local.md.
"""
