"""Proofs of optimality: written by a search, checked by plain code that shares nothing with it."""
