"""The compiled box search and local recoding: C, built on installation, called through ctypes.

Read in this order:

- `layout.py`: a problem as arrays; `demands.py` and `sensitive.py` have its demands on values,
  `release.py` those on the population and the risk, `class_loss.py` its loss where that is one of
  classes.
- `memory.py`: the memory of one thread, from one list of fields; `structures.py` makes arrays and
  C structures of such a list. `state.h` has the same fields, and says what they mean.
- `search.c` is the depth-first search. It includes the other C files, so the compiler sees them as
  one: `counting.h` (the classes of a box, what a level drops), `splitting.h` (split classes),
  `small.h` (price levels by small classes), `merging.h` (merge tuples), `bounds.h` (the argument
  of the search, and how boxes shrink), `together.h` (attributes that fall together),
  `branching.h`; `persons.h`, `removal.h`, `release.h` and `sensitive.h` (what is demanded of
  classes), `class_loss.h` (losses by class), `sizes.h` (memory of wrong sizes is refused).
- `local.c` and the files `local*.h` are those of local recoding (`shoal.recoding.local`), a second
  translation unit of the same library. It shares `state.h` and `removal.h`.
- `explorer.py`: the Python side of one thread; `pool.py`: the threads, which share open boxes
  (`boxes.py`) and the best cost.
- `build.py` compiles the C files into one library, `library.py` loads it or says why there is none;
  the NumPy search then does the work.
"""
