"""The verifier: judges a written release, with code of its own, and does nothing else.

It imports nothing of what made the release: no encoding, search or release plan. It counts classes
with `shoal.measure`, which is not used by those either. Read in this order:

- `judge.py`: `verify`, the judgement of a release that is open as a source: one finding per check.
- `levels.py` and `labels/`: whether every label of a column is at one level of its hierarchy.
- `demands.py`: whether every class meets the demands, with a judge for each privacy model.
- `sources.py`: what is counted in the source and in the table of the population, so that the
  release can be compared with it: records, values, persons, people.
- `assignment.py`: which labels each tuple got in a local recoding, by which persons are counted.
- `file.py`: `verify_file`, the judgement of a release file long after its run; `stated.py` reads
  what the result of the run claims and checks the hierarchies in it.
"""
