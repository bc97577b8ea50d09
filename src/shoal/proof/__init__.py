"""Proofs of optimality: written by a search, checked by plain code that shares nothing with it.

- `format.py`: the proof file. First what is claimed, then every closed box with its reason.
- `log.py`: writing one during a search.
- `check.py`: `check_file`, the four questions that decide whether a proof is right, among them
  whether its boxes cover the lattice.
- `rows.py`: the source, counted again for the checker; `instance.py`: the classes and the loss of a
  node.
- `bound.py`: what every node of a box costs at least.
- `prices.py`: whether prices of records bound the loss of every local recoding, node by node;
  `price_file.py`: the file of such prices; `price_check.py`: the check of it, for large tables.

The argument is in docs/internals/proof.md.
"""
