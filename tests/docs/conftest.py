"""The documentation, built once from clean with warnings as errors, served locally, and a headless Chromium.

`RESISPEC_SITE` may name a site that is built already; `CHROMIUM` and `CHROMEDRIVER` the two programs, which are looked
for on the path otherwise.
"""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import pytest
from sphinx_and_chromium import sphinx

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.docs)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site."""
    if "RESISPEC_SITE" in os.environ:
        return Path(os.environ["RESISPEC_SITE"]).resolve()
    out = tmp_path_factory.mktemp("site") / "html"
    sphinx("html", out)
    return out


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Where the built site is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A function that starts a browser of a given width; all are closed at the end."""
    from selenium import webdriver

    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    assert None not in (program, driver), (
        "these tests need chromium and chromedriver (Debian: chromium chromium-driver)"
    )
    started = []

    def start(width, height=900, dark=False):
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for flag in FLAGS:
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        started.append(browser)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        return browser

    yield start
    for browser in started:
        browser.quit()


@pytest.fixture(scope="session")
def desktop(chromium):
    return chromium(1280)


@pytest.fixture(scope="session")
def phone(chromium):
    return chromium(390, 844, dark=True)
