"""Are an engine's settings lossless? What its documentation says of each, and the exact bias of those that are not."""

from resispec_ref.guard.finding import Finding, OnPair
from resispec_ref.guard.verdict import Verdict, lossless

__all__ = ["Finding", "OnPair", "Verdict", "lossless"]
