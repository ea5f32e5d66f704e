#include "compiler/check/gap_words.h"

#include "base/scanner.h"

namespace aicf {

std::string ShapesFlag(const ir::Value& v) {
  if (v.shape.empty()) return StrCat("--shapes=", v.name, ":1x2x3 with all its extents");
  std::string out = StrCat("--shapes=", v.name, ":");
  for (int i = 0; i < v.shape.rank(); ++i) {
    out += StrCat(i > 0 ? "x" : "", v.shape[i] >= 0 ? StrCat(v.shape[i]) : "?");
  }
  return out;
}

std::string OpenExtents(const ir::Value& v) {
  if (v.shape.empty()) return "its rank and extents are open";
  std::string list;
  int count = 0;
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.shape[i] >= 0) continue;
    const std::string& symbol = v.symbols[static_cast<size_t>(i)];
    list +=
        StrCat(count++ > 0 ? ", " : "", i, symbol.empty() ? "" : StrCat(" (", Quote(symbol), ")"));
  }
  return StrCat(count == 1 ? "extent " : "extents ", list, count == 1 ? " is open" : " are open");
}

std::string WithoutLabel(const ir::Node& node, std::string message) {
  for (const std::string& label : {StrCat(node.op, " node ", Quote(node.name), ": "),
                                   StrCat("node '", node.name, "' (", node.op, "): ")}) {
    while (message.starts_with(label)) message.erase(0, label.size());
  }
  return message;
}

}  // namespace aicf
