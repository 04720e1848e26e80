"""Exact rules for distinct candidates, one a file."""
