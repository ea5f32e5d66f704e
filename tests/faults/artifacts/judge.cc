#include "tests/faults/artifacts/judge.h"

#include "schema/artifact.h"

namespace aicf::hostile {
namespace {

bool IsTyped(Code code) {
  return code == Code::kBadArtifact || code == Code::kUnsupported || code == Code::kResource;
}

/// Moves an operand of a verified program past its buffer's end: what is written by one element,
/// what is read by a page, since a result need not depend on one element.
bool PlantIn(schema::Program& p, Plant plant) {
  bool planted = false;
  for (schema::Step& s : p.steps) {
    auto& views = plant == Plant::kWrite ? s.problem.outputs : s.problem.inputs;
    auto& buffers = plant == Plant::kWrite ? s.outputs : s.inputs;
    for (size_t k = 0; k < views.size(); ++k) {
      const schema::Buffer& b = p.buffers[buffers[k]];
      if (!abi::IsDense(views[k]) || abi::ElementsOf(views[k]) == 0 || b.bytes == 0 ||
          s.IsPacked(k)) {
        continue;
      }
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
