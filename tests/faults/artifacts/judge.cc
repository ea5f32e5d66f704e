#include "tests/faults/artifacts/judge.h"

#include <algorithm>
#include <vector>

#include "schema/artifact.h"
#include "schema/roots.h"

namespace aicf::hostile {
namespace {

bool IsTyped(Code code) {
  return code == Code::kBadArtifact || code == Code::kUnsupported || code == Code::kResource;
}

/// Whether an input of the step lies in the same memory as this output.
bool SharesMemoryWithAnInput(const schema::Step& s, uint32_t output,
                             const std::vector<uint32_t>& roots) {
  return std::ranges::any_of(s.inputs,
                             [&](uint32_t input) { return roots[input] == roots[output]; });
}

/// Moves an operand of a verified program past its buffer's end: what is written by one element,
/// what is read by a page, since a result need not depend on one element. An output in the memory
/// of an input stays where it is. Moved, it would overlap that input, which AddressSanitizer may
/// report before anything outside the buffer is written.
bool PlantIn(schema::Program& p, Plant plant) {
  bool planted = false;
  const std::vector<uint32_t> roots = schema::RootsOf(p);
  for (schema::Step& s : p.steps) {
    auto& views = plant == Plant::kWrite ? s.problem.outputs : s.problem.inputs;
    auto& buffers = plant == Plant::kWrite ? s.outputs : s.inputs;
    for (size_t k = 0; k < views.size(); ++k) {
      const schema::Buffer& b = p.buffers[buffers[k]];
      if (!abi::IsDense(views[k]) || abi::ElementsOf(views[k]) == 0 || b.bytes == 0 ||
          s.IsPacked(k)) {
        continue;
      }
      if (plant == Plant::kWrite && SharesMemoryWithAnInput(s, buffers[k], roots)) continue;
      views[k].offset += plant == Plant::kWrite ? 1 : 4096 / DTypeBytes(views[k].dtype);
      planted = true;
    }
  }
  return planted;
}

}  // namespace

Judgement Judge(std::span<const std::byte> file, uint64_t seed, const RunLimits& limits,
                Plant plant) {
  const auto artifact = schema::Artifact::Parse(file, /*with_optional=*/true);
  if (!artifact.ok()) {
    if (IsTyped(artifact.status().code())) return {};
    return {Verdict::kBroken, StrCat("loading ends in ", artifact.status().ToString())};
  }
  // A test alone may change what was verified.
  if (plant != Plant::kNone &&
      !PlantIn(const_cast<schema::Program&>((*artifact)->program()), plant)) {
    return {};  // no step reads a dense operand
  }
  std::string outside = plant == Plant::kNone ? OutsideItsBuffer((*artifact)->program()) : "";
  if (!outside.empty()) return {Verdict::kBroken, "accepted, though " + outside};
  RunOutcome outcome = RunGuarded(**artifact, seed, limits);
  switch (outcome.verdict) {
    case RunVerdict::kRan:
      return {Verdict::kAccepted, {}};
    case RunVerdict::kTooLarge:
      return {Verdict::kLarge, {}};
    case RunVerdict::kRefused:
      return {Verdict::kEnded, std::move(outcome.sentence)};
    default:
      return {Verdict::kBroken, std::move(outcome.sentence)};
  }
}

}  // namespace aicf::hostile
