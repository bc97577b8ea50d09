"""What a custodian looks at before signing: the risk of a table, before and after.

- `risk`: attackers, class sizes, uniques: `risk_of` measures one table.
- `population`: estimators of how many people are unique in the population.
- `keys`: which sets of columns tell records apart, and the minimal ones that do.
- `identifiers`: columns that look like one of the 18 kinds of identifiers of HIPAA.
- `before_after`: the same for files and definitions: `shoal.risk`.
- `solutions`: the least lossy safe nodes, and with `minimal` those with no safe node below them.
- `lattice`: every node, safe or not; `hasse` draws nodes. `nodes` is what these lists share.
"""
