#include "tests/conformance/gpu_jobs.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "compiler/codegen/nvrtc.h"
#include "runtime/cuda/tensor_map.h"
#include "tests/conformance/gpu_cases.h"
#include "tests/conformance/packed.h"

namespace aicf::conformance {
namespace {

// The variant's tensor maps for these addresses of inputs, then outputs.
Result<std::vector<cuda::CUtensorMap>> EncodeMaps(const abi::Problem& p,
                                                  const abi::Variant& variant,
                                                  const std::vector<uint64_t>& addresses) {
  std::vector<cuda::CUtensorMap> maps;
  if (variant.tensor_maps.empty()) return maps;
  AICF_ASSIGN_OR_RETURN(const cuda::Driver* driver, cuda::Driver::Get());
  for (const abi::TensorMap& m : variant.tensor_maps) {
    const size_t inputs = p.inputs.size();
    const DType dtype =
        m.operand < inputs ? p.inputs[m.operand].dtype : p.outputs[m.operand - inputs].dtype;
    AICF_ASSIGN_OR_RETURN(const cuda::CUtensorMap encoded,
                          cuda::EncodeTensorMap(*driver, m, dtype, addresses[m.operand]));
    maps.push_back(encoded);
  }
  return maps;
}

}  // namespace

void OnAllCores(size_t count, const std::function<void(size_t)>& f) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) f(i);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
}

Result<std::unique_ptr<JobRunner>> JobRunner::Make() {
  std::unique_ptr<JobRunner> runner(new JobRunner());
  AICF_ASSIGN_OR_RETURN(runner->gpu_, Gpu::Open());
  AICF_ASSIGN_OR_RETURN(const auto nvrtc, Nvrtc::Open());
  AICF_ASSIGN_OR_RETURN(runner->device_, abi::FindDevice("cuda"));
  return runner;
}

std::vector<KernelOption> JobRunner::Variants(const Case& c, size_t most, size_t turn) const {
  return VariantsOf(c, device_, most, turn);
}

Status JobRunner::RunOne(Job& job, const CompiledImage& image, const Options& options) {
  const Case& c = *job.item;
  const abi::Variant& variant = job.option.candidate.variant;
  const Buffers buffers = WithPackedInputs(*job.option.kernel, variant.parameters, c);
  AICF_ASSIGN_OR_RETURN(std::vector<uint64_t> addresses,
                        memory_.Place(*gpu_, buffers, variant.workspace_bytes));
  for (const auto& [output, input] : options.in_place) addresses[output] = addresses[input];
  AICF_ASSIGN_OR_RETURN(const std::vector<cuda::CUtensorMap> maps,
                        EncodeMaps(c.problem, variant, addresses));
  AICF_RETURN_IF_ERROR(gpu_->Run(image.cubin, image.symbol, variant.launch, addresses,
                                 options.times, options.times > 1 ? &job.mean_us : nullptr, maps,
                                 options.early));
  job.got = buffers;
  for (size_t i = 0; i < job.got.size(); ++i) {
    AICF_RETURN_IF_ERROR(gpu_->Download(job.got[i].data(), addresses[i], job.got[i].size()));
  }
  return PutBackPackedInputs(c, buffers, job.got);
}

void JobRunner::Run(std::vector<Job>& jobs, const Options& options) {
  std::vector<ImageRequest> requests;
  for (const Job& job : jobs)
    requests.push_back({job.option.kernel, &job.item->problem, job.option.candidate.variant});
  ImageOptions image_options;
  const char* cache = std::getenv("AICF_TEST_KERNEL_CACHE");
  image_options.cache_dir = cache == nullptr ? "none" : cache;
  const Result<CompiledImages> images = CompileImages(requests, device_, image_options);
  for (size_t j = 0; j < jobs.size(); ++j) {
    const Status status = images.ok()
                              ? RunOne(jobs[j], images->images[images->image_of[j]], options)
                              : images.status();
    if (!status.ok()) jobs[j].failure = status.ToString();
  }
  if (!options.compare) return;
  std::map<const Case*, Buffers> references;
  for (const Job& job : jobs) references[job.item.get()];
  std::vector<const Case*> items;
  for (const auto& [item, buffers] : references) items.push_back(item);
  OnAllCores(items.size(), [&](size_t i) { references.at(items[i]) = RunReference(*items[i]); });
  for (Job& job : jobs) {
    if (job.failure.empty())
      job.failure = Difference(*job.item, job.got, references.at(job.item.get()));
  }
}

}  // namespace aicf::conformance
