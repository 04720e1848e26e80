"""The lab is a page of its own: its files go to `lab/` of the built site as they are."""

import shutil
from pathlib import Path


def copy_lab(app, exception):
    if exception is None and app.builder.format == "html":
        shutil.copytree(Path(app.srcdir) / "lab", Path(app.outdir) / "lab", dirs_exist_ok=True)


def setup(app):
    app.connect("build-finished", copy_lab)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
