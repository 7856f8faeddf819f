//! What is wrong with a definition or a stored entry, where, and what cures it.
