#include <algorithm>
#include <cmath>

#include "kernels/cuda/categorical/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// These are estimates, not measurements: bytes per microsecond between the L2 cache and one
// multiprocessor, the time of a meeting of a cluster's blocks and what each further block adds to
// it, and the time of a walk over a thousand categories that a block keeps.
constexpr double kDrawBytesPerUs = 46e3;
constexpr double kDrawMeetingUs = 0.5, kDrawPartUs = 0.03, kDrawThousandUs = 0.035;
// Meetings and walks of a draw with top-k and top-p: three digits for each of these two, their sums
// and the draw.
constexpr double kDrawMeetings = 11, kDrawWalks = 10;

double CategoricalUs(const Problem& p, const abi::Parameters& c, const DeviceSpec& d) {
  const CategoricalCut cut(p, c);
  const auto rows = static_cast<double>(std::max<int64_t>(1, p.inputs[0].shape[0]));
  const auto parts = static_cast<double>(c["cluster"]), share = static_cast<double>(cut.share);
  const double meeting = parts > 1 ? kDrawMeetingUs + kDrawPartUs * parts : 0.2;
  const double read = share * static_cast<double>(DTypeBytes(p.inputs[0].dtype)) / kDrawBytesPerUs;
  const double reads = c["cached"] != 0 ? read : kDrawWalks * read;
  // Few threads issue fewer instructions at a time.
  const double issue = static_cast<double>(kMaxThreads) / static_cast<double>(c["threads"]);
  const double walks = kDrawWalks * kDrawThousandUs * share / 1000 * std::max(1.0, issue / 2);
  // A thread takes 64 of 65536 registers.
  const int64_t by_threads = std::min(d.threads_per_sm, 1024) / c["threads"];
  const int64_t by_memory = d.shared_bytes_per_sm / (cut.shared_bytes + 1024);
  const auto at_once = static_cast<double>(std::max<int64_t>(1, std::min(by_threads, by_memory)));
  const double slots = std::max(1.0, static_cast<double>(d.sm_count) * at_once / parts);
  const double waves = std::ceil(rows / slots);
  // Blocks of one multiprocessor share what it reads and issues, and wait together.
  const double together = std::min(at_once, std::ceil(rows * parts / d.sm_count));
  const double memory = abi::ByteCount(p) / (0.8 * d.bytes_per_us);
  const double wave = 2 + kDrawMeetings * meeting + (reads + walks) * together;
  return d.launch_us + std::max(memory, waves * wave);
}

}  // namespace

// Offers all candidates that are predicted to be nearly as fast as the fastest. Parts of rows are
// kept in shared memory where they fit, which takes less time than reading them again and again.
template <>
std::vector<Candidate> CandidatesFor<CategoricalSelectHost>(const Problem& p, const DeviceSpec& d) {
  constexpr double kNearly = 1.5;
  const int64_t most = std::min<int64_t>(CategoricalSelectHost::kMostParts, d.max_cluster);
  std::vector<Candidate> all;
  double best = 0;
  for (int64_t threads : {256, 512, 1024}) {
    for (int64_t cluster = 1; cluster <= most; cluster *= 2) {
      abi::Parameters c = {{"threads", threads}, {"cluster", cluster}, {"cached", 1}};
      if (!CategoricalSelectHost::Refuse(p, c, d).empty()) {
        c = {{"threads", threads}, {"cluster", cluster}, {"cached", 0}};
      }
      if (!CategoricalSelectHost::Refuse(p, c, d).empty()) continue;
      all.push_back(CandidateOf<CategoricalSelectHost>(p, c, CategoricalUs(p, c, d)));
      best = best == 0 ? all.back().cost_us : std::min(best, all.back().cost_us);
    }
  }
  std::erase_if(all, [&](const Candidate& c) { return c.cost_us > kNearly * best; });
  return all;
}

}  // namespace aicf::cuda
