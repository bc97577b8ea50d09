"""The compiled box search: C, built when the package is installed, called through ctypes.

Read in this order:

- `build.py` compiles the C files into one library, `library.py` loads it or says why there is none;
  the NumPy search then does the work.
- `memory.py`: the memory of one thread, from one list of fields; `structures.py` makes arrays and
  C structures of such a list. `state.h` has the same fields, and says what they mean.
- `search.c` includes all other C files in reading order; the compiler sees them as one.
"""
