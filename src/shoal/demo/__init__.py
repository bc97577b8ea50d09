"""The demonstration: a synthetic patient registry and a definition that releases it.

- `files` writes the folder: data, hierarchies, definition.
- `registry` draws the patients with a seeded generator, from the words in `vocabulary`.
"""
