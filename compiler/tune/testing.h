/// Problems and a simulated machine for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/costs/cost_source.h"
#include "compiler/tune/measurer.h"

namespace aicf::tune::testing {

inline const DeviceId kH200{"cuda:sm_90a", "NVIDIA H200"};

/// [m, k] x [k, n] in f32.
inline abi::Problem Product(int64_t m, int64_t n, int64_t k) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF32, {m, k}), abi::DenseView(DType::kF32, {k, n})};
  p.outputs = {abi::DenseView(DType::kF32, {m, n})};
  return p;
}

inline const abi::KernelInfo* Kernel(std::string_view key) { return abi::FindKernel(key); }

/// The candidate for a GPU that is known by this row: "cuda.gemm.tiled_64x64", or a kernel's key.
inline KernelOption Option(const abi::Problem& problem, std::string_view row) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  for (const abi::KernelInfo& kernel : abi::KernelsOf(problem.family)) {
    if (!kernel.supports(problem, device).empty()) continue;
    for (abi::Candidate& c : abi::CandidatesOf(kernel, problem, device)) {
      if (c.row == row) return {&kernel, std::move(c)};
    }
  }
  ADD_FAILURE() << "no candidate " << row;
  return {};
}
/// What a timing cache calls it.
inline std::string NameOf(const abi::Problem& problem, std::string_view row) {
  return Option(problem, row).Name();
}

/// Noise like a real machine's: mostly small, now and then a large straggler; never faster by much.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  double Next(double us) {
    const double u = Uniform();
    const double straggler = Uniform() < 0.05 ? 1 + 4 * Uniform() : 1;
    return us * (1 + 0.04 * u) * straggler;
  }

 private:
  double Uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }
  uint64_t state_;
};

/// A machine whose kernels take what a table says; sampling moves its clock.
class FakeMachine final : public Measurer {
 public:
  std::map<std::pair<std::string, std::string>, double> us;  ///< by problem hash and variant
  double default_us = 100;
  double overhead_s = 0;  ///< of a sample, beside the kernel
  double prepare_s = 0;   ///< of a prepared kernel
  double clock = 0;       ///< seconds
  int samples = 0;
  int fail_at = -1;               ///< sample number that loses the device
  std::vector<std::string> made;  ///< hashes in the order in which benches were made
  std::string too_large;          ///< the problem with this hash does not fit
  std::string version = "fake-1";
  LibraryAlgorithm algorithm{{1, 2, 3}, 130100, 64};

  Result<DeviceId> Open(const abi::DeviceSpec& device) override {
    return DeviceId{TargetOf(device), "Fake machine"};
  }
  std::string VersionOf(const abi::KernelInfo& kernel) override {
    return kernel.backend == abi::Backend::kLibrary ? "cublaslt-130100" : version;
  }
  Status Prepare(std::span<const BenchRequest> requests) override {
    requests_.assign(requests.begin(), requests.end());
    for (const BenchRequest& r : requests_)
      clock += prepare_s * static_cast<double>(r.options.size());
    return OkStatus();
  }
  Result<std::unique_ptr<Bench>> Make(size_t index) override {
    const std::string hash = HashOf(*requests_[index].problem);
    made.push_back(hash);
    if (hash == too_large) return Status(Code::kResource, "it does not fit");
    return std::unique_ptr<Bench>(std::make_unique<FakeBench>(*this, requests_[index]));
  }
  int BatchSize() const override { return 8; }

 private:
  class FakeBench final : public Bench {
   public:
    FakeBench(FakeMachine& machine, BenchRequest request)
        : machine_(machine), request_(std::move(request)), hash_(HashOf(*request_.problem)) {}
    std::string Refusal(size_t) const override { return ""; }
    Result<double> Sample(size_t kernel) override {
      if (machine_.samples++ == machine_.fail_at) return Status(Code::kDevice, "it fell off");
      const auto at = machine_.us.find({hash_, request_.options[kernel].Name()});
      const double time_us =
          machine_.noise_.Next(at == machine_.us.end() ? machine_.default_us : at->second);
      machine_.clock += time_us * 1e-6 + machine_.overhead_s;
      return time_us;
    }
    LibraryAlgorithm Algorithm(size_t) const override { return machine_.algorithm; }

   private:
    FakeMachine& machine_;
    const BenchRequest request_;
    const std::string hash_;
  };

  std::vector<BenchRequest> requests_;
  Noise noise_{7};
};

}  // namespace aicf::tune::testing
