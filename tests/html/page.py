"""The report's page as a user meets it: what is on the screen, and the ways to act on it."""

VIEWS = ["graph", "roofline", "memory", "decisions", "timeline"]


class Page:
    def __init__(self, browser, report):
        self.browser, self.report = browser, report
        browser.log("browser")
        browser.log("performance")
        browser.open(report.url)
        browser.wait("return document.documentElement.dataset.ready")

    def settle(self):
        """Until two frames are drawn."""
        self.browser.run("""
            window.__drawn = 0;
            requestAnimationFrame(() => requestAnimationFrame(() => { window.__drawn = 1 }))""")
        self.browser.wait("return window.__drawn")

    def view(self, name):
        """By its key."""
        self.browser.keys("Escape", str(VIEWS.index(name) + 1))
        self.settle()

    def search(self, text):
        """By the keyboard; leaves the focus in the search box."""
        self.browser.keys("/", *text)
        self.settle()

    def clear(self):
        self.browser.run("document.activeElement.blur()")
        self.browser.keys("/")
        self.browser.keys("Escape")
        self.settle()

    def found(self):
        return self.browser.text("#found").replace("\u00a0", " ")

    def rows(self, view):
        """Cells of the rows in sight, in order."""
        return self.browser.run("""
            const rows = [...document.querySelectorAll(`#view-${arguments[0]} .row`)];
            rows.sort((a, b) => a.dataset.index - b.dataset.index);
            const text = (cell) => cell.textContent.replaceAll('\\u00a0', ' ');
            return rows.map((r) => [...r.querySelectorAll('.cells > *')].map(text))""", view)

    def row_count(self, view):
        return int(self.browser.run("""
            return document.querySelector(`#view-${arguments[0]} .list`).getAttribute('aria-rowcount')""", view))

    def story(self):
        return (self.browser.text("#story") or "").replace("\u00a0", " ")

    def heading(self):
        return self.browser.text("#story h2")

    def selected_steps(self):
        """Numbers of the plan's steps that are marked as selected, and as counterparts."""
        return self.browser.run("""
            const numbers = (s) => [...document.querySelectorAll(s)].map((e) => Number(e.dataset.step));
            return [numbers('.card[aria-selected=true]'), numbers('.card.is-counterpart')]""")

    def counterparts(self):
        """Numbers of the lowered steps that are marked as counterparts."""
        return self.browser.run("""
            return [...document.querySelectorAll('.low.is-counterpart')].map((e) => Number(e.dataset.low))""")

    def chart(self, view):
        """The box of a view's chart on the screen."""
        return self.browser.run("""
            const box = document.querySelector(`#view-${arguments[0]} .chart canvas`).getBoundingClientRect();
            return {x: box.x, y: box.y, width: box.width, height: box.height}""", view)

    def complaints(self):
        """What the console says, and what was asked for beside the page itself."""
        console = [entry["message"] for entry in self.browser.log("browser")]
        return console + [request for request in self.browser.requests() if request[0] != self.report.url]
