"""Formulas as MathML, which browsers draw themselves: no script, nothing fetched."""

import re

from docutils import nodes
from latex2mathml.converter import convert


def formula(latex: str, display: str) -> str:
    """MathML without the attributes that make a plain letter's spacing depend on the browser."""
    return re.sub(r"\s*\n\s*", " ", convert(latex.strip(), display=display))


def visit_math(self, node):
    self.body.append(formula(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_math_block(self, node):
    for target in node.get("ids", []):
        self.body.append(f'<span id="{target}"></span>')
    self.body.append(f'<div class="formula">{formula(node.astext(), "block")}')
    if node.get("number"):
        self.body.append(f'<span class="number">({node["number"]})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("config-inited", lambda app, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
