"""Builds test programs from rewritten sources, beside a build that is there and without touching it.

The rewritten files go to a scratch tree. What includes or is one of them is compiled again with the build's
own commands, the scratch tree first among the include folders; everything else is linked from the build.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Scratch:
    def __init__(self, root, build, folder, jobs):
        self.root, self.build, self.folder, self.jobs = root, build, folder, jobs
        self.rewritten = set()  # paths from the root
        with open(os.path.join(build, "compile_commands.json")) as f:
            entries = json.load(f)
        self.commands = {}  # object -> (command, source)
        for entry in entries:
            output = re.search(r" -o (\S+\.o) ", entry["command"])
            if output:
                self.commands[output.group(1)] = (entry["command"], entry["file"])

    def ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", self.build, *arguments], check=True, text=True,
                              capture_output=True).stdout

    def put(self, path, text):
        """Takes a rewritten file; an unchanged one keeps its time."""
        out = os.path.join(self.folder, "src", path)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        self.rewritten.add(path)
        if not os.path.exists(out) or open(out).read() != text:
            with open(out, "w") as f:
                f.write(text)

    def objects(self):
        """Objects of the build that are, or include, a rewritten file; without those that only choose."""
        found, current = [], None
        for line in self.ninja("-t", "deps").splitlines():
            if not line.startswith(" "):
                current = line.split(":")[0]
                continue
            path = os.path.relpath(os.path.join(self.build, line.strip()), self.root)
            if path in self.rewritten and current in self.commands and "kernel_choice" not in current:
                found.append(current)
                current = None
        return found

    def compile(self, name):
        """Compiles one object again, unless it is newer than all that it was made from."""
        command, source = self.commands[name]
        path = os.path.relpath(source, self.root)
        words = [w for w in shlex.split(command) if w != "-Werror"]
        out = os.path.join(self.folder, "obj", hashlib.sha256(command.encode()).hexdigest()[:16] + ".o")
        if self.is_fresh(out, source):
            return out
        for flag, value in (("-o", out), ("-MT", out), ("-MF", out + ".d")):
            if flag in words:
                words[words.index(flag) + 1] = value
            else:
                words += [flag, value]
        src = os.path.join(self.folder, "src")
        words[words.index("-c") + 1] = self.source_of(path, source, out)
        at = words.index(f"-I{self.root}")
        words[at:at] = [f"-I{src}"]
        words += ["-MD", "-include", os.path.join(HERE, "mutant.h"), "-Wno-return-type"]
        subprocess.run(words, cwd=self.build, check=True)
        return out

    def source_of(self, path, source, out):
        """The file to compile: rewritten, or one that includes rewritten ones in place of the build's (sources
        that are compiled together are named by a file of #include lines in the build folder)."""
        if path in self.rewritten:
            return os.path.join(self.folder, "src", path)
        if not source.startswith(self.build):
            return source
        with open(source) as f:
            text = f.read()
        for one in self.rewritten:
            text = text.replace(f'"{os.path.join(self.root, one)}"', f'"{os.path.join(self.folder, "src", one)}"')
        together = os.path.splitext(out)[0] + ".cc"
        with open(together, "w") as f:
            f.write(text)
        return together

    def is_fresh(self, out, source):
        """Whether an object is newer than all it was made from, and than the list of sources that were compiled
        together, which another file may have joined or left since."""
        if not os.path.exists(out + ".d"):
            return False
        with open(out + ".d") as f:
            paths = f.read().split(":", 1)[1].replace("\\\n", " ").split()
        paths = [source] + [os.path.join(self.build, p) for p in paths]
        return all(os.path.exists(p) and os.path.getmtime(p) <= os.path.getmtime(out) for p in paths)

    def forget_others(self):
        """Removes what an earlier campaign rewrote and this one does not: it comes first among the includes."""
        src = os.path.join(self.folder, "src")
        for folder, _, files in os.walk(src):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.relpath(path, src) not in self.rewritten:
                    os.remove(path)

    def compile_all(self, names):
        self.forget_others()
        os.makedirs(os.path.join(self.folder, "obj"), exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return dict(zip(names, pool.map(self.compile, names)))

    def inputs_of(self, archive):
        """Objects that the build puts into an archive, those of object libraries too."""
        lines = self.ninja("-t", "query", archive).splitlines()
        return [line.strip() for line in lines if line.strip().endswith(".o")]

    def link(self, program, objects):
        """Links a test program with these objects in place of the build's, and with mutant.cc."""
        command = self.ninja("-t", "commands", f"bin/{program}").splitlines()[-1]
        words = shlex.split(command.removeprefix(": && ").removesuffix(" && :"))
        out = os.path.join(self.folder, program)
        linked, extra = [], []
        for word in words:
            linked.append(objects.get(word, word))
            if word.endswith(".a") and not word.startswith("/"):
                extra += [objects[o] for o in self.inputs_of(word) if o in objects]
        linked[linked.index("-o") + 1] = out
        at = linked.index("-o")
        # Named outright, they come before the archives, which then need not give the same functions.
        linked[at:at] = [*extra, self.switch()]
        subprocess.run(linked, cwd=self.build, check=True)
        return out

    def switch(self):
        """mutant.cc, compiled."""
        out = os.path.join(self.folder, "mutant.o")
        subprocess.run(["c++", "-std=c++20", "-O1", "-fPIC", f"-I{self.root}", "-c",
                        os.path.join(HERE, "mutant.cc"), "-o", out], check=True)
        return out
