#include "tools/tune/cuda_measurer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/log.h"
#include "compiler/codegen/nvrtc.h"
#include "compiler/tune/bench_program.h"
#include "kernels/cuda/gemm/matmul_layout.h"
#include "tools/library/cublaslt_heuristic.h"
#include "tools/tune/cuda_bench.h"

namespace aicf::tools {
namespace {

constexpr auto kL2CacheBytes = static_cast<cuda::CUdevice_attribute>(38);

std::string Dashed(std::string text) {
  std::ranges::replace(text, ' ', '-');
  return text;
}

}  // namespace

CudaMeasurer::~CudaMeasurer() = default;

Status CudaMeasurer::FindGpu(int sm) {
  if (driver_ == nullptr) {
    AICF_ASSIGN_OR_RETURN(driver_, cuda::Driver::Get());
  }
  int count = 0;
  AICF_CUDA_CHECK(*driver_, "counting CUDA devices", driver_->DeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    AICF_ASSIGN_OR_RETURN(gpu_, cuda::Device::Retain(*driver_, ordinal));
    if (gpu_->limits().capability == sm) return OkStatus();
  }
  gpu_ = nullptr;
  return Error(Code::kDevice, "none of this machine's ", count, " CUDA devices is an sm_", sm);
}

Status CudaMeasurer::PrepareFlush() {
  constexpr uint64_t kAtLeast = 8 << 20;
  int l2 = 0;
  cuda::CUdevice device = 0;
  AICF_CUDA_CHECK(*driver_, "finding the GPU", driver_->DeviceGet(&device, gpu_->ordinal()));
  AICF_CUDA_CHECK(*driver_, "reading the cache's size",
                  driver_->DeviceGetAttribute(&l2, kL2CacheBytes, device));
  flush_bytes_ = std::max(kAtLeast, 2 * static_cast<uint64_t>(std::max(0, l2)));
  AICF_ASSIGN_OR_RETURN(flush_, cuda::AllocateDevice(gpu_, "flushing the cache", flush_bytes_));
  return OkStatus();
}

Result<tune::DeviceId> CudaMeasurer::Open(const abi::DeviceSpec& device) {
  spec_ = device;
  AICF_RETURN_IF_ERROR(FindGpu(device.sm).WithContext("--tune"));
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<const Nvrtc> nvrtc, Nvrtc::Open());
  nvrtc_version_ = Dashed(nvrtc->version());
  const cuda::ContextScope scope(*gpu_);
  AICF_RETURN_IF_ERROR(scope.status());
  Result<std::unique_ptr<cuda::CublasLt>> lt = cuda::CublasLt::Open(gpu_);
  if (lt.ok()) {
    lt_ = *std::move(lt);
  } else {
    Log(LogLevel::kInfo, StrCat("cuBLASLt is not timed: ", lt.status().message()));
  }
  if (!options_.warm) AICF_RETURN_IF_ERROR(PrepareFlush());
  return tune::DeviceId{tune::TargetOf(device), gpu_->name()};
}

std::string CudaMeasurer::VersionOf(const abi::KernelInfo& kernel) {
  const std::string state = options_.warm ? "warm," : "";
  if (kernel.backend == abi::Backend::kCuda) {
    return StrCat(state, nvrtc_version_, ",aicf-", AICF_VERSION);
  }
  if (kernel.key == "cublaslt.matmul" && lt_ != nullptr) {
    return StrCat(state, "cublaslt-", lt_->version());
  }
  return "";
}

int CudaMeasurer::BatchSize() const {
  return 4 * static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

Status CudaMeasurer::Prepare(std::span<const tune::BenchRequest> requests) {
  requests_.assign(requests.begin(), requests.end());
  image_of_.clear();
  std::vector<ImageRequest> wanted;
  for (const tune::BenchRequest& r : requests_) {
    std::vector<int>& images = image_of_.emplace_back();
    for (const KernelOption& o : r.options) {
      const bool own = o.kernel->backend == abi::Backend::kCuda;
      images.push_back(own ? static_cast<int>(wanted.size()) : -1);
      if (own) wanted.push_back({o.kernel, r.problem, o.candidate.variant});
    }
  }
  ImageOptions options;
  options.cache_dir = options_.kernel_cache_dir;
  options.progress = options_.progress;
  AICF_ASSIGN_OR_RETURN(images_, CompileImages(wanted, spec_, options));
  return OkStatus();
}

Result<std::unique_ptr<tune::Bench>> CudaMeasurer::Make(size_t index) {
  const tune::BenchRequest& request = requests_[index];
  std::vector<BenchEntry> entries(request.options.size());
  std::vector<tune::BenchKernel> kernels;
  for (size_t k = 0; k < entries.size(); ++k) {
    tune::BenchKernel kernel{&request.options[k], nullptr, nullptr};
    if (image_of_[index][k] >= 0) {
      const size_t image = images_.image_of[static_cast<size_t>(image_of_[index][k])];
      kernel.image = &images_.images[image];
    } else {
      const cuda::ContextScope scope(*gpu_);
      AICF_RETURN_IF_ERROR(scope.status());
      AICF_ASSIGN_OR_RETURN(const cuda::MatmulLayout layout,
                            cuda::DescribeMatmul(*request.problem));
      Result<LibraryAlgorithm> algorithm = ChooseAlgorithm(*lt_, layout);
      if (!algorithm.ok()) {
        entries[k].refusal = algorithm.status().message();
        continue;
      }
      entries[k].algorithm = *std::move(algorithm);
      kernel.algorithm = &entries[k].algorithm;
    }
    entries[k].step = static_cast<int>(kernels.size());
    kernels.push_back(kernel);
  }
  AICF_ASSIGN_OR_RETURN(const schema::Contents contents,
                        tune::MakeBenchProgram(*request.problem, kernels, spec_));
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(contents));
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program, Program::FromBytes(bytes));
  const CudaSurroundings around{gpu_, driver_, flush_.get(), flush_bytes_, options_.warm};
  AICF_ASSIGN_OR_RETURN(
      std::unique_ptr<CudaBench> bench,
      CudaBench::Make(std::move(program), *request.problem, std::move(entries), around));
  return std::unique_ptr<tune::Bench>(std::move(bench));
}

}  // namespace aicf::tools
