"""Editing hierarchies in the page, without the page: values in, values out, no engine, no file.

Read `tree` first: a frozen tree of values and the edits that a custodian can make. `written` goes
from the hierarchy of a definition to a tree and back. `levels` says what each level of a hierarchy
does to the values of a column; `outline` lists the rows of a tree that are shown, `cut_points`
edits those of intervals, and `defaults` is what a kind begins with. What was there before an edit
is kept by the project (`undo`).

The hierarchies themselves are built by `shoal.encode`, and checked by `shoal.definition`.
"""
