#include <algorithm>

#include "kernels/abi/excite.h"
#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/excite/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// Bytes per microsecond between the second-level cache and one multiprocessor.
constexpr double kExciteBytesPerUs = 60e3;
constexpr double kExciteExchangeUs = 0.25;  // a meeting of a cluster's blocks
constexpr double kExciteLatencyUs = 1.0;  // of memory and of the two products, one after the other

double BytesOfView(const abi::View& v) {
  return static_cast<double>(abi::ElementsOf(v) * DTypeBytes(v.dtype));
}

// Memory moves in sectors of 32 bytes, of which a block with few channels uses a part.
double ShareOfSectors(const ExciteCut& cut, const abi::View& x) {
  return std::min(1.0, static_cast<double>(cut.slice * DTypeBytes(x.dtype)) / 32.0);
}

// Every block reads what each of the others sends.
double ExchangeUs(int64_t parts) {
  return parts > 1 ? kExciteExchangeUs + 0.02 * static_cast<double>(parts) : 0;
}

double ExciteUs(const Problem& p, const abi::Parameters& c, const DeviceSpec& d) {
  const abi::ExciteShape s = abi::ExciteShapeOf(p);
  const ExciteCut cut(p, c);
  const abi::View& x = p.inputs[static_cast<size_t>(s.x)];
  const auto images = static_cast<double>(std::max<int64_t>(1, s.images));
  const auto channel_parts = static_cast<double>(c["channel_parts"]);
  const double parts = channel_parts * static_cast<double>(c["position_parts"]);
  // What is too much for registers is read again.
  const double kept = static_cast<double>(c["threads"]) * (c["threads"] > 512 ? 32 : 256);
  const double of_block = BytesOfView(x) / images / parts;
  double bytes = of_block * (of_block > kept ? 2 : 1);
  for (size_t k = static_cast<size_t>(s.x) + 1; k < p.inputs.size(); ++k) {
    bytes += BytesOfView(p.inputs[k]) / images / parts;
  }
  bytes += BytesOfView(p.outputs[0]) / images / parts;
  const double weights = (BytesOfView(p.inputs[0]) + BytesOfView(p.inputs[1])) / channel_parts;
  const double exchanges = ExchangeUs(c["position_parts"]) + ExchangeUs(c["channel_parts"]);
  const double one =
      kExciteLatencyUs + exchanges + (bytes / ShareOfSectors(cut, x) + weights) / kExciteBytesPerUs;
  const auto blocks = static_cast<int64_t>(images * parts);
  const int64_t at_once = int64_t{d.sm_count} * std::max<int64_t>(1, 1024 / c["threads"]);
  const double memory = (BytesOfView(x) + BytesOfView(p.outputs[0])) / (0.8 * d.bytes_per_us);
  return d.launch_us + std::max(memory, one * static_cast<double>(CeilDiv(blocks, at_once)));
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<ExciteClusterHost>(const Problem& p, const DeviceSpec& d) {
  std::vector<Candidate> all;
  const int64_t most = std::min<int64_t>(ExciteClusterHost::kMostParts, d.max_cluster);
  for (int64_t threads : {512, 256, 1024}) {
    for (int64_t channels = 1; channels <= most; channels *= 2) {
      for (int64_t positions = 1; channels * positions <= most; positions *= 2) {
        const abi::Parameters c = {{"channel_parts", channels},
                                   {"position_parts", positions},
                                   {"vector", ExciteClusterHost::WidestVectorOf(p)},
                                   {"threads", threads}};
        if (!ExciteClusterHost::Refuse(p, c, d).empty()) continue;
        all.push_back(CandidateOf<ExciteClusterHost>(p, c, ExciteUs(p, c, d)));
      }
    }
  }
  return all;
}

}  // namespace aicf::cuda
