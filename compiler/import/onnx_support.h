/// What is supported of ONNX, as data: the op tables, and the ops that are left out with the reason
/// for each.
#pragma once

#include <string>
#include <string_view>

namespace aicf {

/// Why an op (with its domain in front) is left out on purpose; empty when it is not on that list.
std::string_view WhyExcluded(std::string_view op);

/// docs/onnx.md: every op that can be imported, by domain, and every exclusion with its reason.
std::string OnnxSupportMarkdown();

}  // namespace aicf
