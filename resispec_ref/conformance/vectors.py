"""The vectors: all records, as JSON Lines, and the copy of them that is released with the package."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import resispec_ref
from resispec_ref.conformance.edges import edge_records
from resispec_ref.conformance.positions import Record, position_records
from resispec_ref.conformance.probes import MARGIN
from resispec_ref.conformance.sequences import sequence_records

FORMAT = 1
"""Changes when a field does, or its meaning."""
RELEASED = Path(resispec_ref.__file__).parent / "data"
"""The folder of the released copy."""


def compute_vectors() -> list[Record]:
    """All records, the header first; computed anew, which takes half a minute and SciPy (the extra `oracle`).

    The same on every machine: numbers are exact, but for decimals and for the weights of rules that choose in floats,
    whose records are kept only where the choice has short fractions.
    """
    records = [*position_records(), *edge_records(), *sequence_records()]
    return [header(records), *records]


def header(records: list[Record]) -> Record:
    """What the file says about itself."""
    return {
        "kind": "header",
        "format": FORMAT,
        "library": f"resispec-ref {resispec_ref.__version__}",
        "schema": "vectors.schema.json",
        "margin": str(MARGIN),
        "records": dict(Counter(record["kind"] for record in records)),
        "checks": sum(len(record["tokens"]) for record in records),
        "controls": sum(len(record["controls"]) for record in records),
    }


def released_vectors() -> Iterator[dict[str, Any]]:
    """The records of the released copy, the header first. What their fields mean is on the page of the vectors.

    >>> next(released_vectors())["format"]
    1
    """
    with (RELEASED / "vectors.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def as_lines(records: list[Record]) -> str:
    """JSON Lines, without spaces; keys in the order in which they are documented.

    >>> as_lines([{"kind": "header", "format": 1}])
    '{"kind":"header","format":1}\\n'
    """
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
