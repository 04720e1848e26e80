"""Docstrings are written to be read in Python, with `names` and formulas in single backticks.

reStructuredText wants double ones for code; single ones mean references there. They are doubled here, before
napoleon reads the sections, outside examples and blocks.
"""

import re

SINGLE = re.compile(r"(?<![`\w:])`(?!`)([^`\n]+)`(?![`_])")


def double_backticks(app, what, name, obj, options, lines):
    text = "\n".join(lines)
    # A pair of backticks may be broken over two lines; join it before doubling.
    text = re.sub(r"(?<![`\w:])`(?!`)([^`\n]+)\n\s*([^`\n]+)`(?![`_])", r"`\1 \2`", text)
    lines[:] = [
        line if re.match(r"\s*(>>>|\.\.\. )", line) else SINGLE.sub(r"``\1``", line) for line in text.split("\n")
    ]


def attribute_shapes(app, what, name, obj, options, lines):
    """A field's docstring starts with its shape, "`(...)`: words"; napoleon would take that for a type."""
    if what == "attribute" and lines:
        lines[0] = re.sub(r"^(``[^`]+``): ", r"\1 – ", lines[0])


def without_docstring(app, what, name, obj, skip, options):
    """Fields of a named tuple that say nothing of their own are listed without Python's filler."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-process-docstring", double_backticks, priority=100)
    app.connect("autodoc-process-docstring", attribute_shapes, priority=200)
    app.connect("autodoc-skip-member", without_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
