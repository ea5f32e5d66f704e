/// Loads the committed artifacts and runs their samples.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "kernels/abi/problem.h"
#include "schema/artifact.h"
#include "schema/golden.h"

namespace aicf::artifacts {

/// Paths of tests/artifacts/*.aicf, sorted. With a `backend` ("cpu" or "cuda") they are the
/// complete set for it. "cuda" stands for sm_90a; the few artifacts for other GPUs are named after
/// their architecture and do not belong to the set.
std::vector<std::string> CommittedArtifacts();
std::vector<std::string> CommittedArtifacts(const std::string& backend);

/// "stream.cuda" for ".../stream.cuda.aicf".
std::string NameOf(const std::string& path);

/// A committed artifact with its optional sections, and as a program to run.
struct Committed {
  std::shared_ptr<const schema::Artifact> artifact;
  std::shared_ptr<const Program> program;
  schema::Golden golden;  ///< its data points into `artifact`
};

/// Errors: those of loading and verifying; kBadArtifact without samples.
Result<Committed> Load(const std::string& path);

/// The families that the set covers: all up to the last one of which it has a step. Families are
/// only ever appended, so those that follow are newer than the set, which is made anew for each
/// release.
std::vector<abi::Family> CommittedFamilies();
/// Number of families that the set has covered from its beginning.
inline constexpr size_t kFamiliesOfTheFirstSet = 17;
/// Whether programs for this backend ("cpu", "cuda") can have a step of the family. That is so for
/// all families, except that squeeze and excitation remains several steps on a CPU.
bool HasSteps(abi::Family family, const std::string& backend);

/// The bytes of all outputs of all samples, in order.
using Outputs = std::vector<std::vector<std::byte>>;

/// Runs each sample in a new session and compares its outputs with what the sample expects, within
/// its tolerance. Errors: kCheckFailed naming sample and output; those of the session.
Result<Outputs> RunSamples(const std::shared_ptr<const Program>& program,
                           const schema::Golden& golden, const SessionOptions& options);

/// The same on the CPU; a plan for CUDA runs on the reference kernels.
Result<Outputs> RunSamplesOnCpu(const std::shared_ptr<const Program>& program,
                                const schema::Golden& golden);

}  // namespace aicf::artifacts
