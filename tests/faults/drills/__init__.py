"""A drill a file."""
