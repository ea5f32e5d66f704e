/// An artifact is verified and, if it is accepted, run with guarded memory around every value
/// (tests/faults/artifacts).
#include "base/hash.h"
#include "tests/faults/artifacts/judge.h"
#include "tests/fuzz/artifact_mutation.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

void RunExecute(Input input) {
  const hostile::RunLimits limits{.operations = 1e5, .bytes = uint64_t{256} << 10};
  const uint64_t seed = HashText(TextOf(input)).low;
  // The planted defect is the judge's own: an operand moved past its buffer's end after
  // verification, with one input in 64 so that no seed finds it.
  const bool planted = Planted() && seed % 64 == 0;
  const hostile::Plant plant = planted ? hostile::Plant::kWrite : hostile::Plant::kNone;
  const hostile::Judgement judged = hostile::Judge(std::as_bytes(input), seed, limits, plant);
  if (judged.verdict == hostile::Verdict::kBroken) Broken(judged.sentence);
}

}  // namespace

Target ExecuteTarget() { return {"execute", &RunExecute, &MutateArtifact}; }

}  // namespace aicf::fuzz
