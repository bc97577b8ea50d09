"""The demonstration: a synthetic patient registry, and a definition that releases it."""
