"""Writing the vectors, and what goes with them, to a folder."""

from __future__ import annotations

from pathlib import Path

from resispec_ref.conformance.vectors import RELEASED, as_lines, compute_vectors

WRITTEN = {
    "vectors.jsonl": "records: inputs, right answers, and those of known faults",
    "vectors.schema.json": "JSON Schema of a line of vectors.jsonl",
}
"""Name of a file -> what it is."""


def write_vectors(directory: Path | str, *, compute: bool = False) -> list[Path]:
    """Write the files of `WRITTEN`; returns their paths.

    Args:
        directory: made if it is not there; files of these names in it are replaced.
        compute: whether the records are computed anew, or copied from the release. The bytes are the same.

    Raises:
        OSError: the folder cannot be written to.

    >>> import tempfile
    >>> [path.name for path in write_vectors(tempfile.mkdtemp())][0]
    'vectors.jsonl'
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    computed = {"vectors.jsonl": lambda: as_lines(compute_vectors())} if compute else {}
    paths = []
    for name in WRITTEN:
        text = computed[name]() if name in computed else (RELEASED / name).read_text(encoding="utf-8")
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths
