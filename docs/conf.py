"""Sphinx: `python -m sphinx -W --keep-going docs docs/_build/html`, from the root of the repository.

Pages with code are executed at every build, one after the other: kernels of two processes (`-j 2`) choose their ports
at the same time and may choose the same. While writing, `-D nb_execution_mode=cache` runs only what changed.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]
# The kernels that execute the pages inherit these: the figures' module, one thread, no network, plain text.
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ |= {"HF_HUB_OFFLINE": "1", "NO_COLOR": "1", "COLUMNS": "96", "JAX_ENABLE_X64": "True"}

import resispec_ref  # noqa: E402

project = "resispec-ref"
author = copyright = "The resispec-ref developers"
release = version = resispec_ref.__version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "docstrings",
    "lab",
    "mathml",
]
exclude_patterns = ["_build", "lab/*", "findings/recorded/*"]
nitpicky = False

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"Array": "Array"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# Examples of docstrings see what somebody sees who imported everything public.
doctest_global_setup = """
import math
import numpy as np
from fractions import Fraction
from fractions import Fraction as F
from resispec_ref import *
from resispec_ref.conformance import *
from resispec_ref.guard import *
from resispec_ref.oracle import *
from resispec_ref.sequence import *
from resispec_ref.sequence.whole_tree import *
"""

bibtex_bibfiles = ["refs.bib"]
bibtex_default_style = "unsrt"

html_theme = "furo"
html_title = "resispec-ref"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#256abf", "color-brand-content": "#256abf"},
    "dark_css_variables": {"color-brand-primary": "#6aa8f5", "color-brand-content": "#6aa8f5"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):
    """What several pages show is measured once, before the first of them is executed."""
    import page

    def measure(app):
        if app.builder.format == "html" and app.config.nb_execution_mode != "off":
            os.environ["RESISPEC_DOCS_KEY"] = page.sources_key()
            page.measured(3)

    app.connect("builder-inited", measure)
