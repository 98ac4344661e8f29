"""A student's Markdown becomes harmless HTML that still shows what was honest; a browser tests it, too."""

import base64
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from grading.notebook.markdown_html import MAX_CHARACTERS, TAGS, safe_markdown
from tests.grading.notebook.markup_payloads import ATTACHMENTS, PAYLOADS

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
ATTRIBUTES = {"a": {"href", "title", "rel", "target"}, "img": {"src", "alt", "title"}}


class Elements(HTMLParser):
    """The elements of a page, as a browser would read them."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def shown(source, attachments=ATTACHMENTS):
    page = safe_markdown(source, attachments)
    assert page.startswith("<div>")
    assert page.endswith("</div>")
    assert "\n" not in page, "a blank line would end the block of HTML"
    return page


@pytest.mark.parametrize("name", PAYLOADS)
def test_payload_leaves_only_harmless_elements(name):
    assert_harmless(shown(PAYLOADS[name]))


# Parts of payloads and of Markdown: joined in any order, they close and open one another.
PARTS = sorted(
    {part for text in PAYLOADS.values() for part in re.findall(r"[a-z]+|\s+|.", text) if part.strip()}
)
MARKDOWN = [
    "\n\n",
    "\n",
    "    ",
    "```",
    "`",
    "[a](",
    "![a](",
    ")",
    "](",
    "$",
    "$$",
    "> ",
    "| ",
    "- ",
    "<",
    ">",
    "javascript:",
]
TEXTS = st.lists(st.sampled_from([*PARTS, *MARKDOWN, *MARKDOWN, *PAYLOADS.values()]), max_size=25).map(
    "".join
)


@settings(max_examples=40)
@given(TEXTS)
def test_any_text_leaves_only_harmless_elements(text):
    assert_harmless(shown(text))


@pytest.mark.proof
@settings(max_examples=2500)
@given(TEXTS)
def test_no_text_of_many_leaves_anything_else(text):
    assert_harmless(shown(text))
    again = MarkdownWithMath(renderer=IPythonRenderer(escape=False)).render(shown(text))
    assert_harmless(again)


def assert_harmless(page):
    for tag, attributes in Elements(page).found:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, {"title"})
        assert re.match(r"https?://|mailto:", attributes.get("href", "https://"))
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
    assert "\\href" not in page


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("**bold** and `x < y`", "<strong>bold</strong> and <code>x &lt; y</code>"),
        ("$a_b * c_d < 1$", "$a_b * c_d &lt; 1$"),
        ("$$\n\\frac{1}{2}\n$$", "$$&#10;\\frac{1}{2}&#10;$$"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>2</td>"),
        ("```python\nx = 1\n\ny = 2\n```", "&#10;&#10;"),
        ("1. one\n2. two", "<li>two</li>"),
        ("[docs](https://docs.python.org/3/?q=a&b=c)", 'href="https://docs.python.org/3/?q=a&amp;b=c"'),
        ("<https://pytorch.org>", 'href="https://pytorch.org"'),
        ("<details><summary>more</summary>text</details>", "<summary>more</summary>"),
        ("H<sub>2</sub>O<br>x", "H<sub>2</sub>O<br>x"),
        ("größer — naïve 数据 &amp; &nbsp;", "größer — naïve 数据 &amp; "),
        ("![p](attachment:image.png)", f'<img src="data:image/png;base64,{PNG}" alt="p">'),
        ('<img src="attachment:image.png" width=50>', f'<img src="data:image/png;base64,{PNG}">'),
        (f"![p](data:image/png;base64,{PNG})", f'<img src="data:image/png;base64,{PNG}" alt="p">'),
        ("![my plot](plot.png)", "[picture: my plot]"),
    ],
)
def test_honest_text_is_shown(source, kept):
    assert kept in shown(source, {"image.png": {"image/png": PNG}})


def test_text_that_takes_too_long_is_shown_as_it_is():
    assert shown("**b**" + " " * MAX_CHARACTERS).startswith("<div><pre>**b**")
    assert shown("> " * 5000).startswith("<div>")


def test_picture_does_not_count_as_text():
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(10**6)).decode()
    assert "<strong>" in shown(f"**b** ![p](data:image/png;base64,{picture})")
