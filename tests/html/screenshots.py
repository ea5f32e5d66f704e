"""The pictures in docs/images: what a reader of docs/report.md looks at."""

import os

from page import Page
from webdriver import Browser


def take(workshop, folder):
    """Writes them into `folder`."""
    os.makedirs(folder, exist_ok=True)
    report = workshop.report("rec", profile=True)
    with Browser() as browser:
        browser.size(1280, 800)
        browser.scheme("light")
        page = Page(browser, report)

        def picture(name):
            page.settle()
            browser.screenshot(os.path.join(folder, f"report-{name}.png"))

        browser.keys("j", "j", "j")
        picture("graph")
        page.view("memory")
        browser.keys("j", "j", "j")
        picture("memory")
        browser.scheme("dark")
        page.view("roofline")
        browser.keys("j")
        picture("roofline")
        page.view("decisions")
        page.search("kernel winograd")
        browser.keys("Enter", "j", "Enter")
        picture("decisions")
