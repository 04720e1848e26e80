"""The laws of the candidates that are drawn: distinct sets of them, and several drafters."""
