/// The committed artifacts, and their samples run against them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "kernels/abi/problem.h"
#include "schema/artifact.h"
#include "schema/golden.h"

namespace aicf::artifacts {

/// Paths of tests/artifacts/*.aicf, sorted; with "cpu" or "cuda" those of the complete set for that
/// backend ("cuda" is sm_90a; the few for other GPUs are named by their architecture).
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

/// The families that the set is complete for: all up to the last one that it has a step of.
/// Families are only ever appended, so one after these is newer than the set, which is remade for a
/// release.
std::vector<abi::Family> CommittedFamilies();
/// What the set has had from its beginning.
inline constexpr size_t kFamiliesOfTheFirstSet = 17;
/// Whether programs for this backend ("cpu", "cuda") can have a step of it: on a CPU squeeze and
/// excitation stays apart.
bool HasSteps(abi::Family family, const std::string& backend);

/// Bytes of every output of every sample, in their order.
using Outputs = std::vector<std::vector<std::byte>>;

/// Runs each sample in a new session and compares its outputs with what the sample expects, within
/// its tolerance. Errors: kCheckFailed naming sample and output; those of the session.
Result<Outputs> RunSamples(const std::shared_ptr<const Program>& program,
                           const schema::Golden& golden, const SessionOptions& options);

/// The same on the CPU; a plan for CUDA runs on the reference kernels.
Result<Outputs> RunSamplesOnCpu(const std::shared_ptr<const Program>& program,
                                const schema::Golden& golden);

}  // namespace aicf::artifacts
