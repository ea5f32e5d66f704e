#include "compiler/import/onnx_support.h"

#include <map>
#include <set>
#include <vector>

#include "base/status.h"
#include "compiler/import/onnx_rewrites.h"
#include "compiler/ir/op_table.h"

namespace aicf {
namespace {

struct Gap {
  std::string_view op;
  std::string_view reason;
};

constexpr Gap kGaps[] = {
#define AICF_EXCLUDED(op, reason) {op, reason},
#include "compiler/import/onnx_exclusions.def"
#undef AICF_EXCLUDED
};

// "com.microsoft.Gelu" -> "com.microsoft"; ONNX's own ops have no dot.
std::string DomainOf(const std::string& op) {
  const size_t dot = op.rfind('.');
  return dot == std::string::npos ? "" : op.substr(0, dot);
}

std::map<std::string, std::set<std::string>> ByDomain() {
  std::map<std::string, std::set<std::string>> ops;
  for (const std::string& op : ImportableOps()) ops[DomainOf(op)].insert(op);
  return ops;
}

std::string List(const std::set<std::string>& ops) {
  std::string out;
  size_t column = 0;
  for (const std::string& op : ops) {
    const std::string item = StrCat("`", op, "`");
    if (column > 0 && column + item.size() + 2 > 96) {
      out += ",\n";
      column = 0;
    } else if (column > 0) {
      out += ", ";
      column += 2;
    }
    out += item;
    column += item.size();
  }
  return out + "\n";
}

}  // namespace

std::string_view WhyExcluded(std::string_view op) {
  for (const Gap& row : kGaps) {
    const bool all = row.op.ends_with(".*");
    if (all ? op.starts_with(row.op.substr(0, row.op.size() - 1)) : op == row.op) return row.reason;
  }
  return {};
}

std::string OnnxSupportMarkdown() {
  std::string out = StrCat(
      "# ONNX support\n\n"
      "Made from the compiler's own tables (`aicf-compile --list-ops`); a test keeps it so. "
      "Opsets ",
      kMinOpset, " to ", kMaxOpset,
      ". A model\nthat needs something else is refused with exit code 4; `aicf-compile --check` "
      "lists "
      "all of its gaps at once.\n\n"
      "Functions that a model brings along (IR version 8) are inlined. Input shapes are bound with "
      "`--shapes`,\nseveral sets of them with `--bucket`; inputs whose values decide shapes or "
      "axes "
      "with `--bind`. Control flow\nwhose conditions are known while compiling disappears, but for "
      "loops of many trips. If and "
      "Loop "
      "also run with conditions and trip counts\nthat a run decides: branches with results of one "
      "shape, carried values that keep theirs, stacked results\nwhere the model has a constant "
      "trip "
      "count, which a condition may cut short. A branch that cannot run with the\nbound shapes is "
      "refused; with `--impossible-branches=nan` its results are NaN when a run takes it.\n");
  for (const auto& [domain, ops] : ByDomain()) {
    out +=
        StrCat("\n## ", domain.empty() ? "ONNX" : domain, " (", ops.size(), " ops)\n\n", List(ops));
  }
  out += "\n## Left out\n\n| op | why |\n|---|---|\n";
  for (const Gap& row : kGaps) out += StrCat("| `", row.op, "` | ", row.reason, " |\n");
  return out;
}

}  // namespace aicf
