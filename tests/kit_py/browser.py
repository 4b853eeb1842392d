"""Debian's chromium, driven: one browser with an empty profile, as a person at a desk or with a phone sees the pages."""

import json
import os
import pathlib
import shutil
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from server import PATIENCE

FLAGS = ("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars")
DESKTOP, PHONE = (1280, 900), (390, 844)


# Runs before any script of a page and keeps what the page's Content-Security-Policy reports.
KEEP_REPORTS = """
window.policyReports = [];
addEventListener("securitypolicyviolation", (e) => policyReports.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sample}`), true);
"""


class Browser:
    """`with Browser(server.url) as browser:` starts one and always ends it. `network`: it notes its requests."""

    def __init__(self, url, network=False):
        self.url = url
        self.profile = tempfile.mkdtemp(prefix="patchmate-chromium-")
        options = webdriver.ChromeOptions()
        for flag in FLAGS + (("--no-sandbox",) if os.geteuid() == 0 else ()):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={self.profile}")
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if network else {})})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": KEEP_REPORTS})
        self.driver.set_page_load_timeout(60 * PATIENCE)
        self.size(DESKTOP)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.driver.quit()
        finally:
            shutil.rmtree(self.profile, ignore_errors=True)

    # ---- how it looks at pages

    def size(self, size):
        self.width, height = size
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": self.width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE})

    def dark(self, dark=True):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def script(self, on):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not on})

    def go(self, path):
        self.driver.get(self.url + path)

    def screenshot(self, folder, name):
        """The whole page, not only what the window shows."""
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        answer = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "format": "png", "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}})
        import base64
        (pathlib.Path(folder) / f"{name}.png").write_bytes(base64.b64decode(answer["data"]))

    def overflow(self):
        """How many pixels the page is wider than the screen. A phone's window grows with a page that is too wide."""
        return self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["width"] - self.width

    def problems(self):
        """Errors and warnings of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def reports(self):
        """What the policy of the page that is shown has reported: directive, address and the beginning of the script."""
        return self.run("return window.policyReports")

    def requests(self):
        """The addresses that the browser requested over the network since the last call; only with `network`."""
        messages = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        urls = (each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent")
        return [url for url in urls if url.startswith("http")]

    # ---- what it does

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector="main"):
        """The text of the element; "" if it does not exist or is just being replaced."""
        try:
            found = self.all(selector)
            return found[0].text if found else ""
        except StaleElementReferenceException:
            return ""

    def click(self, selector):
        element = self.find(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def type(self, selector, text):
        element = self.find(selector)
        element.clear()
        element.send_keys(text)

    def paste(self, selector, text):
        """As from the clipboard: the whole text at once, with the event of a paste."""
        self.driver.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            self.find(selector), text)

    def select(self, selector, value):
        Select(self.find(selector)).select_by_value(value)

    def run(self, javascript, *arguments):
        return self.driver.execute_script(javascript, *arguments)

    def until(self, condition, seconds=30, what="it"):
        """The first true value of condition(); `seconds` are a quiet machine's, as in server.wait_until. An element that
        disappears during the check, because the page is replaced, counts as not there."""
        end, trouble = time.monotonic() + PATIENCE * seconds, ""
        while time.monotonic() < end:
            try:
                value, trouble = condition(), ""
            except WebDriverException as error:
                value, trouble = None, f" ({error.msg})"
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"waited {PATIENCE * seconds:.0f} s for {what}{trouble}; the page reads: {self.text()[:600]!r}; "
                             f"console: {json.dumps(self.problems())}")
