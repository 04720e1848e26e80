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


def setup(app):
    app.connect("autodoc-process-docstring", double_backticks, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
