"""A privacy model and a loss for Shoal, as anybody could write them."""
