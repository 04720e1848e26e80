"""Exact rules for candidates drawn independently, one a file."""
