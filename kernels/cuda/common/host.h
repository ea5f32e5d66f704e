/// Host functions of the CUDA kernels: what the rows of the registry are made from.
///
/// A host class (kernels/cuda/<family>/hosts.h) names one algorithm and says what is legal for it.
/// Listed in its family's CudaHosts, at the end of that header, it is a row of the registry, of the
/// tests and of the choice. It derives from CudaHostBase, redefines what is different, and has
///   kKey, kSource                      key and device file
///   kParameters                        names and ranges of its parameters, an array
///   Refusal(problem, device)           empty, or why the algorithm cannot run the problem at all
///   Refuse(problem, parameters, device)  empty, or why it cannot with these parameters
///   Launch(problem, parameters)        grid and block; the source writer makes them constants
///   Workspace(problem, parameters)     scratch bytes
///   TensorMaps(problem, parameters)    descriptors of its operands
///   InPlace(problem, input)            see abi::KernelInfo::in_place
///   kPacks, Packed, Pack, Unpack       see abi::KernelInfo::packed; the last three only where
///   kPacks
///   kReadsAhead, ReadsAhead            see abi::KernelInfo::reads_ahead
///   kStreamsAhead                      see abi::KernelInfo::streams_ahead
/// Which of the legal variants are worth choosing, and their predicted cost, is said by
/// CandidatesFor<Host> in the family's choose.cc (kernels/cuda/common/choice.h), which the runtime
/// does not link.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "kernels/abi/registry.h"
#include "kernels/cuda/common/space.h"

namespace aicf::cuda {

/// Sentence for a device that no kernel here runs on; empty for a GPU of compute capability 8.0 or
/// later.
std::string RefuseDevice(const abi::DeviceSpec& device);
/// Sentence for a device without warpgroup products (wgmma) and bulk tensor copies.
std::string RefuseWithoutWarpgroups(const abi::DeviceSpec& device);
/// The same of kernels whose rings are filled by bulk copies, which the same devices have.
std::string RefuseWithoutBulkCopies(const abi::DeviceSpec& device);
/// Empty, or why the device cannot launch this: more blocks per cluster or more shared memory than
/// it has.
std::string RefuseLaunchOn(const abi::DeviceSpec& device, const abi::LaunchConfig& launch);

/// True when the input and the output that may take its place (abi::OutputInPlaceOf) have elements
/// of one size at the same places of the buffer, in the same order: the condition for reading an
/// element just before it is overwritten. All other outputs lie in other buffers.
bool SameElements(const abi::Problem& problem, int input);

abi::LaunchConfig Launch1d(int64_t grid, int64_t block);

/// Ranges of parameters that many kernels have. A grid is one-dimensional and has at most 2^31 - 1
/// blocks; a vector has a power of two of elements.
inline constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;
inline constexpr int64_t kMaxThreads = 1024;
inline constexpr int64_t kMaxVector = 16;
inline constexpr abi::ParameterRange kBlocksRange = {"blocks", 1, kMaxBlocks};
inline constexpr abi::ParameterRange kThreadsRange = {"threads", 32, kMaxThreads};
inline constexpr abi::ParameterRange kVectorRange = {"vector", 1, kMaxVector};

/// Vectors that a thread loads before it stores the first.
inline constexpr abi::ParameterRange kUnrollRange = {"unroll", 1, 8, 1};

/// "takes NAME as a power of two, here is N", or empty.
std::string RefuseOddPower(const abi::Parameters& parameters, std::string_view name);
/// "takes NAME in multiples of `unit`, here is N", or empty.
std::string RefuseParts(const abi::Parameters& parameters, std::string_view name, int64_t unit);
/// The most elements (blocks x threads x elements of a thread) that a kernel may take in one stride
/// of its whole grid. 32-bit indices have room for one such stride above the last index
/// (NeedsWideIndex).
inline constexpr int64_t kMaxGridStride = int64_t{1} << 28;
std::string RefuseStride(int64_t blocks, int64_t elements_per_block);

struct CudaHostBase {
  static constexpr bool kPacks = false;
  static constexpr bool kReadsAhead = false;
  static constexpr bool kStreamsAhead = false;
  /// See abi::KernelInfo::reads_ahead. This one is for products, whose second operand is the
  /// weights, and whose third one is the gain where they normalise rows.
  static bool ReadsAhead(const abi::Problem& p, size_t input) {
    return input == 1 || (input == 2 && abi::NormalizesRows(p));
  }
  static constexpr bool kNormalizesRows = false;    ///< takes abi::NormalizesRows problems
  static constexpr bool kTakesBlockScales = false;  ///< takes abi::HasBlockScales problems
  static constexpr bool kSeesMoments = false;       ///< takes abi::SeesMoments problems
  static constexpr bool kStoresParts = false;       ///< takes abi::StoresParts problems
  static constexpr bool kAppendsRows = false;       ///< takes abi::AppendsRows problems
  static std::string Refusal(const abi::Problem&, const abi::DeviceSpec&) { return {}; }
  static std::string Refuse(const abi::Problem&, const abi::Parameters&, const abi::DeviceSpec&) {
    return {};
  }
  static uint64_t Workspace(const abi::Problem&, const abi::Parameters&) { return 0; }
  static std::vector<abi::TensorMap> TensorMaps(const abi::Problem&, const abi::Parameters&) {
    return {};
  }
  /// An operand of the epilogue may be overwritten in place: it is read at a point before that
  /// point is written, and nowhere else.
  static bool InPlace(const abi::Problem& p, int input) {
    return input >= p.core_inputs && SameElements(p, input);
  }
};

/// Launch, workspace and tensor maps of a host's variant.
template <class Host>
abi::DerivedVariant Derive(const abi::Problem& p, const abi::Parameters& parameters) {
  return {Host::Launch(p, parameters), Host::Workspace(p, parameters),
          Host::TensorMaps(p, parameters)};
}

/// Empty, or why the host does not take the problem: problems of special kinds are taken only by
/// hosts that say so.
template <class Host>
std::string RefuseSpecial(const abi::Problem& p) {
  if (!Host::kNormalizesRows && abi::NormalizesRows(p)) return abi::RefuseRowNorm(p);
  if (!Host::kTakesBlockScales && abi::HasBlockScales(p)) return abi::RefuseBlockScales(p);
  if (!Host::kSeesMoments && abi::SeesMoments(p)) return abi::RefuseMoments(p);
  if (!Host::kStoresParts && abi::StoresParts(p)) return abi::RefuseStoredParts(p);
  if (!Host::kAppendsRows && abi::AppendsRows(p)) return abi::RefuseAppending(p);
  return {};
}

template <class Host>
abi::KernelInfo RowOf(abi::Family family) {
  abi::KernelInfo row{};
  row.key = Host::kKey;
  row.family = family;
  row.backend = abi::Backend::kCuda;
  row.deterministic = true;
  row.source = Host::kSource;
  row.waits_first = true;  // the source writer or the device source adds the wait
  if constexpr (Host::kReadsAhead) row.reads_ahead = &Host::ReadsAhead;
  row.streams_ahead = Host::kStreamsAhead;
  row.parameters = Host::kParameters;
  row.supports = [](const abi::Problem& p, const abi::DeviceSpec& d) {
    if (std::string refusal = RefuseDevice(d); !refusal.empty()) return refusal;
    if (std::string refusal = RefuseSpecial<Host>(p); !refusal.empty()) return refusal;
    return Host::Refusal(p, d);
  };
  row.refuse = [](const abi::Problem& p, const abi::Parameters& c, const abi::DeviceSpec& d) {
    std::string refusal = Host::Refuse(p, c, d);
    return refusal.empty() ? RefuseLaunchOn(d, Host::Launch(p, c)) : refusal;
  };
  row.refuse_parameters = &Host::Refuse;
  row.refuse_launch = &RefuseLaunchOn;
  row.derive = &Derive<Host>;
  row.in_place = &Host::InPlace;
  if constexpr (Host::kPacks) {
    row.packed = &Host::Packed;
    row.pack = &Host::Pack;
    row.unpack = &Host::Unpack;
  }
  return row;
}

/// The host classes of a family. The family's hosts.h specialises CudaHosts, whose `List` is a
/// HostList.
template <class... Hosts>
struct HostList {};
template <abi::Family F>
struct CudaHosts;

template <class... Hosts>
std::array<abi::KernelInfo, sizeof...(Hosts)> RowsOf(abi::Family family, HostList<Hosts...>) {
  return {RowOf<Hosts>(family)...};
}

}  // namespace aicf::cuda
