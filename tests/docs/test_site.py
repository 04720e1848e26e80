"""The built site: links, nothing fetched from elsewhere, no console error, and room on a phone."""

from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from sphinx_and_chromium import errors, overflow, sphinx

ELSEWHERE = ("http", "https", "mailto")


class Page(HTMLParser):
    """The ids of a page, where it links to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])
        elif tag == "link" and {"stylesheet", "icon", "preload"} & set((given.get("rel") or "").split()):
            self.loads.append(given["href"])


@pytest.fixture(scope="session")
def pages(site):
    return {file: Page(file.read_text()) for file in sorted(site.rglob("*.html"))}


def test_internal_links(site, pages):
    """Every link inside the site leads to a file, and to an id of it where it names one."""
    assert len(pages) > 15
    broken = []
    for file, page in pages.items():
        for link in page.links + page.loads:
            if urlsplit(link).scheme in (*ELSEWHERE, "data"):
                continue
            path, anchor = urldefrag(link)
            target = (file.parent / unquote(urlsplit(path).path)).resolve() if path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                broken.append(f"{file.relative_to(site)} -> {link}")
            elif (
                anchor and target in pages and target.parent.name != "lab" and unquote(anchor) not in pages[target].ids
            ):
                broken.append(f"{file.relative_to(site)} -> {link} (no such anchor)")
    assert not broken, "\n".join(broken)


def test_tables_are_tables(pages):
    """No page shows a table's Markdown instead of the table."""
    assert [file.name for file in pages if "<p>|" in file.read_text()] == []


def test_nothing_is_loaded_from_elsewhere(pages):
    found = {load for page in pages.values() for load in page.loads if urlsplit(load).scheme in ELSEWHERE}
    assert not found


def test_doctests(tmp_path):
    sphinx("doctest", tmp_path, "-D", "nb_execution_mode=off", "-D", "suppress_warnings=myst-nb.lexer")


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_every_page_opens(device, request, address, site, pages):
    """No console error, and nothing wider than the window."""
    browser = request.getfixturevalue(device)
    wrong = []
    for file in pages:
        name = file.relative_to(site).as_posix()
        browser.get(f"{address}/{name}")
        wrong += [f"{name}: {entry['message']}" for entry in errors(browser) if "favicon.ico" not in entry["message"]]
        if overflow(browser) > 0:
            wrong.append(f"{name}: {overflow(browser)} pixels wider than the window")
    assert not wrong, "\n".join(wrong)


def test_figures_are_drawn_for_both_themes(desktop, address):
    """Furo shows one of the two versions of a figure, and the other with the other theme."""
    desktop.get(f"{address}/explanation/residual-drift.html")

    def shown():
        script = (
            "return [...document.querySelectorAll('figure.drawn img')].map(i => i.getBoundingClientRect().height > 50)"
        )
        return desktop.execute_script(script)

    before = shown()
    assert before
    assert before.count(True) == len(before) // 2
    desktop.execute_script("document.body.dataset.theme = 'dark'")
    assert shown() == [not seen for seen in before]
