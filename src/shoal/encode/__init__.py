"""From what an engine counted to tuples of codes: all that the search sees.

Read `table` first: the encoded table and its attributes. `build` makes the hierarchy of an
attribute from its definition and the values of the data, and fits the levels that the definition
names. `hierarchy` is the result, proved to be nested; `hierarchy_file` reads and writes it as CSV.
`propose` chooses a kind of hierarchy where the definition gives none. `counted` takes apart what an
engine counted, `classes` numbers equal rows, `persons` counts persons instead of records.
"""
