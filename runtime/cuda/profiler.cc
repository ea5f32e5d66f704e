#include "runtime/cuda/profiler.h"

#include "runtime/cuda/graph.h"
#include "runtime/cuda/replay_timer.h"
#include "runtime/trace/stats.h"

namespace aicf::cuda {
namespace {

/// Replays before the timed ones: clocks rise, caches and instruction memory fill.
constexpr int kWarmUp = 10;

/// Median microseconds of a replay of the first `count` launches.
Result<double> TimePrefix(const std::shared_ptr<const Device>& device, CUstream stream,
                          const std::vector<std::unique_ptr<Launch>>& launches, size_t count,
                          bool one_stream, int iterations) {
  AICF_ASSIGN_OR_RETURN(const GraphExec graph, CaptureGraph(device, stream, [&] {
                          for (size_t i = 0; i < count; ++i) {
                            AICF_RETURN_IF_ERROR(one_stream ? launches[i]->EnqueueInOrder(stream)
                                                            : launches[i]->Enqueue(stream));
                          }
                          return OkStatus();
                        }));
  const Driver& driver = device->driver();
  const auto replay = [&] {
    return driver.Check(driver.GraphLaunch(graph.get(), stream), "launching a prefix graph");
  };
  for (int i = 0; i < kWarmUp; ++i) AICF_RETURN_IF_ERROR(replay());
  AICF_ASSIGN_OR_RETURN(std::vector<double> samples,
                        TimeBackToBack(device, stream, iterations, replay));
  return trace::Median(std::move(samples));
}

}  // namespace

Result<std::vector<StepProfile>> ProfileLaunches(
    const std::shared_ptr<const Device>& device, CUstream stream,
    const std::vector<std::unique_ptr<Launch>>& launches, uint32_t first_step, bool one_stream,
    int iterations) {
  std::vector<double> cumulative;
  for (size_t k = 1; k <= launches.size(); ++k) {
    AICF_ASSIGN_OR_RETURN(const double us,
                          TimePrefix(device, stream, launches, k, one_stream, iterations));
    cumulative.push_back(us);
  }
  cumulative = trace::NonDecreasing(cumulative);
  std::vector<StepProfile> profile;
  double before = 0;
  for (size_t k = 0; k < cumulative.size(); ++k) {
    profile.push_back({first_step + static_cast<uint32_t>(k), cumulative[k] - before});
    before = cumulative[k];
  }
  return profile;
}

}  // namespace aicf::cuda
