"""Conformance for every language: vectors with exact answers, what known faults answer, and programs that read them."""

from resispec_ref.conformance.vectors import released_vectors
from resispec_ref.conformance.write import write_vectors

__all__ = ["released_vectors", "write_vectors"]
