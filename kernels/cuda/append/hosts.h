/// What is legal for the append kernels.
#pragma once

#include "kernels/abi/append.h"
#include "kernels/cuda/common/map_host.h"

namespace aicf::cuda {

/// How many units of work there are, of which a thread handles one at a time: pairs of vectors for
/// elements that are rotated with each other, single vectors for all others.
struct AppendWork {
  int64_t turned = 0, moved = 0;  ///< of a row
  int64_t rows = 0;
  int64_t copied = 0;  ///< of a cache that does not stay in place

  AppendWork(const abi::Problem& p, int64_t vector);
  int64_t Count() const { return rows * (turned + moved); }
};

/// A thread handles a vector of a head, or two vectors that are rotated with each other. If the
/// cache is updated in place, only its new rows are written.
struct AppendHost : VectorHostBase {
  static bool InPlace(const abi::Problem& p, int input) {
    const auto k = static_cast<size_t>(input);
    return (k == abi::kAppendKeys || k == abi::kAppendValues) && SameElements(p, input);
  }
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
};

struct AppendRotaryHost : AppendHost {
  static constexpr std::string_view kKey = "cuda.append.rotary";
  static constexpr std::string_view kSource = "append/rotary.cuh";

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    return p.as<abi::AppendAttrs>().pairs > 0 ? "" : "turns queries and keys";
  }
};

struct AppendRowsHost : AppendHost {
  static constexpr std::string_view kKey = "cuda.append.rows";
  static constexpr std::string_view kSource = "append/rows.cuh";

  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
    return p.as<abi::AppendAttrs>().pairs == 0 ? "" : "turns nothing";
  }
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kAppend> {
  using List = HostList<AppendRotaryHost, AppendRowsHost>;
};

}  // namespace aicf::cuda
