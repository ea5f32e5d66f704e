#include "tools/aicf-compile/report.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/pattern.h"
#include "compiler/states/pair_states.h"
#include "tools/common/decisions.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string Line(std::string_view key, const std::string& value) {
  return StrCat("  ", key, std::string(key.size() < 10 ? 10 - key.size() : 1, ' '), value, "\n");
}

std::string StepsText(const schema::Program& program) {
  size_t nodes = 0, fused = 0;
  for (const schema::Step& step : program.steps) {
    nodes += step.sources.size();
    if (step.sources.size() > 1) fused += step.sources.size() - 1;
  }
  return StrCat(program.steps.size(), " for ", nodes, " source nodes; ", fused,
                " fused into others");
}

/// The entry points, such as "one, six (pads)"; those that also take smaller inputs are marked.
/// Empty for a program without buckets.
std::string EntriesText(const schema::Program& program) {
  if (program.entry_points.size() == 1 && program.entry_points[0].paddings.empty()) return "";
  std::string out;
  for (const schema::EntryPoint& e : program.entry_points) {
    out += StrCat(out.empty() ? "" : ", ", Escape(e.name), e.paddings.empty() ? "" : " (pads)");
  }
  return out;
}

/// The states and their size, such as "h, c (4 KiB)"; only the first few names are listed. Empty
/// without states.
std::string StatesText(const schema::Program& program) {
  const std::vector<std::string> names = schema::StateNames(program);
  if (names.empty()) return "";
  return StrCat(ShortList(names, 5), " (", FormatBytes(program.state_bytes), ")");
}

/// Pairs of inputs and outputs whose names suggest a state, each on a line with the flag that makes
/// it one. Of very many, the first.
std::string HintsText(const DecisionLog& log) {
  constexpr size_t kMost = 100;
  std::string out;
  std::set<std::string> seen;  // each once, and not for every bucket
  log.ForEach([&](const Decision& d) {
    if (d.kind != DecisionKind::kState || d.choice != kInputAndOutput || d.alternatives.empty())
      return;
    const std::string pair = ToString(d.subject), &why = d.alternatives[0].refusal;
    if (!seen.insert(pair).second || seen.size() > kMost) return;
    out += StrCat("hint: ", Escape(pair), " could be one state; ",
                  Escape(why.substr(why.find(' ') + 1)), "\n");
  });
  if (seen.size() > kMost) {
    out += StrCat("hint: ", seen.size() - kMost, " further pairs could be states; --state=auto ",
                  "makes states of all\n");
  }
  return out.empty() ? out : "\n" + out;
}

/// How many kernels were chosen for which reason: "54 measured, 6 only-legal, 5 predicted".
std::string ReasonsText(const DecisionLog& log) {
  std::map<std::string, int> counts;
  log.ForEach([&](const Decision& d) {
    if (d.kind == DecisionKind::kKernel) ++counts[ReasonText(d)];
  });
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [reason, count] : counts) order.emplace_back(-count, reason);
  std::ranges::sort(order);
  std::string out;
  for (const auto& [count, reason] : order) {
    out += StrCat(out.empty() ? "" : ", ", -count, " ", reason);
  }
  return out;
}

bool IsAbout(const Decision& decision, std::string_view nodes) {
  const auto matches = [&](const std::string& name) { return MatchesPattern(nodes, name); };
  return std::ranges::any_of(decision.subject.nodes, matches) ||
         std::ranges::any_of(decision.subject.into, matches);
}

std::string ArenaText(const schema::Program& program) {
  std::string out = FormatBytes(program.arena_bytes);
  if (program.arena_lower_bound > 0) {
    const double ratio =
        static_cast<double>(program.arena_bytes) / static_cast<double>(program.arena_lower_bound);
    out += StrCat(", ", FormatNumber(ratio), " x the lower bound");
  }
  return out;
}

}  // namespace

std::string SummaryText(const CompileResult& result, const std::string& signer, double seconds) {
  const schema::Program& program = result.contents.program;
  std::string out;
  out += Line("target", StrCat(program.target, ", math ", abi::MathModeName(program.math)));
  const std::string entries = EntriesText(program);
  if (!entries.empty()) out += Line("entries", entries);
  out += Line("steps", StepsText(program));
  out += Line("chosen", ReasonsText(result.decisions));
  out += Line("weights", FormatBytes(program.weights_bytes));
  out += Line("arena", ArenaText(program));
  const std::string states = StatesText(program);
  if (!states.empty()) out += Line("state", states);
  if (!program.images.empty()) {
    out += Line("kernels", StrCat(program.images.size(), " images, ",
                                  FormatBytes(result.contents.images.size()), ", ",
                                  Escape(program.images[0].compiler)));
  }
  out += Line("file", FormatBytes(result.bytes.size()));
  if (!signer.empty()) out += Line("signed", signer);
  out += Line("time", FormatNumber(seconds) + " s");
  return out + HintsText(result.decisions);
}

std::string TimingsText(const std::vector<PassTiming>& timings) {
  Table table({{"pass"}, {"ms", Table::Align::kRight}});
  double sum = 0;
  for (const PassTiming& t : timings) {
    table.Add({std::string(t.name), FormatNumber(t.milliseconds)});
    sum += t.milliseconds;
  }
  table.Add({"all passes", FormatNumber(sum)});
  return table.ToString("  ");
}

Result<std::string> ExplainText(const DecisionLog& log, const std::string& nodes) {
  DecisionLines lines;
  log.ForEach([&](const Decision& d) {
    if (nodes == "true" || IsAbout(d, nodes)) lines.decisions.push_back(d);
  });
  if (!lines.decisions.empty() || nodes == "true") return DecisionsText(lines);
  return Error(Code::kInvalidArgument, "--explain: no decision is about a source node '", nodes,
               "'");
}

}  // namespace aicf::tools
