"""The search: the node with the least loss whose classes meet every demand.

It works on distinct tuples with counts and never touches an engine. Read in this order:

- `problem.py`: what a strategy solves: the lattice of nodes, the classes of a node, exact checks.
  `objective.py` has the loss of a node.
- `run.py`: from a definition to the last event; `incumbent.py` has the best node so far and makes
  the events.
- `strategies/`: one strategy per file. `walks.py`, `pruning.py` and `antichain.py` are shared by
  those that go from node to node. `strategies/box.py` is the default strategy, with the box search
  in NumPy: the readable reference for the compiled one, and for plug-ins.
- `compiled/`: the same box search in C, which does the work.
- `explain.py` and `relax.py`: why there is no solution. `trial.py`: a search in its own process.
"""
