"""The kinds of hierarchies: their keys, their checks, their labels, their XML.

Read `base` first: it says what a kind is. Then `mask`, which has the shortest kind, `suppress`,
too. The others are in `numbers` (`intervals` and `cuts`), `dates`, `groups`, `listed` (CSV files
and trees) and `plugin` (builders that a plug-in brings). `registry` finds all kinds and makes the
type of the key `hierarchy`.

A new kind is one new module here with a subclass of `Kind`. Everything else asks the kind: reading
and writing YAML, JSON and XML, the schemas, the checks, `encode`, and the verifier, which asks for
its rows once more. For the kinds of Shoal the verifier has code of its own, in
`shoal.verify.labels`, which never calls `Kind.rows`.
"""
