#include "compiler/ir/lowered_sizes.h"

#include <optional>

#include "base/checked.h"
#include "base/scanner.h"
#include "schema/magnitudes.h"

namespace aicf::ir {
namespace {

// Checks every buffer, even one that no step reads, such as an input that the model declares and
// never uses.
Status CheckBytes(const LoweredBuffer& buffer) {
  const std::optional<int64_t> count = ElementCount(buffer.shape);
  int64_t bytes = 0;
  if (!count || CheckedMul<int64_t>(*count, DTypeBytes(buffer.dtype), &bytes)) return OkStatus();
  return Error(Code::kResource, "value ", Quote(buffer.name), " has ", *count, " elements of ",
               DTypeBytes(buffer.dtype), " bytes, more bytes than can be counted");
}

}  // namespace

Status CheckMagnitudes(const Lowered& lowered) {
  for (const LoweredBuffer& b : lowered.buffers) AICF_RETURN_IF_ERROR(CheckBytes(b));
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    const Status status = schema::CheckMagnitudes(lowered.steps[s].problem);
    if (status.ok()) continue;
    const auto& sources = lowered.steps[s].sources;
    return status.WithContext(
        StrCat("step ", s, sources.empty() ? "" : StrCat(" [", Quote(sources.front()), "]")));
  }
  return OkStatus();
}

}  // namespace aicf::ir
