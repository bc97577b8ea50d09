"""A small language for derived columns: survival in days, a class of BMI, a code from a map.

An expression can read the columns and maps that it names, and nothing else. Its text is parsed by
our own parser into a tree; SQL for DuckDB is written from the tree, with every name and every text
quoted. In the order to read:

- `tree`: what an expression consists of; `tokens`, `functions`, `parsing`: from text to tree;
  `writing`: from tree to text.
- `expression`: a parsed expression and what it reads.
- `values`: values as SQL, with their failures; `reading`: columns and kinds; `operators`, `calls`.
- `derived`: the query of a derived column, and what its errors say.

docs/guides/mart-expressions.md says what every operator and function means.
"""

from shoal.mart.expressions.derived import FAILED as FAILED
from shoal.mart.expressions.derived import DerivedColumn as DerivedColumn
from shoal.mart.expressions.derived import derive as derive
from shoal.mart.expressions.expression import Expression as Expression
from shoal.mart.expressions.expression import parse as parse
from shoal.mart.expressions.reading import Input as Input
