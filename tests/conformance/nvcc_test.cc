// The instances' text through both of CUDA's compilers: NVRTC, which ships it, and nvcc, which is
// stricter about host and device code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/codegen/cuda_source.h"
#include "compiler/codegen/images.h"
#include "compiler/codegen/nvrtc.h"
#include "kernels/cuda/embedded.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/options.h"

namespace aicf::conformance {
namespace {

namespace fs = std::filesystem;
using abi::MathMode;

struct Instance {
  KernelOption option;
  abi::Problem problem;
};

// For every row of candidates the first random problem that it takes, of products the first in two
// halves, too, and the first of each type of 8 bits, without scales of blocks and with them; of
// attention the first of each type of its results.
std::vector<Instance> OneInstanceEach() {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  std::vector<Instance> instances;
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    const auto family = static_cast<abi::Family>(f);
    std::set<std::string> done;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      CaseOptions o;
      if (seed % 2 == 1) o.math = {MathMode::kTf32, MathMode::kFp16, MathMode::kBf16};
      o.eight_bits = seed % 4 == 2;
      o.block_scales = seed % 8 == 2;
      if (family == abi::Family::kGemm && seed % 8 == 5) {
        o.math = {MathMode::kFp16, MathMode::kBf16};
        o.whole_numbers = false;
        o.moments = seed % 24 != 5;
        o.parts = seed % 16 == 5;
      }
      if (family == abi::Family::kBlockGemm && seed % 4 == 3) o.rows = 1;
      const Case c = RandomCase(family, seed, o);
      for (KernelOption& option : DeviceOptions(c.problem, device)) {
        const bool halves = abi::SumInputs(c.problem) > 1;
        const bool products = family == abi::Family::kGemm || family == abi::Family::kConv;
        std::string operands;
        if (o.eight_bits && products) {
          operands = StrCat(" ", DTypeName(c.problem.inputs[0].dtype),
                            abi::HasBlockScales(c.problem) ? " scaled" : "");
        } else if (family == abi::Family::kAttention) {
          operands = StrCat(" to ", DTypeName(c.problem.outputs[0].dtype));
        }
        if (option.candidate.variant.parameters["held_b"] != 0) operands += " held";
        if (abi::SeesMoments(c.problem)) operands += " moments";
        if (abi::ReadsParts(c.problem) || abi::StoresParts(c.problem)) operands += " parts";
        if (done.insert(StrCat(option.candidate.row, halves ? " halves" : "", operands)).second) {
          instances.push_back({std::move(option), c.problem});
        }
      }
    }
  }
  return instances;
}

// No kernel is left out because no random problem suits it.
TEST(OneInstanceEach, IsOfEveryKernel) {
  std::set<std::string_view> met;
  for (const Instance& i : OneInstanceEach()) met.insert(i.option.kernel->key);
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    for (const abi::KernelInfo& kernel : abi::KernelsOf(static_cast<abi::Family>(f))) {
      const bool own = kernel.backend == abi::Backend::kCuda;
      EXPECT_TRUE(!own || met.contains(kernel.key)) << kernel.key;
    }
  }
}

TEST(Nvrtc, CompilesEveryVariant) {
  if (const auto nvrtc = Nvrtc::Open(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  const auto instances = OneInstanceEach();
  std::vector<ImageRequest> requests;
  std::set<std::string> symbols;  // two rows may have the same variant for a small problem
  for (const Instance& i : instances) {
    const abi::Variant& variant = i.option.candidate.variant;
    requests.push_back({i.option.kernel, &i.problem, variant});
    symbols.insert(abi::InstanceSymbol(i.option.kernel->key, i.problem, variant));
  }
  ImageOptions options;
  options.cache_dir = "none";
  const auto images = CompileImages(requests, *abi::FindDevice("cuda"), options);
  ASSERT_TRUE(images.ok()) << images.status().ToString();
  EXPECT_EQ(images->images.size(), symbols.size());
  for (const CompiledImage& image : images->images)
    EXPECT_GT(image.cubin.size(), 1000u) << image.symbol;
}

// One query over a paged cache, of `pages` pages for each of two requests.
abi::Problem DecodeOver(int64_t pages) {
  abi::AttentionAttrs attrs;
  attrs.lengths = attrs.pages = true;
  abi::Problem p;
  p.family = abi::Family::kAttention;
  p.attrs = attrs;
  p.math = MathMode::kFp16;
  const abi::View rows = abi::DenseView(DType::kF16, {2, 6, 1, 64});
  const abi::View pool = abi::DenseView(DType::kF16, {4, 2, 16, 64});
  p.inputs = {rows, pool, pool, abi::DenseView(DType::kI32, {2}),
              abi::DenseView(DType::kI32, {2, pages})};
  p.core_inputs = 5;
  p.outputs = {rows};
  return p;
}

// Tables that lanes hold and tables that are looked up; g++, which the emulator uses, also takes
// what NVRTC does not.
TEST(Nvrtc, CompilesDecodeAttentionOverTablesOfAnyLength) {
  if (const auto nvrtc = Nvrtc::Open(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.attention.decode");
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const abi::Parameters cut = {{"split", 2}, {"warps", 2}, {"stages", 2}, {"tile_keys", 16}};
  for (const int64_t pages : {0, 1, 33, 129}) {
    const abi::Problem problem = DecodeOver(pages);
    ASSERT_EQ(abi::ValidateProblem(problem).ToString(), OkStatus().ToString());
    ASSERT_EQ(kernel.supports(problem, device), "");
    ASSERT_EQ(kernel.refuse(problem, cut, device), "");
    ImageOptions options;
    options.cache_dir = "none";
    const std::vector<ImageRequest> requests = {{&kernel, &problem, kernel.variant(problem, cut)}};
    const auto images = CompileImages(requests, device, options);
    EXPECT_TRUE(images.ok()) << pages << ": " << images.status().ToString();
  }
}

#if defined(AICF_NVCC)
constexpr const char* kNvcc = AICF_NVCC;
#else
constexpr const char* kNvcc = "";
#endif

TEST(Nvcc, CompilesAHandfulOfInstances) {
  if (*kNvcc == '\0')
    GTEST_SKIP() << "nvcc was not found at configure time, or AICF_CUDA_CHECK is off";
  const fs::path folder =
      fs::temp_directory_path() / StrCat("aicf-nvcc-", static_cast<int64_t>(getpid()));
  for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) {
    fs::create_directories((folder / s.name).parent_path());
    std::ofstream(folder / s.name) << s.text;
  }
  std::set<std::string_view> sources;
  for (const auto& [option, problem] : OneInstanceEach()) {
    const abi::KernelInfo* kernel = option.kernel;
    // One variant per device file, and not every file: nvcc takes seconds for each.
    if (!sources.insert(kernel->source).second || sources.size() % 2 == 0) continue;
    std::ofstream(folder / "instance.cu")
        << WriteCudaSource(*kernel, problem, option.candidate.variant);
    const std::string command =
        StrCat(kNvcc, " -std=c++17 -fmad=false -gencode=arch=compute_90a,code=sm_90a -c -I",
               folder.string(), " ", (folder / "instance.cu").string(), " -o /dev/null > ",
               (folder / "log").string(), " 2>&1");
    std::stringstream log;
    const int result = std::system(command.c_str());
    log << std::ifstream(folder / "log").rdbuf();
    EXPECT_EQ(result, 0) << kernel->key << "\n" << log.str();
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace aicf::conformance
