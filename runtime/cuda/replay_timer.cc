#include "runtime/cuda/replay_timer.h"

#include <algorithm>

namespace aicf::cuda {
namespace {

/// Replays enqueued between two synchronisations. The first of a batch starts on an idle device and
/// so also pays for its own launch; it runs untimed.
constexpr int kBatch = 128;

Status TimeBatch(const Driver& driver, CUstream stream, const std::vector<Event>& events, int count,
                 const std::function<Status()>& replay, std::vector<double>* samples) {
  AICF_RETURN_IF_ERROR(replay());
  AICF_CUDA_CHECK(driver, "recording an event", driver.EventRecord(events[0].get(), stream));
  for (int i = 0; i < count; ++i) {
    AICF_RETURN_IF_ERROR(replay());
    AICF_CUDA_CHECK(driver, "recording an event", driver.EventRecord(events[i + 1].get(), stream));
  }
  AICF_CUDA_CHECK(driver, "waiting for the replays", driver.StreamSynchronize(stream));
  for (int i = 0; i < count; ++i) {
    float milliseconds = 0;
    AICF_CUDA_CHECK(driver, "reading an event",
                    driver.EventElapsedTime(&milliseconds, events[i].get(), events[i + 1].get()));
    samples->push_back(1000.0 * static_cast<double>(milliseconds));
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<double>> TimeBackToBack(const std::shared_ptr<const Device>& device,
                                           CUstream stream, int iterations,
                                           const std::function<Status()>& replay) {
  std::vector<Event> events;
  for (int i = 0; i <= std::min(iterations, kBatch); ++i) {
    AICF_ASSIGN_OR_RETURN(Event event, CreateEvent(device, kEventDefault));
    events.push_back(std::move(event));
  }
  std::vector<double> samples;
  while (samples.size() < static_cast<size_t>(iterations)) {
    const int left = iterations - static_cast<int>(samples.size());
    AICF_RETURN_IF_ERROR(
        TimeBatch(device->driver(), stream, events, std::min(left, kBatch), replay, &samples));
  }
  return samples;
}

}  // namespace aicf::cuda
