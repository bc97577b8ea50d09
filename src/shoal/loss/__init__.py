"""Losses: what a transformation costs."""
