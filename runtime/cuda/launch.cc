#include "runtime/cuda/launch.h"

#include <utility>

#include "runtime/cuda/matmul.h"
#include "runtime/cuda/tensor_map.h"

namespace aicf::cuda {
namespace {

class KernelLaunch final : public Launch {
 public:
  KernelLaunch(const Driver& driver, CUfunction function, const schema::Step& step,
               const AddressMap& addresses)
      : driver_(driver), function_(function) {
    for (uint32_t buffer : step.inputs) values_.push_back(addresses.Of(buffer));
    for (uint32_t buffer : step.outputs) values_.push_back(addresses.Of(buffer));
    values_.push_back(addresses.Workspace(step));
    const abi::LaunchConfig& launch = step.launch;
    for (int axis = 0; axis < 3; ++axis) {
      config_.grid[axis] = launch.grid[axis];
      config_.block[axis] = launch.block[axis];
      cluster_.dims[axis] = launch.cluster[axis];
    }
    config_.shared_bytes = launch.dynamic_shared_bytes;
    cluster_.id = kLaunchClusterDimension;
    has_cluster_ = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1;
    programmatic_ = step.programmatic;
  }

  /// Encodes the tensor maps; the last thing before the first Enqueue.
  Status Bind(const schema::Step& step, const AddressMap& addresses) {
    for (const abi::TensorMap& map : step.tensor_maps) {
      const CUdeviceptr address = addresses.Of(OperandBuffer(step, map));
      AICF_ASSIGN_OR_RETURN(const CUtensorMap encoded,
                            EncodeTensorMap(driver_, map, OperandType(step, map), address));
      maps_.push_back(encoded);
    }
    for (CUdeviceptr& value : values_) parameters_.push_back(&value);
    for (CUtensorMap& map : maps_) parameters_.push_back(&map);
    return OkStatus();
  }

  Status Enqueue(CUstream stream) const override { return Put(stream, /*programmatic=*/false); }
  Status EnqueueInOrder(CUstream stream) const override { return Put(stream, programmatic_); }

 private:
  Status Put(CUstream stream, bool programmatic) const {
    CUlaunchConfig config = config_;
    CUlaunchAttribute attributes[2];
    if (has_cluster_) attributes[config.attribute_count++] = cluster_;
    if (programmatic) {
      CUlaunchAttribute& serialization = attributes[config.attribute_count++];
      serialization.id = kLaunchProgrammaticSerialization;
      serialization.dims[0] = 1;
    }
    config.stream = stream;
    config.attributes = config.attribute_count > 0 ? attributes : nullptr;
    // The driver copies the values at the call and writes none of them.
    auto** parameters = const_cast<void**>(parameters_.data());
    AICF_CUDA_CHECK(
        driver_, "launching the kernel",
        driver_.LaunchKernelEx(&config, function_, parameters, static_cast<void**>(nullptr)));
    return OkStatus();
  }

  const Driver& driver_;
  CUfunction function_;
  std::vector<CUdeviceptr> values_;
  std::vector<CUtensorMap> maps_;
  std::vector<void*> parameters_;  ///< addresses of values_, then of maps_
  CUlaunchConfig config_;
  CUlaunchAttribute cluster_;
  bool has_cluster_ = false;
  bool programmatic_ = false;
};

Result<std::unique_ptr<Launch>> BuildLaunch(const DeviceProgram& program, uint32_t index,
                                            const AddressMap& addresses) {
  const schema::Step& step = program.plan().steps[index];
  if (const CUfunction function = program.modules().function(index); function != nullptr) {
    auto launch =
        std::make_unique<KernelLaunch>(program.device()->driver(), function, step, addresses);
    AICF_RETURN_IF_ERROR(launch->Bind(step, addresses));
    return std::unique_ptr<Launch>(std::move(launch));
  }
  if (step.kernel.starts_with("cublaslt.") && program.cublaslt() != nullptr) {
    return MakeMatmulLaunch(*program.cublaslt(), step, addresses);
  }
  return Error(Code::kUnsupported, "this runtime cannot launch kernel '", step.kernel, "'");
}

}  // namespace

CUdeviceptr AddressMap::Of(uint32_t buffer) const {
  const uint32_t root = RootOf(buffer);
  if (bound_ != nullptr && (*bound_)[root] != 0) return (*bound_)[root];
  if (lane_ != nullptr) {
    for (const LaneAddress& own : *lane_) {
      if (own.root == root) return own.at;
    }
  }
  const schema::Buffer& found = plan_.buffers[root];
  if (found.storage == schema::Storage::kWeights) return weights_ + found.offset;
  return (found.storage == schema::Storage::kState ? state_ : arena_) + found.offset;
}

bool AddressMap::IsBound(uint32_t buffer) const {
  return bound_ != nullptr && (*bound_)[RootOf(buffer)] != 0;
}

Result<std::vector<std::unique_ptr<Launch>>> BuildLaunches(const DeviceProgram& program,
                                                           const schema::EntryPoint& entry,
                                                           const AddressMap& addresses) {
  std::vector<std::unique_ptr<Launch>> launches;
  launches.reserve(entry.step_count);
  for (uint32_t i = entry.first_step; i < entry.first_step + entry.step_count; ++i) {
    auto launch = BuildLaunch(program, i, addresses);
    if (!launch.ok()) return launch.status().WithContext(StrCat("step ", i));
    launches.push_back(*std::move(launch));
  }
  return launches;
}

}  // namespace aicf::cuda
