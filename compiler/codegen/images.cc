#include "compiler/codegen/images.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "compiler/codegen/cuda_source.h"
#include "compiler/codegen/image_cache.h"
#include "compiler/codegen/nvrtc.h"
#include "kernels/cuda/embedded.h"

namespace aicf {
namespace {

// "sm_90a" of "cuda:sm_90a".
std::string ArchOf(const abi::DeviceSpec& device) {
  return device.name.substr(device.name.find(':') + 1);
}

std::string HeaderHash() {
  std::string names_and_texts;
  for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) {
    names_and_texts += StrCat(s.name, "\n", s.text.size(), "\n", s.text);
  }
  return ToHex(HashText(names_and_texts));
}

// Work of one CompileImages call, shared by its threads.
class Builder {
 public:
  Builder(const abi::DeviceSpec& device, const ImageOptions& options)
      : device_(device),
        options_(options),
        arch_(ArchOf(device)),
        cache_(ImageCache::Open(options.cache_dir)) {}

  Result<CompiledImages> Build(std::span<const ImageRequest> requests) {
    Collect(requests);
    if (result_.images.empty()) return std::move(result_);
    // The compiler's version is part of the key, so even a warm cache needs the library.
    AICF_ASSIGN_OR_RETURN(nvrtc_, Nvrtc::Open());
    suffix_ = StrCat("\n", arch_, " ", nvrtc_->version(), " ", Nvrtc::OptionText(), HeaderHash());
    RunThreads();
    AICF_RETURN_IF_ERROR(failure_);
    return std::move(result_);
  }

 private:
  void Collect(std::span<const ImageRequest> requests) {
    std::map<std::string, uint32_t> index;
    for (const ImageRequest& r : requests) {
      std::string symbol = abi::InstanceSymbol(r.kernel->key, *r.problem, r.variant);
      const auto [at, fresh] = index.emplace(symbol, static_cast<uint32_t>(result_.images.size()));
      if (fresh) {
        result_.images.push_back({std::move(symbol), arch_, "", {}});
        sources_.push_back(r);
      }
      result_.image_of.push_back(at->second);
    }
  }

  void RunThreads() {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int wanted = options_.threads > 0 ? options_.threads : cores;
    const int count = std::min(wanted, static_cast<int>(sources_.size()));
    std::vector<std::thread> threads;
    try {
      for (int t = 1; t < count; ++t) threads.emplace_back([this] { Work(); });
    } catch (const std::exception&) {
      // The system has no more threads, or no memory for them: those that were started do the work.
    }
    Work();
    for (std::thread& t : threads) t.join();
  }

  // No exception leaves a thread.
  void Work() {
    try {
      CompileNext();
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex_);
      failure_ = Status::OutOfMemory();
      next_ = sources_.size();
    }
  }

  void CompileNext() {
    for (;;) {
      const size_t i = next_.fetch_add(1);
      if (i >= sources_.size()) return;
      bool cached = false;
      Result<std::vector<std::byte>> cubin = Compile(sources_[i], &cached);
      const std::lock_guard lock(mutex_);
      if (!failure_.ok()) return;
      if (!cubin.ok()) {
        failure_ = cubin.status().WithContext(result_.images[i].symbol);
        next_ = sources_.size();
        return;
      }
      result_.images[i].compiler = nvrtc_->version();
      result_.images[i].cubin = *std::move(cubin);
      result_.from_cache += cached ? 1 : 0;
      ++done_;
      if (options_.progress) {
        options_.progress("compiling kernels", done_, static_cast<int>(sources_.size()));
      }
    }
  }

  Result<std::vector<std::byte>> Compile(const ImageRequest& request, bool* cached) const {
    const std::string source = WriteCudaSource(*request.kernel, *request.problem, request.variant);
    const Hash128 key = HashText(source + suffix_);
    if (std::optional<std::vector<std::byte>> image = cache_.Load(key)) {
      *cached = true;
      return *std::move(image);
    }
    AICF_ASSIGN_OR_RETURN(std::vector<std::byte> cubin, nvrtc_->Compile(source, arch_));
    cache_.Store(key, cubin);
    return cubin;
  }

  const abi::DeviceSpec& device_;
  const ImageOptions& options_;
  const std::string arch_;
  const ImageCache cache_;
  std::shared_ptr<const Nvrtc> nvrtc_;
  std::string suffix_;
  CompiledImages result_;
  std::vector<ImageRequest> sources_;  // parallel to result_.images

  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // guards the rest, and result_ while threads run
  int done_ = 0;
  Status failure_;
};

}  // namespace

Result<CompiledImage> CompileGuardImage(const abi::DeviceSpec& device,
                                        const ImageOptions& options) {
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<const Nvrtc> nvrtc, Nvrtc::Open());
  CompiledImage image{abi::kGuardSymbol, ArchOf(device), nvrtc->version(), {}};
  const std::string source = "#include \"control/guard.cuh\"\n";
  const ImageCache cache = ImageCache::Open(options.cache_dir);
  const Hash128 key = HashText(
      StrCat(source, image.arch, " ", image.compiler, " ", Nvrtc::OptionText(), HeaderHash()));
  if (std::optional<std::vector<std::byte>> cubin = cache.Load(key)) {
    image.cubin = *std::move(cubin);
    return image;
  }
  AICF_ASSIGN_OR_RETURN(image.cubin, nvrtc->Compile(source, image.arch));
  cache.Store(key, image.cubin);
  return image;
}

Result<CompiledImages> CompileImages(std::span<const ImageRequest> requests,
                                     const abi::DeviceSpec& device, const ImageOptions& options) {
  return Builder(device, options).Build(requests);
}

}  // namespace aicf
