/// Host functions of the CPU variants: what a row of a family's list.inc is made from.
///
/// A row names a key, the instruction set that it needs, a host class and a function; a host class
/// says what one algorithm takes, whatever the instruction set. It derives from CpuHostBase and
/// hides what is different there:
///   Refusal(problem)            empty, or why the algorithm cannot run the problem
///   Workspace(problem, device)  scratch bytes
///   InPlace(problem, input)     see abi::KernelInfo::in_place
///   kPacks                      whether it wants an input packed; if so:
///   kPackedInput, kRecovery, Layout(problem), PackedBytes(problem),
///   Pack(problem, buffer, packed), Unpack(problem, packed, buffer)
///                               the one input that it wants packed, the members of
///                               abi::PackedLayout (Layout is its name), and the functions of
///                               abi::KernelInfo for packing
///   Cost(problem, device)       predicted microseconds; without it, kFlopsShare and kBytesShare
///                               give them (kernels/cpu/common/choice.h)
/// kernels/cpu/common/*.cc.in turn the rows of every list.inc into what the registry, the
/// compiler's choice and the CPU runtime ask for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/abi/registry.h"

namespace aicf::cpu {

/// The instruction sets as a row of list.inc names them.
inline constexpr abi::CpuIsa kBaseline = abi::CpuIsa::kBaseline;
inline constexpr abi::CpuIsa kAvx2 = abi::CpuIsa::kAvx2;
inline constexpr abi::CpuIsa kAvx512 = abi::CpuIsa::kAvx512;

/// Empty when the device has the instruction set; else the sentence.
std::string MissingIsa(const abi::DeviceSpec& device, abi::CpuIsa isa);

/// True when the input and the output in its place occupy the same elements in the same order.
bool SameElements(const abi::Problem& problem, int input);

struct CpuHostBase {
  static constexpr bool kPacks = false;
  static constexpr int kPackedInput = 1;
  static constexpr bool kNormalizesRows = false;    ///< takes abi::NormalizesRows problems
  static constexpr bool kTakesBlockScales = false;  ///< takes abi::HasBlockScales problems
  static constexpr bool kSeesMoments = false;       ///< takes abi::SeesMoments problems
  static constexpr bool kStoresParts = false;       ///< takes abi::StoresParts problems
  static constexpr bool kAppendsRows = false;       ///< takes abi::AppendsRows problems
  static constexpr abi::Recovery kRecovery = abi::Recovery::kNormal;
  static constexpr double kFlopsShare = 0.1;
  static constexpr double kBytesShare = 0.8;
  static std::string Refusal(const abi::Problem&) { return {}; }
  static uint64_t Workspace(const abi::Problem&, const abi::DeviceSpec&) { return 0; }
  /// An epilogue operand is read at a point before that point is written, and nowhere else.
  static bool InPlace(const abi::Problem& p, int input) {
    return input >= p.core_inputs && SameElements(p, input);
  }
};

/// Fills in the part of a row that says how its host packs. An operand without elements has no
/// packed form.
template <class Host>
void AddPacking(abi::KernelInfo& row) {
  row.packed = [](const abi::Problem& p, const abi::Parameters&,
                  int input) -> std::optional<abi::PackedLayout> {
    if (input != Host::kPackedInput) return std::nullopt;
    const uint64_t bytes = Host::PackedBytes(p);
    if (bytes == 0) return std::nullopt;
    return abi::PackedLayout{Host::Layout(p), bytes, Host::kRecovery};
  };
  row.pack = [](const abi::Problem& p, const abi::Parameters&, int, const void* buffer,
                void* packed) { Host::Pack(p, buffer, packed); };
  row.unpack = [](const abi::Problem& p, const abi::Parameters&, int, const void* packed,
                  void* buffer) { Host::Unpack(p, packed, buffer); };
}

template <class Host, abi::CpuIsa kIsa>
abi::KernelInfo RowOf(std::string_view key, abi::Family family) {
  abi::KernelInfo row{};
  row.key = key;
  row.family = family;
  row.backend = abi::Backend::kCpu;
  row.deterministic = true;
  row.supports = [](const abi::Problem& p, const abi::DeviceSpec& d) {
    std::string refusal = MissingIsa(d, kIsa);
    if (refusal.empty() && !Host::kNormalizesRows) refusal = abi::RefuseRowNorm(p);
    if (refusal.empty() && !Host::kTakesBlockScales) refusal = abi::RefuseBlockScales(p);
    if (refusal.empty() && !Host::kSeesMoments) refusal = abi::RefuseMoments(p);
    if (refusal.empty() && !Host::kStoresParts) refusal = abi::RefuseStoredParts(p);
    if (refusal.empty() && !Host::kAppendsRows) refusal = abi::RefuseAppending(p);
    return refusal.empty() ? Host::Refusal(p) : refusal;
  };
  row.workspace_bytes = &Host::Workspace;
  row.in_place = &Host::InPlace;
  if constexpr (Host::kPacks) AddPacking<Host>(row);
  return row;
}

}  // namespace aicf::cpu
