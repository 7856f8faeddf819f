"""The drills, one per file."""
