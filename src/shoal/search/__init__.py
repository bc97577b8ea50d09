"""The search: the node with the least loss whose classes meet every demand.

It works on distinct tuples with counts and never touches an engine. Read in this order:

- `problem.py`: what a strategy solves: the lattice of nodes, the classes of a node, exact checks.
  `objective.py` has the loss of a node.
- `run.py`: from a definition to the last event; `incumbent.py` has the best node so far and makes
  the events.
- `strategies/`: one strategy per file. `walks.py`, `pruning.py` and `antichain.py` are shared by
  those that go from node to node. `strategies/box.py` is the default strategy, with the box search
  in NumPy, the readable reference for the compiled one.
- The compiled box search: `tightening.py` has the argument. `layout.py` and `memory.py` lay out the
  problem, `descent.py` is the depth-first search, `explorer.py` its Python side, `pool.py` the
  threads. The kernels: `kernels.py`, `sparse.py`, `splitting.py`, `merging.py` (counting classes),
  `persons.py`, `demands.py`, `removal.py`, `owed.py` (what is demanded of them), `cuts.py`,
  `by_attributes.py` (losses by attribute), `class_loss.py`, `cells.py`, `by_cells.py` (losses by
  class), `notes.py` (closed boxes).
- `explain.py` and `relax.py`: why there is no solution. `trial.py`: a search in its own process.
"""
