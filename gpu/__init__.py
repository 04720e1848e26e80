"""The rules of `resispec_ref`, batched in Torch and JAX: as fast as memory allows, exact in law.

`verify` takes probabilities, `verify_logits` logits; both take the candidates and the uniforms that
`resispec_ref.verify` takes, and return its record. `python -m resispec_gpu.validate` compares the two,
`python -m resispec_gpu.benchmark` measures.
"""

from resispec_gpu.acceptance import verify, verify_logits
from resispec_gpu.rules import RULES

__all__ = ["RULES", "verify", "verify_logits"]
