"""Finds the refusals of a C++ source and rewrites each so that a number switches it off (mutant.h).

A site is one condition of one refusal, so that every check is judged alone:

    if (A || B) return Bad(...);          A and B are sites of their own
    if (A && B) return OkStatus();        A and B, where a refusal follows
    return Bad(...);
    return A ? Bad(...) : OkStatus();     A, or its parts
    AICF_RETURN_IF_ERROR(Check(...));     the call: whether this use of a shared check is needed
    refusal = RefuseParts(...);           the same

The text is scanned for brackets and statements, not parsed: what it does not recognise is no site.
"""

import dataclasses
import re

ACCEPTS = {"OkStatus()", "{}", '""', "std::string()"}
REFUSES = re.compile(r'^(Bad|bad|Error|Status|StrCat|Refuse)\s*\(|^"[^"]')
CHECKS = re.compile(r"(^|[\s:.>])(Check(?!ed)|Refuse|Validate|Verify|Missing|\w*Refus)\w*(<[^>]*>)?\s*\(")


@dataclasses.dataclass
class Site:
    kind: str  # Refuses, Holds or Passes
    begin: int
    end: int
    line: int
    text: str  # the condition or call, in one line: what the site is known by


def masked(text):
    """The text with comments blank and literals filled with a letter, character by character."""
    out = list(text)
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\])+\''
    for m in re.finditer(pattern, text, re.S):
        literal = m.group()[0] in "\"'"
        for i in range(m.start() + literal, m.end() - literal):
            if text[i] != "\n":
                out[i] = "x" if literal else " "
    return "".join(out)


class Scanner:
    def __init__(self, text):
        self.text, self.mask, self.sites = text, masked(text), []
        self.pairs = self._brackets()

    def _brackets(self):
        pairs, stack = {}, []
        for i, c in enumerate(self.mask):
            if c in "([{":
                stack.append(i)
            elif c in ")]}" and stack:
                opened = stack.pop()
                pairs[opened], pairs[i] = i, opened
        return pairs

    def split(self, begin, end, separator):
        """Parts of a range between separators outside of brackets."""
        parts, start, i = [], begin, begin
        while i < end:
            if self.mask[i] in "([{":
                i = self.pairs[i]
            elif self.mask.startswith(separator, i):
                parts.append((start, i))
                i += len(separator) - 1
                start = i + 1
            i += 1
        return [self.trim(*p) for p in parts + [(start, end)]]

    def trim(self, begin, end):
        while begin < end and self.mask[begin].isspace():
            begin += 1
        while end > begin and self.mask[end - 1].isspace():
            end -= 1
        return begin, end

    def expression(self, begin):
        """The range up to the statement's semicolon."""
        i = begin
        while self.mask[i] != ";":
            i = self.pairs[i] + 1 if self.mask[i] in "([{" else i + 1
        return self.trim(begin, i)

    def code(self, span):
        return self.text[span[0]:span[1]]

    def add(self, kind, span):
        text = " ".join(self.code(span).split())
        self.sites.append(Site(kind, *span, self.text.count("\n", 0, span[0]) + 1, text))

    def condition_before(self, at):
        """The condition of the `if` whose statement, or whose block's first statement, begins here."""
        before = self.mask[:at].rstrip()
        if before.endswith("{"):
            before = before[:-1].rstrip()
        if not before.endswith(")"):
            return None
        close = len(before) - 1
        opened = self.pairs[close]
        if not re.search(r"\bif\s*(constexpr\s*)?$", self.mask[:opened]):
            return None
        return self.split(opened + 1, close, ";")[-1]

    def refused_if(self, span):
        first, *rest = self.split(*span, "&&")
        if rest and self.code(first) == "refusal.empty()":
            span = (rest[0][0], span[1])
        for part in self.split(*span, "||"):
            self.add("Refuses", part)

    def refused_unless(self, span):
        whole = len(self.split(*span, "||")) > 1
        for part in [span] if whole else self.split(*span, "&&"):
            self.add("Holds", part)

    def accepted_before(self, at):
        """The condition of an `if (...) return OkStatus();` or `continue;` right before, also in braces."""
        before = self.text[:at].rstrip().removesuffix("}").rstrip()
        found = re.search(r"(continue|return\s+([^;]*?))\s*;$", before)
        if not found or (found.group(2) is not None and found.group(2) not in ACCEPTS):
            return None
        return self.condition_before(found.start())

    def refusal(self, at, span):
        """A statement at `at` that refuses with what `span` says."""
        condition = self.condition_before(at)
        if condition and self.code(condition) == "!refusal.empty()":
            return None  # a refusal of another site, in more words
        if condition:
            return self.refused_if(condition)
        condition = self.accepted_before(at)
        if condition:
            return self.refused_unless(condition)
        return self.add("Passes", span)

    def in_text_function(self, at):
        """Whether the function around makes a text or an error for others, and refuses nothing itself."""
        heads = re.findall(r"^ {0,2}\S[^;{}]*\([^;{}]*\{", self.mask[:at], re.M)
        return bool(heads) and re.search(
            r"string_view \w+\(|\b(Text|Bad)\(|\bRefuse\(std::string_view", heads[-1]) is not None

    def value(self, at, span):
        """What a statement returns or assigns."""
        code = self.code(span)
        if self.in_text_function(at):
            return
        parts = self.split(*span, "?")
        if len(parts) == 2:
            arms = self.split(parts[1][0], span[1], " : ")
            if len(arms) == 2:
                return self.choice(parts[0], *arms)
        if REFUSES.match(code):
            self.refusal(at, span)
        elif CHECKS.search(code) and not code.endswith(".empty()"):
            self.add("Passes", span)

    def choice(self, condition, yes, no):
        if self.code(yes) in ACCEPTS and REFUSES.match(self.code(no)):
            return self.refused_unless(condition)
        if self.code(no) in ACCEPTS and REFUSES.match(self.code(yes)):
            return self.refused_if(condition)
        for arm in (yes, no):
            if CHECKS.search(self.code(arm)):
                self.add("Passes", arm)

    def scan(self):
        for m in re.finditer(r"\breturn\b|\b(?:std::string )?refusal = ", self.mask):
            self.value(m.start(), self.expression(m.end()))
        for m in re.finditer(r"\bAICF_RETURN_IF_ERROR\(", self.mask):
            self.add("Passes", self.trim(m.end(), self.pairs[m.end() - 1]))
        return sorted(self.sites, key=lambda s: s.begin)


def rewrite(text, first):
    """(the text with every site switchable, the sites); their numbers count from `first`."""
    sites = Scanner(text).scan()
    edits = []
    for number, site in enumerate(sites, first):
        edits.append((site.begin, 1, f"::aicf_mutant::{site.kind}({number}, "))
        edits.append((site.end, 0, ")"))
    for at, _, insertion in sorted(edits, key=lambda e: (e[0], e[1]), reverse=True):
        text = text[:at] + insertion + text[at:]
    return text, sites
