#!/usr/bin/env python3
"""Drives the report's page in a headless Chromium: every view, by pointer and by keyboard.

    report_test.py --bin DIR [--screenshots=DIR] [unittest's arguments]

Exit code 77, which CTest takes as skipped, where no browser can be driven."""

import argparse
import os
import re
import sys
import tempfile
import time
import unittest

import onnx_models
from page import VIEWS, Page
from reports import Workshop, without_ppocr
from webdriver import Browser, missing

# The machine that runs this may be slow and busy: times are for a page that hangs, and are printed.
RENDER_LIMIT_MS, KEYSTROKE_LIMIT_MS = 3000, 400
MEMORY_MARGIN = {"left": 74, "right": 16, "top": 74, "bottom": 26}  # of page/js/memory.js
TIME_MARGIN = 16  # of page/js/timeline.js


def setUpModule():
    global browser, workshop
    browser = Browser()
    workshop = Workshop(OPTIONS.bin, FOLDER.name)
    unittest.addModuleCleanup(FOLDER.cleanup)
    unittest.addModuleCleanup(browser.close)


class ReportCase(unittest.TestCase):
    """One page. Subclasses name the model."""

    model, profile = None, False

    @classmethod
    def setUpClass(cls):
        if cls.model in ("det", "rec") and without_ppocr():
            raise unittest.SkipTest(without_ppocr())
        if cls.model:
            cls.report = workshop.report(cls.model, cls.profile)

    def setUp(self):
        browser.size(1280, 800)
        browser.scheme("light")
        self.page = Page(browser, self.report)
        self.addCleanup(lambda: self.assertEqual(self.page.complaints(), []))


class Views(ReportCase):
    """What holds for every model."""

    def test_header(self):
        top = browser.text("#top").replace("\u00a0", " ")
        self.assertIn(self.report.data["title"], top)
        self.assertIn(self.report.data["header"]["target"], top)
        self.assertIn(f"steps\n{len(self.report.steps):,}", top)
        self.assertIn(f"decisions\n{len(self.report.decisions):,}", top)
        self.assertIn("time profiled" if self.profile else "time predicted", top)

    def assert_story(self, step):
        self.assertEqual(self.page.heading(), step["kernel"])
        story = self.page.story()
        self.assertIn(f"step {step['step']}, {step['family']}", story)
        for node in step["sources"]:
            self.assertIn(node, story)
        for index in step["inputs"] + step["outputs"]:
            self.assertIn(self.report.value(index)["name"].strip(), story)

    def test_steps_by_keyboard(self):
        for step in self.report.steps[:6]:
            browser.keys("j")
            self.assertEqual(self.page.selected_steps()[0], [step["step"]])
            self.assert_story(step)
        browser.keys("k")
        before_last = self.report.steps[:6][-2]
        self.assert_story(before_last)
        browser.keys("End")
        self.page.settle()
        self.assert_story(self.report.steps[-1])
        browser.keys("Home", "Enter")
        self.assertEqual(browser.run("return document.activeElement.textContent"), self.report.steps[0]["kernel"])
        browser.keys("Escape")  # out of the story
        self.assert_story(self.report.steps[0])
        browser.keys("Escape")  # nothing selected
        self.assertIn("nothing selected", self.page.story())

    def test_steps_by_pointer(self):
        browser.click(".card[data-step='1']")
        self.assert_story(self.report.steps[1])
        browser.click(".story .close")
        self.assertIn("nothing selected", self.page.story())

    def test_before_and_after_are_linked(self):
        lowered = self.report.lowered()
        self.assertGreaterEqual(len(lowered), len(self.report.steps))
        linked = 0
        for step in self.report.steps[:8]:
            browser.keys("j")
            found = self.page.counterparts()
            self.assertNotEqual(found, [], f"step {step['step']}")
            for number in found:
                sources = set(lowered[number]["sources"])
                self.assertTrue(sources <= set(step["sources"]), f"step {step['step']}, {number}")
            linked = max(linked, len(found))
        if len(lowered) > len(self.report.steps):
            self.assertGreater(linked, 1)
        browser.click(f".low[data-low='{found[0]}']")
        self.assertEqual(self.page.selected_steps(), [[], [step["step"]]])
        self.assertIn(f"lowered step {found[0]}, before fusion", self.page.story())
        self.assertIn(f"step {step['step']} {step['kernel']}", self.page.story())
        browser.click(".story .link")  # "went into"
        self.assert_story(step)

    def test_search_narrows_the_decisions(self):
        self.page.view("decisions")
        self.assertEqual(self.page.row_count("decisions"), len(self.report.decisions))
        texts = self.report.decision_texts()
        kernel = self.report.steps[-1]["kernel"]
        for query in (kernel, self.report.steps[0]["sources"][0], "kernel predicted", "no such thing"):
            with self.subTest(query=query):
                matching = sum(all(word in text for word in query.lower().split()) for text in texts)
                self.page.search(query)
                self.assertEqual(self.page.row_count("decisions"), matching)
                self.assertEqual(self.page.found(), f"{matching:,} of {len(texts):,} decisions")
                self.assertLessEqual(len(self.page.rows("decisions")), matching)
                browser.keys("Escape")
                self.page.settle()
                self.assertEqual(self.page.row_count("decisions"), len(texts))

    def test_kinds_filter_the_decisions(self):
        self.page.view("decisions")
        browser.click(".chip[data-kind='kernel']")
        self.page.settle()
        kernels = [d for d in self.report.decisions if d["kind"] == "kernel"]
        self.assertEqual(self.page.row_count("decisions"), len(kernels))
        self.assertEqual([row[3] for row in self.page.rows("decisions")][:5], [d["choice"] for d in kernels][:5])
        browser.keys("j")
        browser.keys("j", "Enter")
        details = browser.text(".row .details")
        for alternative in kernels[1]["alternatives"]:
            self.assertIn(alternative["choice"], details)
            self.assertIn(alternative.get("refusal", ""), details)
        self.assert_story(self.report.steps[1])
        browser.keys("Enter")
        self.assertIsNone(browser.text(".row .details"))
        browser.click(".row[aria-selected=true] .cells")
        browser.click(".row .details .link")  # to the step in the graph
        self.page.settle()
        self.assertEqual(self.page.selected_steps()[0], [1])

    def test_memory(self):
        self.page.view("memory")
        browser.keys("j")
        first = self.page.rows("memory")[0]
        self.assertEqual(self.page.heading(), first[0])
        self.assertIn(first[2], self.page.story())
        box = self.page.chart("memory")
        left, top = box["x"] + MEMORY_MARGIN["left"], box["y"] + MEMORY_MARGIN["top"]
        plot = box["height"] - MEMORY_MARGIN["top"] - MEMORY_MARGIN["bottom"]
        wide = box["width"] - MEMORY_MARGIN["left"] - MEMORY_MARGIN["right"]
        hits = 0
        for share in (0.06, 0.31, 0.52, 0.69, 0.94):
            browser.keys("Escape")
            browser.click_at(left + share * wide, top + plot - 6)
            name = self.page.heading()
            if name is None:
                continue  # nothing lives there
            hits += 1
            figures = browser.text("#story .figures")
            offset = int(figures.split("offset\n+")[1].split("\n")[0].replace(",", ""))
            first_step, last_step = (int(n) for n in figures.split("lives\n")[1].split("\u2013"))
            step = int(share * len(self.report.steps))
            self.assertLessEqual(offset, 7 / plot * self.report.data["header"]["arena_bytes"])
            self.assertTrue(first_step <= step <= last_step, (name, first_step, step, last_step))
        self.assertGreater(hits, 0)

    def test_roofline(self):
        self.page.view("roofline")
        self.assertEqual(self.page.row_count("roofline"), len(self.report.steps))
        browser.keys("j")
        row = self.page.rows("roofline")[0]
        self.assert_story(self.report.steps[int(row[0])])
        colours = browser.run("""
            const c = document.querySelector('#view-roofline canvas');
            const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            const seen = new Set();
            for (let i = 0; i < p.length; i += 4) seen.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]);
            return seen.size""")
        self.assertGreater(colours, 10)

    def test_timeline(self):
        self.page.view("timeline")
        rows = self.page.rows("timeline")
        self.assertEqual(self.page.row_count("timeline"), len(self.report.steps))
        times = self.step_times()
        longest = max(times, key=times.get)
        self.assertEqual(int(rows[0][0]), longest)
        box = self.page.chart("timeline")
        total = sum(times.values())
        start = sum(us for step, us in times.items() if step < longest)
        middle = (start + times[longest] / 2) / total
        browser.click_at(box["x"] + TIME_MARGIN + middle * (box["width"] - 2 * TIME_MARGIN), box["y"] + 40)
        self.assert_story(self.report.steps[longest])

    def step_times(self):
        if self.profile:
            return {s["step"]: s["us"] for s in self.report.data["profile"]["steps"]}
        kernels = [d for d in self.report.decisions if d["kind"] == "kernel"]
        return {i: d.get("measured_us", d.get("cost_us", 0)) for i, d in enumerate(kernels)}

    def test_light_and_dark(self):
        def ground():
            return browser.run("return getComputedStyle(document.body).backgroundColor")
        light = ground()
        browser.scheme("dark")
        self.page.settle()
        dark = ground()
        self.assertNotEqual(light, dark)
        browser.keys("t")
        self.assertEqual(ground(), light)
        browser.keys("t")
        self.assertEqual(ground(), dark)
        browser.run("localStorage.clear()")

    def test_narrow(self):
        browser.size(800, 900)
        self.page.settle()
        for name in VIEWS:
            self.page.view(name)
            browser.keys("j")
            self.page.settle()
            wide = browser.run("""
                const all = document.querySelectorAll('header *, nav *, .view:not([hidden]) > *, .story *');
                const out = [...all].filter((e) => {
                  const box = e.getBoundingClientRect();
                  return box.width > 0 && box.right > innerWidth + 0.5 && !e.closest('.list');
                });
                return [document.documentElement.scrollWidth, out.map((e) => e.className || e.tagName)]""")
            self.assertEqual(wide, [800, []], name)
            self.assertTrue(self.page.heading() or name == "decisions", name)

    def test_help_and_focus(self):
        browser.keys("?")
        self.assertIn("search", browser.text("#help"))
        browser.keys("Escape")
        self.assertFalse(browser.run("return document.getElementById('help').open"))
        seen = set()
        for _ in range(12):
            browser.keys("Tab")
            name, outline = browser.run("""
                const e = document.activeElement;
                return [e.id + e.className + e.textContent, getComputedStyle(e).outlineStyle]""")
            if name not in ("", None) and browser.run("return document.activeElement !== document.body"):
                self.assertNotEqual(outline, "none", name)
                seen.add(name)
        self.assertGreater(len(seen), 4)
        roles = browser.run("""
            const all = document.querySelectorAll('button, input, select, [role=grid], canvas:not([aria-hidden])');
            const named = (e) => e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label');
            const bad = [...all].filter((e) => !named(e));
            return [bad.map((e) => e.outerHTML), document.querySelectorAll('[role=tab][aria-selected=true]').length]""")
        self.assertEqual(roles, [[], 1])

    def test_print(self):
        rows, pictures = browser.run("""
            dispatchEvent(new Event('beforeprint'));
            const count = (selector) => document.querySelectorAll(selector).length;
            const found = [count('#paper tbody tr'), count('#paper canvas')];
            dispatchEvent(new Event('afterprint'));
            return found""")
        self.assertEqual([rows, pictures], [len(self.report.steps), 3])
        self.assertEqual(browser.run("return document.getElementById('paper').children.length"), 0)


class Detector(Views):
    model = "det"


class Recogniser(Views):
    model, profile = "rec", True


class Transformer(Views):
    model, profile = "transformer", True


class Hostile(ReportCase):
    """Names that try to run."""

    model = "hostile"

    def test_nothing_runs(self):
        for name in VIEWS:
            self.page.view(name)
            for _ in range(3):
                browser.keys("j")
            browser.keys("Enter", "Escape")
        self.page.view("graph")
        browser.keys("Home")
        self.page.settle()
        self.assertEqual(browser.run("return document.title"), "hostile.aicf \u2013 aicf")
        self.assertEqual(browser.run("return document.querySelectorAll('img, iframe, object, embed, link').length"), 0)
        self.assertEqual(browser.run("return document.scripts.length"), 2)
        self.assertIn(onnx_models.HOSTILE[0], self.page.story())
        browser.keys("End")
        self.page.settle()
        self.assertIn("\\u202egnp.", self.page.story())  # written out: it would turn the text around it

    def test_policy(self):
        """Were a text to become an element after all, the page's policy would stop it."""
        with open(self.report.path, encoding="utf-8") as file:
            policy = file.read().split('Content-Security-Policy" content="')[1].split('"')[0]
        self.assertTrue(policy.startswith("default-src 'none'"), policy)
        self.assertNotIn("unsafe", policy)
        title = browser.run("""
            document.body.insertAdjacentHTML('beforeend', arguments[0]);
            const script = document.createElement('script');
            script.textContent = "document.title = 'run'";
            document.body.append(script);
            return document.title""", onnx_models.HOSTILE[0])
        self.page.settle()
        self.assertEqual(title, "hostile.aicf \u2013 aicf")
        console = " ".join(entry["message"] for entry in browser.log("browser"))
        self.assertIn("Content Security Policy", console)
        for url, blocked in browser.requests():
            self.assertTrue(url == self.report.url or blocked == "csp", (url, blocked))


class EntryPoints(ReportCase):
    """One artifact with two entry points."""

    @classmethod
    def setUpClass(cls):
        if without_ppocr():
            raise unittest.SkipTest(without_ppocr())
        cls.report = workshop.buckets()

    def test_switch(self):
        first, second = self.report.data["entry_points"]
        self.assertIn(f"steps\n{first['step_count']}", browser.text("#top"))
        browser.keys("j")
        self.assertIn(f"step {first['first_step']},", self.page.story())
        browser.run("const s = document.getElementById('entry'); s.value = '1'; s.dispatchEvent(new Event('change'))")
        self.page.settle()
        self.assertIn(f"steps\n{second['step_count']}", browser.text("#top"))
        browser.keys("j")
        self.assertIn(f"step {second['first_step']},", self.page.story())
        self.assertNotEqual(self.page.counterparts(), [])


class NumberedDecisions(ReportCase):
    """Decisions that say what they are about in fields of their own, some with measured times."""

    model = "transformer"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        steps = cls.report.steps
        kernel = {"kind": "kernel", "subject": "a sentence", "choice": steps[1]["kernel"], "reason": "measured",
                  "cost_us": 9.0, "step": 1, "nodes": steps[1]["sources"], "pass": "choose-kernels", "measured_us": 4.0,
                  "alternatives": [{"choice": "another.kernel", "cost_us": 5.0, "measured_us": 6.0}]}
        edge = {"kind": "fusion", "subject": "an edge", "choice": "separate", "reason": "only-legal", "pass": "fuse",
                "nodes": steps[1]["sources"][-1:], "into": steps[2]["sources"][:1],
                "alternatives": [{"choice": "fused", "refusal": "family: has no place to go"}]}

        def change(data):
            data["decisions"] = [kernel, edge, {"kind": 7, "subject": ["odd"], "step": "x", "alternatives": [None, 3]}]
        cls.report = cls.report.variant(workshop.path("numbered.html"), change)

    def test_fields(self):
        self.assertIn("time tuned\n4.00 \u00b5s", browser.text("#top").replace("\u00a0", " "))
        browser.click(".card[data-step='1']")
        story = self.page.story()
        for part in ("Decisions (2)", "time measured\n4.00 \u00b5s", "4.00 \u00b5s measured, 9.00 \u00b5s predicted",
                     "(1.50\u00d7)", "another.kernel", "an edge", "family: has no place to go"):
            self.assertIn(part, story)
        browser.keys("j")
        self.assertIn("Decisions (1)", self.page.story())
        self.assertIn("an edge", self.page.story())
        self.page.view("decisions")
        self.assertEqual([row[1] for row in self.page.rows("decisions")], ["1", "1 +1", "\u2013"])
        self.page.search("no place")
        self.assertEqual(self.page.row_count("decisions"), 1)


class Loop(ReportCase):
    """Steps that repeat: what enters the loop lives until it ends."""

    model = "loop"

    def test_lives(self):
        entry = self.report.data["entry_points"][0]
        first = entry["loops"][0]["first_step"]
        last = first + entry["loops"][0]["step_count"] - 1
        carried = [v["name"] for v in self.report.data["values"] if v["role"] == "carried" and v["storage"] == "arena"]
        self.assertNotEqual(carried, [])
        self.page.view("memory")
        lives = {row[0]: row[4] for row in self.page.rows("memory")}
        for name in carried:
            start, end = (int(n) for n in lives[name].split("\u2013"))
            self.assertTrue(start < first and end >= last, (name, start, end, first, last))
        self.page.view("graph")
        for step in self.report.steps:
            browser.keys("j")
            self.assertNotEqual(self.page.counterparts(), [], step["step"])  # of one node there are several steps
            repeated = first <= step["step"] <= last
            # Reasons why steps stay apart may name the word, too.
            self.assertEqual(bool(re.search(r"^repeats\b", self.page.story(), re.MULTILINE)), repeated, step["step"])


class Speed:
    """The page of a program of more than 2,000 steps is there at once and follows the keys."""

    def test_times(self):
        self.assertGreater(len(self.report.steps), 2000)
        self.page.settle()
        ready = float(browser.run("return document.documentElement.dataset.ready"))
        painted = browser.run("return performance.getEntriesByType('paint').map((e) => e.startTime).pop()")
        keystrokes = {name: self.keystroke(name) for name in ("graph", "decisions", "timeline", "memory", "roofline")}
        each = ", ".join(f"{ms:.0f} ms ({name})" for name, ms in keystrokes.items())
        print(f"\n{len(self.report.steps)} steps: shown after {max(ready, painted):.0f} ms; "
              f"a keystroke of a search takes {each}")
        self.assertLess(max(ready, painted), RENDER_LIMIT_MS)
        self.assertLess(max(keystrokes.values()), KEYSTROKE_LIMIT_MS)
        self.assertLess(browser.run("return document.querySelectorAll('*').length"), 3000)

    def keystroke(self, view):
        """The longest of a few keystrokes, from the event to the layout."""
        self.page.view(view)
        return browser.run("""
            const box = document.getElementById('search');
            return Math.max(...['l', 'la', 'layers/1', 'layers/10', 'softmax', 'no', ''].map((text) => {
              const start = performance.now();
              box.value = text;
              box.dispatchEvent(new Event('input'));
              document.body.getBoundingClientRect();
              return performance.now() - start;
            }))""")


class ManySteps(Speed, ReportCase):
    """One entry point."""

    model = "long_chain"

    def test_all_the_way(self):
        browser.keys("j")
        browser.keys("End")
        self.page.settle()
        self.assertIn(f"step {len(self.report.steps) - 1},", self.page.story())
        for name in VIEWS[1:]:
            self.page.view(name)
            browser.keys("j")
        self.page.view("graph")
        self.page.search("layers/1000/softmax")
        browser.keys("Enter")
        self.assertIn("step 2001,", self.page.story())


class DeepLanguageModel(Speed, ReportCase):
    """150 layers in two entry points, with 301 states."""

    model = "deep_llama"

    def test_size_and_time(self):
        start = time.monotonic()
        workshop.tool("aicf-inspect", workshop.path("deep_llama.aicf"), f"--html={workshop.path('again.html')}")
        spent, size = time.monotonic() - start, os.path.getsize(workshop.path("again.html"))
        print(f"\nmade in {spent:.1f} s, {size / 2**20:.1f} MiB")
        self.assertLess(spent, 10)
        self.assertLess(size, 10_000 * len(self.report.steps))

    def test_a_layer_is_found(self):
        for name in ("decode_1", "prefill_32"):
            entries = self.report.data["entry_points"]
            index = [e["name"] for e in entries].index(name)
            browser.run(f"const s = document.getElementById('entry'); s.value = '{index}';"
                        "s.dispatchEvent(new Event('change'))")
            self.page.view("graph")
            self.page.search("blk.77.attention/aicf.RotaryAppend")
            browser.keys("Enter")
            self.page.settle()
            first = entries[index]["first_step"]
            own = self.report.steps[first:first + entries[index]["step_count"]]
            step = next(s for s in own if s["sources"] == ["blk.77.attention/aicf.RotaryAppend"])
            self.assertIn(f"step {step['step']}, append", self.page.story())
            self.page.clear()

    def test_state_is_shown(self):
        header, language = self.report.data["header"], self.report.data["language"]
        self.assertEqual(len(self.report.data["states"]), 301)
        kib = f"{header['state_bytes'] / 2**20:.2f}"
        self.assertIn(f"state\n{kib}", browser.text("#top").replace("\u00a0", " "))
        self.page.view("memory")
        self.assertIn("of state in 301 values", browser.text("body").replace("\u00a0", " "))
        self.assertEqual((language["pages"], language["page"]), (8, 32))


def load_tests(loader, _tests, _pattern):
    """Without the base classes, which name no model."""
    cases = (Detector, Recogniser, Transformer, Hostile, EntryPoints, NumberedDecisions, Loop, ManySteps,
             DeepLanguageModel)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of the built tools")
    parser.add_argument("--screenshots", help="write pictures for docs/images into this folder, and test nothing")
    OPTIONS, rest = parser.parse_known_args()
    if missing():
        print(f"skipped: {missing()}")
        sys.exit(77)
    FOLDER = tempfile.TemporaryDirectory(prefix="aicf-report-")
    if OPTIONS.screenshots:
        from screenshots import take
        with FOLDER:
            take(Workshop(OPTIONS.bin, FOLDER.name), os.path.abspath(OPTIONS.screenshots))
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
