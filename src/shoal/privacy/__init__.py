"""Privacy models: what is demanded of the classes of a release. One model per file.

- `base.py`: what a model is (`PrivacyModel`), how the search and the proof checker ask one, and
  counts and shares of sensitive values, which most models use.
- `k_anonymity.py`: the shortest model; it looks at class sizes alone.
- `distinct_diversity.py`, `entropy_diversity.py`, `recursive_diversity.py`: how many values a class
  has, and how evenly.
- `t_closeness.py`: how far a class is from the whole table.
- `alpha.py`, `beta_likeness.py`, `delta_disclosure.py`: how frequent one value may be in a class.
- `population.py`: k-map and delta-presence, against a table that the records are a part of.
- `risk.py`: demands on all released classes together, the average risk and the records above one.

The verifier judges by code of its own (`shoal.verify.demands`).
"""
