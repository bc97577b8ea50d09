"""One part of each kind for Shoal, as anybody could write them."""
