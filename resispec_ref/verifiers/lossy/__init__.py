"""Rules that are not exact, on purpose or not, one a file."""
