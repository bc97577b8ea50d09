"""From what an engine counted to tuples of codes: all that the search sees.

Read `table` first: the encoded table and its attributes. `hierarchy` makes the hierarchy of an
attribute from its definition and the values of the data, proves that it is nested, fits the levels
that the definition names, and reads and writes it as CSV. `propose` chooses a kind of hierarchy
where the definition gives none. `rows` takes apart what an engine counted and numbers equal rows,
`persons` counts persons instead of records.
"""
