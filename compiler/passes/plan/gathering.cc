#include "compiler/passes/plan/gathering.h"

#include <algorithm>

#include "base/checked.h"

namespace aicf {
namespace {

constexpr int64_t kMostBlocks = 32;       // resident on one multiprocessor
constexpr int64_t kReservedBytes = 1024;  // shared memory that the system takes for each block

int64_t CountOf(const uint32_t (&extent)[3]) { return int64_t{extent[0]} * extent[1] * extent[2]; }

// Blocks of the launch that one multiprocessor with `threads` has room for.
int64_t RoomFor(const abi::LaunchConfig& launch, int64_t threads, const abi::DeviceSpec& device) {
  const int64_t by_threads = threads / std::max<int64_t>(1, CountOf(launch.block));
  const int64_t by_shared =
      device.shared_bytes_per_sm / (int64_t{launch.dynamic_shared_bytes} + kReservedBytes);
  return std::min({kMostBlocks, by_threads, by_shared});
}

}  // namespace

int64_t BlocksOf(const abi::LaunchConfig& launch) { return CountOf(launch.grid); }

int64_t MultiprocessorsFor(const abi::LaunchConfig& launch, const abi::DeviceSpec& device) {
  constexpr int64_t kRegisters = 2;  // the registers of so many threads for each
  const int64_t room = RoomFor(launch, device.threads_per_sm / kRegisters, device);
  return CeilDiv(BlocksOf(launch), std::max<int64_t>(1, room));
}

double Gathering(const abi::LaunchConfig& launch, const abi::LaunchConfig& before,
                 const abi::DeviceSpec& device) {
  const int64_t blocks = std::max<int64_t>(1, BlocksOf(launch));
  const int64_t sms = std::max(1, device.sm_count);
  const int64_t empty = sms - BlocksOf(before);
  const int64_t on_empty = empty > 0 ? CeilDiv(blocks, empty) : blocks;
  const int64_t gathered = std::min(RoomFor(launch, device.threads_per_sm, device), on_empty);
  return std::max(1.0, static_cast<double>(gathered) / static_cast<double>(CeilDiv(blocks, sms)));
}

}  // namespace aicf
