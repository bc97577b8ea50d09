"""The demonstration: a synthetic patient registry and a definition that releases it.

`shoal demo` writes it into a folder and runs it like any definition.

- `files` writes the folder: data, hierarchies, definition.
- `registry` draws the patients with a seeded generator, from the words in `vocabulary`.
"""
