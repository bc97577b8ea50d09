"""Losses: what a transformation costs.

- `base.py`: the three kinds of losses, by cell, by level and by class, and what each must promise
  so that bounds hold.
- `builtin.py`: the losses that Shoal ships. By cell: `iyengar`, `precision`, `entropy`. By level:
  `weighted`. By class: `discernibility`, `class-size`.
- `intervals.py`: the widths of intervals, for `iyengar` on columns of numbers.
"""
