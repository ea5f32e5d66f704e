#include <cmath>

#include "tools/common/text.h"
#include "tools/inspect/diff.h"
#include "tools/inspect/names.h"
#include "tools/inspect/wrap.h"

namespace aicf::tools {
namespace {

constexpr size_t kListed = 8;

std::string SubjectText(const Decision& d) {
  std::string out;
  if (d.IsEdge()) {
    out = StrCat("[", ShortList(d.subject.nodes), "] -> [", ShortList(d.subject.into), "]");
  } else if (d.subject.form == schema::SubjectForm::kStep) {
    out = StrCat("[", ShortList(d.subject.nodes), "]");
  } else {
    out = Shorten(Escape(ToString(d.subject)), kTextWidth);
  }
  if (!d.subject.entry.empty()) out += StrCat("  (entry ", Escape(d.subject.entry), ")");
  return out;
}

// "  (step 3)", or the numbers of both sides if they differ.
std::string StepText(const Decision& a, const Decision& b) {
  const int left = a.subject.step, right = b.subject.step;
  if (left < 0 || right < 0) return "";
  if (left == right) return StrCat("  (step ", left, ")");
  return StrCat("  (step ", left, ", in B ", right, ")");
}

// "predicted, 2.500 us"; the refusal of what was not chosen where there is no more to say.
std::string DiffGrounds(const Decision& d) {
  std::string out = Escape(ReasonText(d));
  const std::string cost = CostText(d.cost_us, d.measured_us);
  if (!cost.empty()) out += (out.empty() ? "" : ", ") + cost;
  for (const Alternative& a : d.alternatives) {
    if (d.choice == "separate" && !a.refusal.empty()) out += StrCat("; ", Escape(a.refusal));
  }
  return out;
}

std::string KindText(const Decision& d) {
  std::string out = StrCat("  ", std::string(KindName(d.kind)));
  out += std::string(out.size() < 12 ? 12 - out.size() : 1, ' ');
  return out;
}

std::string SideText(char side, const Decision& d) {
  return Wrap(StrCat("            ", std::string(1, side), "  "), "               ",
              StrCat(Escape(d.choice), "  (", DiffGrounds(d), ")"));
}

// "B: 3.2 us less (0.55 x)"; empty unless both are known.
std::string ChangeText(std::string_view what, double a, double b) {
  if (a < 0 || b < 0) return "";
  std::string out =
      StrCat(what, " ", FormatNumber(std::fabs(b - a)), " us ", b < a ? "less" : "more", " in B");
  if (a > 0) out += StrCat(" (", FormatNumber(b / a), " x)");
  return b == a ? "" : out;
}

std::string CostChange(const Decision& a, const Decision& b) {
  const std::string measured = ChangeText("measured", a.measured_us, b.measured_us);
  const std::string predicted = ChangeText("predicted", a.cost_us, b.cost_us);
  return measured + (measured.empty() || predicted.empty() ? "" : ", ") + predicted;
}

// What one side says about the other side's choice: its cost there, or why it was refused. Empty if
// that tells nothing new, because the cost is the same on both sides.
std::string ElsewhereText(std::string_view whose, const Decision& chosen, std::string_view where,
                          const Decision& there) {
  for (const Alternative& a : there.alternatives) {
    if (a.choice != chosen.choice) continue;
    const bool same = a.cost_us == chosen.cost_us && a.measured_us == chosen.measured_us;
    if (a.refusal.empty() && same) return "";
    std::string why = Escape(a.refusal);
    if (why.empty()) why = CostText(a.cost_us, a.measured_us);
    if (why.empty()) return "";
    return Wrap("               ", "               ",
                StrCat(whose, "'s choice in ", where, ": ", why));
  }
  return "";
}

class Writer {
 public:
  Writer(const DiffSide& a, const DiffSide& b, const Differences& d)
      : a_(a), b_(b), d_(d), left_(a.evidence->decisions), right_(b.evidence->decisions) {}

  std::string ToText() {
    std::string out = StrCat("A  ", Escape(a_.name), "\nB  ", Escape(b_.name), "\n");
    if (d_.empty()) return out + "\nno differences\n";
    return out + HeaderText() + ChangedText() + RestatedText() + OnlyText("A", left_, d_.only_a) +
           OnlyText("B", right_, d_.only_b) + TotalsText();
  }

 private:
  std::string HeaderText() const {
    if (d_.header.empty()) return "";
    std::string out = "\nHeader\n";
    for (const HeaderDifference& h : d_.header) {
      const std::string what = Escape(h.what);
      const auto shown = [](const std::string& v) { return v.empty() ? "-" : Escape(v); };
      const std::string line = StrCat(shown(h.a), "  ->  ", shown(h.b));
      std::string first =
          StrCat("  ", what, std::string(what.size() < 24 ? 24 - what.size() : 1, ' '));
      out += Wrap(first, std::string(26, ' '), line);
    }
    return out;
  }

  std::string ChangedText() const {
    if (d_.changed.empty()) return "";
    std::string out = StrCat("\nChanged (", d_.changed.size(), ")\n");
    for (const auto& [i, j] : d_.changed) {
      const Decision &a = left_[i], &b = right_[j];
      out += Wrap(KindText(a), "            ", SubjectText(a) + StepText(a, b));
      out += SideText('A', a) + SideText('B', b);
      const std::string cost = CostChange(a, b);
      if (!cost.empty()) out += Wrap("               ", "               ", cost);
      out += ElsewhereText("A", a, "B", b) + ElsewhereText("B", b, "A", a);
    }
    return out;
  }

  // Decisions with the same choice on other grounds. Those whose costs differ are listed one by
  // one, up to a limit, because costs matter; the rest are only counted.
  std::string RestatedText() const {
    if (d_.restated.empty()) return "";
    std::string out = StrCat("\nSame choice on other grounds (", d_.restated.size(), ")\n");
    size_t shown = 0;
    for (const auto& [i, j] : d_.restated) {
      const std::string cost = CostChange(left_[i], right_[j]);
      if (cost.empty() || shown == kListed) continue;
      out += Wrap(KindText(left_[i]), "            ",
                  StrCat(SubjectText(left_[i]), ": ", Escape(left_[i].choice), "; ", cost));
      ++shown;
    }
    if (shown < d_.restated.size()) {
      out += StrCat("  ", shown == 0 ? "" : "and ", d_.restated.size() - shown,
                    shown == 0 ? "" : " more", ", with --json one by one\n");
    }
    return out;
  }

  static std::string OnlyText(std::string_view side, const std::vector<Decision>& all,
                              const std::vector<size_t>& only) {
    if (only.empty()) return "";
    std::string out = StrCat("\nOnly in ", side, " (", only.size(), ")\n");
    for (size_t i : only) {
      out += Wrap(KindText(all[i]), "            ",
                  StrCat(SubjectText(all[i]), StepText(all[i], all[i]), " -> ",
                         Escape(all[i].choice), "  (", DiffGrounds(all[i]), ")"));
    }
    return out;
  }

  static std::string TotalText(const PlanCost& c) {
    std::string out = StrCat(c.steps, " steps");
    if (c.predicted > 0) out += StrCat(", predicted ", FormatNumber(c.predicted_us), " us");
    if (c.measured > 0) {
      out += StrCat(", measured ", FormatNumber(c.measured_us), " us of ", c.measured, " kernels");
    }
    return out;
  }

  std::string TotalsText() const {
    std::string out =
        StrCat("\nTotals\n  A  ", TotalText(d_.cost_a), "\n  B  ", TotalText(d_.cost_b), "\n");
    if (d_.cost_a.predicted > 0 && d_.cost_b.predicted > 0) {
      const std::string change =
          ChangeText("predicted", d_.cost_a.predicted_us, d_.cost_b.predicted_us);
      if (!change.empty()) out += StrCat("     ", change, "\n");
    }
    // Sums are only comparable if all steps of both sides are measured.
    if (d_.cost_a.measured > 0 && d_.cost_a.measured == d_.cost_a.steps &&
        d_.cost_b.measured == d_.cost_b.steps) {
      const std::string change =
          ChangeText("measured", d_.cost_a.measured_us, d_.cost_b.measured_us);
      if (!change.empty()) out += StrCat("     ", change, "\n");
    }
    return out + StrCat("  ", d_.equal, " decisions are the same; ", DiffSummary(d_), "\n");
  }

  const DiffSide& a_;
  const DiffSide& b_;
  const Differences& d_;
  const std::vector<Decision>& left_;
  const std::vector<Decision>& right_;
};

}  // namespace

std::string DiffText(const DiffSide& a, const DiffSide& b, const Differences& differences) {
  return Writer(a, b, differences).ToText();
}

}  // namespace aicf::tools
