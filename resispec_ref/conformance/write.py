"""Writing the vectors to a folder, with what reads them in each language."""

from __future__ import annotations

from pathlib import Path

from resispec_ref.conformance import runners
from resispec_ref.conformance.counts import count_records
from resispec_ref.conformance.vectors import RELEASED, as_lines, compute_vectors

_RUNNERS = Path(runners.__file__).parent
WRITTEN: dict[str, tuple[Path, str]] = {
    "vectors.jsonl": (RELEASED / "vectors.jsonl", "records: inputs, right answers, and those of known faults"),
    "counts.jsonl": (
        RELEASED / "counts.jsonl",
        "counts that a right verifier may have, for engines that draw",
    ),
    "vectors.schema.json": (RELEASED / "vectors.schema.json", "JSON Schema of a line of either"),
    "test_vectors.py": (_RUNNERS / "pytest_runner.py", "Python: put your verifier in; python -m pytest"),
    "counts.py": (_RUNNERS / "counts.py", "counts in twenty lines, to write again in any language"),
    "resispec_vectors.hpp": (_RUNNERS / "resispec_vectors.hpp", "C++: the runner, one header"),
    "verifier.cpp": (_RUNNERS / "verifier.cpp", "C++: put your verifier in"),
    "resispec_vectors.rs": (_RUNNERS / "resispec_vectors.rs", "Rust: the runner, one module"),
    "verifier.rs": (_RUNNERS / "verifier.rs", "Rust: put your verifier in"),
}
"""Name of a file -> where it is in this package, and what it is."""
_COMPUTED = {"vectors.jsonl": compute_vectors, "counts.jsonl": count_records}
YOURS = ("test_vectors.py", "counts.py", "verifier.cpp", "verifier.rs")
"""Files that are there to be changed, and are never replaced."""


def write_vectors(directory: Path | str, *, compute: bool = False) -> list[Path]:
    """Write vectors, schema and runners to a folder; returns the paths of what was written.

    Args:
        directory: made if it is not there. Files in it are replaced, but not those into which a verifier is put.
        compute: whether the records are computed anew, or copied from the release. The bytes are the same.

    Raises:
        OSError: the folder cannot be written to.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> len(write_vectors(folder)), len(write_vectors(folder))
    (9, 5)
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, (source, _) in WRITTEN.items():
        path = folder / name
        if name in YOURS and path.exists():
            continue
        anew = _COMPUTED.get(name) if compute else None
        path.write_text(as_lines(anew()) if anew else source.read_text(encoding="utf-8"), encoding="utf-8")
        paths.append(path)
    return paths
