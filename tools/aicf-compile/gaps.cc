#include "tools/aicf-compile/gaps.h"

#include "base/scanner.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string NodesText(const std::vector<std::string>& nodes) {
  constexpr size_t kListed = 100;
  std::string out;
  for (size_t i = 0; i < nodes.size() && i < kListed; ++i) {
    out += StrCat(i > 0 ? ", " : "", Quote(nodes[i]));
  }
  if (nodes.size() > kListed) out += StrCat(" and ", nodes.size() - kListed, " more");
  return out;
}

std::string Counted(size_t count, std::string_view what) {
  return StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace

std::string GapsText(const std::string& model, const GapReport& report) {
  std::string out =
      StrCat(Escape(model), " needs what aicf lacks: ", Counted(report.gaps.size(), "gap"), "\n");
  for (const Gap& gap : report.gaps) {
    out += StrCat("\n  ", Escape(gap.subject), ": ", Escape(gap.problem), "\n");
    if (!gap.nodes.empty()) {
      out += StrCat("    ", Counted(gap.nodes.size(), "node"), ": ", NodesText(gap.nodes), "\n");
    }
    out += StrCat("    help: ", Escape(gap.help), "\n");
  }
  if (report.unexamined > 0) {
    out += StrCat("\n", Counted(report.unexamined, "node"), " after ",
                  report.gaps.size() == 1 ? "it" : "these",
                  report.unexamined == 1 ? " was" : " were", " not examined.\n");
  }
  return out;
}

}  // namespace aicf::tools
