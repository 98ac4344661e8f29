"""The settings of Sphinx. The pages are written by `python -m book` first."""

import tomllib
from pathlib import Path

project = "Feeding the GPU"
author = "The maintainers of Feeding the GPU"
copyright = f"{author}; text CC BY 4.0, code Apache-2.0"
version = release = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"][
    "version"
]
language = "en"
default_role = "code"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "book.cross_references"]
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["attrs_block", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
napoleon_use_ivar = True

html_theme = "sphinx_book_theme"
html_title = "Feeding the GPU"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
html_use_index = False
html_domain_indices = False
html_css_files = ["book.css"]
# A reader of the site has no use for the sources of its pages; the lessons are in the repository.
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    # The sidebar has a search already.
    "navbar_persistent": [],
    # Without the switches that open a part of the sidebar: they have no name for screen readers.
    "max_navbar_depth": 1,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
