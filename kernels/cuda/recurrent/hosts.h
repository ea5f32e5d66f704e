/// What is legal for the recurrent kernels.
#pragma once

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

/// Where a cluster keeps what it works on.
enum class RecurrentStorage : int64_t {
  kWorkspace,  ///< states in the workspace, weights where they are
  kStates,     ///< states in shared memory
  kWeights,    ///< states and the block's weights in shared memory
};

/// How a problem is cut; cluster.cuh derives the same from its constants.
struct RecurrentCut {
  int64_t element = 4;   ///< bytes of the computing type
  int64_t pitch = 0;     ///< hidden units rounded up to 16 bytes
  int64_t cluster = 1;   ///< blocks that share one direction of some rows
  int64_t clusters = 1;  ///< per direction
  int64_t rows = 1;      ///< of the batch, per cluster
  int64_t units = 0;     ///< hidden units of a block
  int64_t state_elements = 0, block_elements = 0, weight_elements = 0;

  RecurrentCut(const abi::Problem& p, int64_t blocks, int64_t parts);
  int64_t SharedBytes(RecurrentStorage storage) const;
};

struct RecurrentClusterHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.recurrent.cluster";
  static constexpr std::string_view kSource = "recurrent/cluster.cuh";
  static constexpr int64_t kMaxCluster = 8;         ///< more is not portable
  static constexpr int64_t kMaxClusters = 1 << 24;  ///< both directions' blocks fit a grid
  static constexpr int64_t kMaxRows = 8;            ///< sums that a thread keeps
  static constexpr abi::ParameterRange kParameters[] = {
      {"cluster", 1, kMaxCluster}, {"clusters", 1, kMaxClusters}, {"storage", 0, 2}, kThreadsRange};

  /// No input has the shape of the first output, so none can take its bytes.
  static bool InPlace(const abi::Problem&, int) { return false; }
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
  static uint64_t Workspace(const abi::Problem& p, const abi::Parameters& c);
};

/// In order of preference: ties of predicted cost go to the earlier one.
template <>
struct CudaHosts<abi::Family::kRecurrent> {
  using List = HostList<RecurrentClusterHost>;
};

}  // namespace aicf::cuda
