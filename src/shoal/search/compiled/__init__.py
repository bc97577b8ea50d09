"""The box search in C, compiled ahead of time and called through ctypes.

`search.c` includes the other C files in reading order. build.py compiles them into one shared
library, library.py loads it, or says why there is none; the NumPy search then does the work.
"""
