"""Docstrings are written to be read in Python, with `names` in single backticks and formulas as indented blocks.

reStructuredText wants double backticks for code, `::` before a block, and takes `|` for a substitution. All of that is
put in here, before napoleon reads the sections; examples stay as they are.
"""

import re

SINGLE = re.compile(r"(?<![`\w:])`(?!`)([^`\n]+)`(?![`_])")
SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes|Note|Notes):$")
LITERAL = re.compile(r"(``[^`]*``)")


def to_restructured_text(app, what, name, obj, options, lines):
    # A pair of backticks may be broken over two lines; join it before doubling.
    text = re.sub(r"(?<![`\w:])`(?!`)([^`\n]+)\n\s*([^`\n]+)`(?![`_])", r"`\1 \2`", "\n".join(lines))
    found, section, block = [], False, False
    for line in text.split("\n"):
        if line and not line[0].isspace():
            section, block = bool(SECTION.match(line)), False
        elif line.strip() and not section and not block and found and not found[-1].strip():
            block = True
            found += ["::", ""]
        example = re.match(r"\s*(>>>|\.\.\. )", line)
        if what == "attribute":  # a field's docstring starts with its shape, which napoleon would take for a type
            line = re.sub(r"^(`[^`]+`): ", r"\1 – ", line)
        found.append(line if block or example else escaped(SINGLE.sub(r"``\1``", line)))
    lines[:] = found


def escaped(line):
    """`|` outside literals."""
    parts = LITERAL.split(line)
    return "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def without_docstring(app, what, name, obj, skip, options):
    """Fields of a named tuple that say nothing of their own are listed without Python's filler."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-process-docstring", to_restructured_text, priority=100)
    app.connect("autodoc-skip-member", without_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
