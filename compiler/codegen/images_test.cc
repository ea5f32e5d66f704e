#include "compiler/codegen/images.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/codegen/nvrtc.h"
#include "kernels/abi/choice.h"

namespace aicf {
namespace {

namespace fs = std::filesystem;

abi::Problem Doubled(int64_t elements) {
  abi::Problem p;
  p.family = abi::Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = p.outputs = {abi::DenseView(DType::kF32, {elements})};
  p.core_inputs = 1;
  abi::ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  p.epilogue = b.Finish({b.Binary(abi::ExprOp::kAdd, x, x)});
  return p;
}

class ImagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / StrCat("aicf-images-test-", static_cast<int64_t>(getpid()));
    fs::remove_all(folder_);
    options_.cache_dir = folder_.string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  ImageRequest Request(const abi::Problem& p) const {
    return {kernel_, &p, abi::BestCandidate(*kernel_, p, device_)->variant};
  }

  const abi::KernelInfo* kernel_ = abi::FindKernel("cuda.elementwise.map");
  const abi::DeviceSpec device_ = *abi::FindDevice("cuda");
  fs::path folder_;
  ImageOptions options_;
};

TEST_F(ImagesTest, NothingToCompileNeedsNothing) {
  const auto images = CompileImages({}, device_, options_);
  ASSERT_TRUE(images.ok()) << images.status().ToString();
  EXPECT_TRUE(images->images.empty());
}

TEST_F(ImagesTest, MissingCompilerIsNamed) {
  const char* before = std::getenv("AICF_NVRTC");
  const std::string saved = before == nullptr ? "" : before;
  setenv("AICF_NVRTC", "/nonexistent/libnvrtc.so", 1);
  const abi::Problem p = Doubled(8);
  const ImageRequest request = Request(p);
  const auto images = CompileImages({&request, 1}, device_, options_);
  if (before == nullptr)
    unsetenv("AICF_NVRTC");
  else
    setenv("AICF_NVRTC", saved.c_str(), 1);
  ASSERT_FALSE(images.ok());
  EXPECT_EQ(images.status().code(), Code::kDevice);
  EXPECT_NE(images.status().message().find("nvidia-cuda-nvrtc"), std::string::npos);
}

TEST_F(ImagesTest, EqualInstancesShareAnImageAndTheCacheGivesTheSameBytes) {
  if (const auto nvrtc = Nvrtc::Open(); !nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  const abi::Problem a = Doubled(8), b = Doubled(9), again = Doubled(8);
  const std::vector<ImageRequest> requests = {Request(a), Request(b), Request(again)};
  int calls = 0, last = 0;
  options_.progress = [&](std::string_view, int done, int total) {
    ++calls;
    last = done;
    EXPECT_EQ(total, 2);
  };
  const auto first = CompileImages(requests, device_, options_);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  ASSERT_EQ(first->images.size(), 2u);
  EXPECT_EQ(first->image_of, (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_EQ(first->from_cache, 0);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(last, 2);
  EXPECT_EQ(first->images[1].symbol, abi::InstanceSymbol(kernel_->key, b, requests[1].variant));
  EXPECT_EQ(first->images[0].arch, "sm_90a");
  ASSERT_GE(first->images[0].cubin.size(), 64u);
  EXPECT_EQ(static_cast<char>(first->images[0].cubin[1]), 'E');  // an ELF file

  const auto second = CompileImages(requests, device_, options_);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->from_cache, 2);
  EXPECT_EQ(second->images[0].cubin, first->images[0].cubin);

  ImageOptions uncached = options_;
  uncached.cache_dir = "none";
  const auto third = CompileImages(requests, device_, uncached);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->from_cache, 0);
  EXPECT_EQ(third->images[1].cubin, first->images[1].cubin) << "compilation must be reproducible";
}

TEST_F(ImagesTest, CompilerErrorsCarryTheLog) {
  const auto nvrtc = Nvrtc::Open();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
  const auto cubin = (*nvrtc)->Compile("__global__ void k() { undeclared = 1; }", "sm_90a");
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.status().code(), Code::kInternal);
  EXPECT_NE(cubin.status().message().find("undeclared"), std::string::npos)
      << cubin.status().message();
}

}  // namespace
}  // namespace aicf
