"""What people and scripts read of a run. Nothing here searches or judges.

Read in this order:

- `result`: puts the `Result` of a run together, and writes it as JSON.
- `sections`: the answers of a result in sentences and titled sections, the same in the terminal,
  in notebooks and in reports.
- `render`: sections as HTML and as plain text.
- `run`: the report of a run as a file: the answers, then what the run rests on.
- `shown`: the base of values that have a text, a card in a notebook, a data frame and a picture.
- `comparison`, `chart`: the report of a comparison of strategies.
- `write`: small text files, written whole or not at all.

A new section of the report is one function in `sections`, or in `run` if it needs the definition.
"""
