"""The compiled box search and local recoding: C, built on installation, called through ctypes.

Read in this order:

- `layout.py`: a problem as arrays, with `demands.py`, `sensitive.py` and `release.py` for what is
  demanded and `class_loss.py` for losses by class. `structures.py` makes arrays and C structures of
  lists of fields; `memory.py` is the memory of a thread, and `state.h` says what its fields mean.
- `search.c` is the depth-first search of boxes. It includes the other C files: first `counting.h`,
  `splitting.h` and `bounds.h` (the argument of the search), then `merging.h`, `small.h`,
  `together.h` and `branching.h`. What is demanded of classes is in `persons.h`, `removal.h`,
  `release.h` and `sensitive.h`; `sizes.h` refuses memory of wrong sizes.
- `local.c` and the files `local*.h` are those of local recoding (`shoal.recoding.local`).
- `explorer.py`: the Python side of one thread; `pool.py`: the threads, which share `boxes.py`.
- `build.py` compiles one library, `library.py` loads it, or says why it is not there.
"""
