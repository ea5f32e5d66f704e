"""The reports under test: models compiled by the built tools, and what their pages should say."""

import json
import os
import subprocess

import language_models
import onnx_models

PPOCR = {"det": "x:1x3x160x160", "rec": "x:1x3x48x320"}
OPEN = '<script type="application/json" id="data">'


class Report:
    """A page, and the data in it."""

    def __init__(self, path):
        self.path, self.url = path, f"file://{path}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.data = json.loads(text.split(OPEN)[1].split("</script>")[0])
        self.steps = self.data["steps"]
        self.decisions = self.data["decisions"]

    def variant(self, path, change):
        """The same page around changed data."""
        data = json.loads(json.dumps(self.data))
        change(data)
        with open(self.path, encoding="utf-8") as file:
            before, rest = file.read().split(OPEN)
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + OPEN + json.dumps(data).replace("<", "\\u003c") + rest[rest.index("</script>"):])
        return Report(path)

    def value(self, index):
        return self.data["values"][index]

    def lowered(self):
        """The steps before fusion."""
        return [step for part in self.data["lowered"] for step in part["steps"]]

    def decision_texts(self):
        """What a search looks through, in lower case."""
        def words(d):
            others = [a.get(key, "") for a in d.get("alternatives", []) for key in ("choice", "refusal")]
            nodes = d.get("nodes", []) + d.get("into", [])
            return [d[key] for key in ("kind", "subject", "choice", "reason", "pass") if key in d] + nodes + others
        return ["\n".join(words(d)).lower() for d in self.decisions]


class Workshop:
    """Builds reports in a folder with the tools in `bin`."""

    def __init__(self, bin, folder):
        self.bin, self.folder = bin, folder
        self.made = {}

    def tool(self, name, *arguments):
        done = subprocess.run([os.path.join(self.bin, name), *arguments], capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def report(self, name, profile=False):
        """A report by the name of its model: "det" and "rec" of PP-OCR, or a function of onnx_models or
        language_models."""
        key = (name, profile)
        if key not in self.made:
            model, flags = self.model(name)
            artifact, page = self.path(f"{name}.aicf"), self.path(f"{name}{'.profiled' if profile else ''}.html")
            if not os.path.exists(artifact):
                self.tool("aicf-compile", model, "-o", artifact, *flags)
            more = []
            if profile:
                trace = self.path(f"{name}.trace.json")
                self.tool("aicf-run", artifact, f"--export-profile={trace}", "--warm-up=20", "--duration=0",
                          "--iterations=5")
                more = [f"--profile={trace}"]
            self.tool("aicf-inspect", artifact, f"--html={page}", *more)
            self.made[key] = Report(page)
        return self.made[key]

    def buckets(self):
        """One artifact with two entry points."""
        artifact, page = self.path("two.aicf"), self.path("two.html")
        model, _ = self.model("rec")
        self.tool("aicf-compile", model, "-o", artifact, "--bucket=one=x:1x3x48x160", "--bucket=two=x:2x3x48x160")
        self.tool("aicf-inspect", artifact, f"--html={page}")
        return Report(page)

    def model(self, name):
        if name in PPOCR:
            return os.path.join(os.environ["AICF_PPOCR_MODELS"], f"{name}.onnx"), [f"--shapes={PPOCR[name]}"]
        if hasattr(language_models, name):
            folder = self.path(name)
            if not os.path.exists(folder):
                getattr(language_models, name)(folder)
            return folder, ["--context=128", "--prefill=32", "--decode=1"]
        path = self.path(f"{name}.onnx")
        with open(path, "wb") as file:
            file.write(getattr(onnx_models, name)().bytes())
        return path, []


def without_ppocr():
    """Why PP-OCR's models are not here; empty where they are."""
    folder = os.environ.get("AICF_PPOCR_MODELS", "")
    if all(os.path.exists(os.path.join(folder, f"{name}.onnx")) for name in PPOCR):
        return ""
    return "AICF_PPOCR_MODELS names no folder with det.onnx and rec.onnx (models/fetch.sh ppocr DIR makes one)"
