#include "kernels/cuda/blockgemm/stream.h"

#include "kernels/cuda/blockgemm/decode.h"
#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

int64_t BytesOfStage(const Problem& p, const abi::Parameters& c) {
  return c["warps"] * ChunkOf(p.as<abi::BlockGemmAttrs>().format).bytes();
}

}  // namespace

int64_t BlockStreamSharedBytes(const Problem& p, const abi::Parameters& c) {
  const int64_t squares = NormalizesRows(p) ? RoundUp(c["warps"] * 4, 16) : 0;
  const int64_t row = BlockDecodeRowBytes(p, /*cluster=*/1) + squares;
  const int64_t places = 2 * ProductOf(p).halves;
  return row + c["stages"] * (BytesOfStage(p, c) + 2 * 8) + places * (16 * c["warps"] * 4 + 2 * 8);
}

std::string BlockStreamHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (!d.warpgroup_products) return RefuseWithoutBulkCopies(d);
  std::string refusal = BlockDecodeHost::Refusal(p, d);
  return refusal.empty() ? BlockDecodeHost::RefuseIntegers(p) : refusal;
}

std::string BlockStreamHost::Refuse(const Problem& p, const abi::Parameters& c,
                                    const abi::DeviceSpec& d) {
  if (c["flight"] > c["stages"]) return "has no more stages on their way than there are";
  const int64_t shared = BlockStreamSharedBytes(p, c);
  if (shared <= d.max_shared_bytes) return {};
  return StrCat("needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
}

abi::LaunchConfig BlockStreamHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 32 * (c["warps"] + 2));
  launch.dynamic_shared_bytes = static_cast<uint32_t>(BlockStreamSharedBytes(p, c));
  return launch;
}

}  // namespace aicf::cuda
