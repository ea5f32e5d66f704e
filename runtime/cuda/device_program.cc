#include "runtime/cuda/device_program.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "schema/artifact.h"

namespace aicf::cuda {
namespace {

/// A live entry keeps its program alive, so an address in a key is never reused while it matters.
using Key = std::tuple<const Program*, const Driver*, int>;

struct Cache {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const DeviceProgram>> entries;
};

Cache& TheCache() {
  static Cache* const cache = new Cache;  // never destroyed: sessions may end during exit
  return *cache;
}

bool NeedsCublasLt(const schema::Program& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const schema::Step& step) { return step.kernel.starts_with("cublaslt."); });
}

}  // namespace

Result<std::shared_ptr<const DeviceProgram>> DeviceProgram::Acquire(
    std::shared_ptr<const Program> program, Driver& driver, int ordinal) {
  AICF_RETURN_IF_ERROR(driver.health());
  Cache& cache = TheCache();
  const std::lock_guard lock(cache.mutex);
  std::erase_if(cache.entries, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const DeviceProgram>& entry = cache.entries[{program.get(), &driver, ordinal}];
  if (std::shared_ptr<const DeviceProgram> shared = entry.lock()) return shared;
  auto loaded = Load(std::move(program), driver, ordinal);
  if (loaded.ok()) entry = *loaded;
  return loaded;
}

Result<std::shared_ptr<const DeviceProgram>> DeviceProgram::Load(
    std::shared_ptr<const Program> program, Driver& driver, int ordinal) {
  std::shared_ptr<DeviceProgram> loaded(new DeviceProgram);
  loaded->program_ = std::move(program);
  AICF_ASSIGN_OR_RETURN(loaded->device_, Device::Retain(driver, ordinal));
  const ContextScope scope(*loaded->device_);
  AICF_RETURN_IF_ERROR(scope.status());
  AICF_ASSIGN_OR_RETURN(loaded->modules_,
                        Modules::Load(loaded->device_, loaded->program_->artifact()));
  if (NeedsCublasLt(loaded->plan())) {
    AICF_ASSIGN_OR_RETURN(loaded->cublaslt_, CublasLt::Open(loaded->device_));
  }
  AICF_RETURN_IF_ERROR(loaded->UploadWeights());
  return std::shared_ptr<const DeviceProgram>(std::move(loaded));
}

Status DeviceProgram::UploadWeights() {
  const std::span<const std::byte> bytes = program_->artifact().weights();
  if (bytes.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(weights_, AllocateDevice(device_, "uploading the weights", bytes.size()));
  AICF_ASSIGN_OR_RETURN(const Stream stream, CreateStream(device_));
  const Driver& driver = device_->driver();
  AICF_CUDA_CHECK(driver, "uploading the weights",
                  driver.MemcpyHtoDAsync(weights_.get(), bytes.data(), bytes.size(), stream.get()));
  AICF_CUDA_CHECK(driver, "uploading the weights", driver.StreamSynchronize(stream.get()));
  return OkStatus();
}

}  // namespace aicf::cuda
