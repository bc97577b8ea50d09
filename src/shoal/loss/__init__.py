"""Losses: what a transformation costs. One loss per file.

- `base.py`: the three kinds of losses, by cell, by level and by class, and what each must promise
  so that bounds hold.
- By cell: `iyengar.py`, `precision.py`, `entropy.py`.
- By level: `weighted.py`.
- By class: `discernibility.py`, `class_size.py`.
"""
