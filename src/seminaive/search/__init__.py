"""One path engine for every search."""
