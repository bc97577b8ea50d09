"""What the labels of each kind of hierarchy look like, written from its description alone."""
