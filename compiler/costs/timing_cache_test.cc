#include "compiler/costs/timing_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/hash.h"
#include "compiler/tune/testing.h"

namespace aicf::tune {
namespace {

using testing::kH200;
using testing::Product;

const DeviceId kCpu{"cpu", "A \"quoted\" CPU, 2 threads"};

TimingCache Sample() {
  TimingCache cache;
  cache.Put(kH200, Product(64, 64, 64), "cuda.gemm.tiled_64x64",
            {12.34567, 0.25, 15, "nvrtc-13.0", {}});
  cache.Put(kH200, Product(64, 64, 64), "cublaslt.matmul",
            {10.5, 0.1, 15, "cublaslt-130100", {{0, 255, 16}, 130100, 1024}});
  cache.Put(kCpu, Product(8, 8, 8), "cpu.gemm.ref", {3, 0, 3, "aicf-0.1.0", {}});
  return cache;
}

TEST(TimingCache, TextParsesBackToEqualText) {
  const std::string text = Sample().ToText();
  const auto parsed = TimingCache::Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->ToText(), text);
  const std::string hash = HashOf(Product(64, 64, 64));
  const Timing* own = parsed->Find(kH200, hash, "cuda.gemm.tiled_64x64");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->median_us, 12.346);
  EXPECT_EQ(own->spread_us, 0.25);
  EXPECT_EQ(own->count, 15);
  EXPECT_EQ(own->version, "nvrtc-13.0");
  const Timing* library = parsed->Find(kH200, hash, "cublaslt.matmul");
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->algorithm.bytes, (std::vector<uint8_t>{0, 255, 16}));
  EXPECT_EQ(library->algorithm.library_version, 130100u);
  EXPECT_EQ(library->algorithm.workspace_bytes, 1024u);
  EXPECT_EQ(parsed->TextOf(hash), ToString(Product(64, 64, 64)));
}

TEST(TimingCache, TimesBelongToTheirDevice) {
  const TimingCache cache = Sample();
  EXPECT_EQ(cache.Find(kCpu, HashOf(Product(64, 64, 64)), "cuda.gemm.tiled_64x64"), nullptr);
  EXPECT_EQ(cache.Find({"cuda:sm_90a", "NVIDIA H100"}, HashOf(Product(64, 64, 64)),
                       "cuda.gemm.tiled_64x64"),
            nullptr);
  EXPECT_EQ(cache.DevicesFor(*abi::FindDevice("cuda")), std::vector<DeviceId>{kH200});
  EXPECT_EQ(cache.DevicesFor(*abi::FindDevice("cpu:avx2")), std::vector<DeviceId>{kCpu});
}

TEST(TimingCache, EqualContentsAreEqualBytesInWhateverOrderTheyCame) {
  std::vector<int64_t> sizes = {8, 16, 24, 32, 40, 48, 56, 64};
  std::mt19937 random(3);
  std::string first;
  for (int round = 0; round < 5; ++round) {
    TimingCache cache;
    for (int64_t s : sizes)
      cache.Put(kH200, Product(s, s, s), "cuda.gemm.gemv", {1.0, 0, 9, "v", {}});
    if (round == 0) first = cache.ToText();
    EXPECT_EQ(cache.ToText(), first);
    std::shuffle(sizes.begin(), sizes.end(), random);
  }
}

TEST(TimingCache, MergingTakesMoreSamplesAndOtherVersions) {
  const abi::Problem p = Product(4, 4, 4);
  const auto with = [&](double us, int count, const std::string& version) {
    TimingCache cache;
    cache.Put(kH200, p, "cuda.gemm.gemv", {us, 0, count, version, {}});
    return cache;
  };
  const auto merged = [&](TimingCache a, const TimingCache& b) {
    a.Merge(b);
    return a.Find(kH200, HashOf(p), "cuda.gemm.gemv")->median_us;
  };
  EXPECT_EQ(merged(with(1, 15, "v1"), with(2, 30, "v1")), 2);
  EXPECT_EQ(merged(with(2, 30, "v1"), with(1, 15, "v1")), 2);
  EXPECT_EQ(merged(with(2, 15, "v1"), with(1, 15, "v1")), 1);
  EXPECT_EQ(merged(with(1, 15, "v1"), with(2, 15, "v1")), 1);
  // Another version is what was measured later, however often the old one was.
  EXPECT_EQ(merged(with(1, 30, "v1"), with(2, 3, "v2")), 2);
}

TEST(TimingCache, MergingIsAUnion) {
  TimingCache a, b;
  a.Put(kH200, Product(1, 2, 3), "cuda.gemm.gemv", {1, 0, 3, "v", {}});
  b.Put(kH200, Product(1, 2, 4), "cuda.gemm.gemv", {2, 0, 3, "v", {}});
  b.Put(kCpu, Product(1, 2, 3), "cpu.gemm.ref", {3, 0, 3, "v", {}});
  TimingCache ab = a, ba = b;
  ab.Merge(b);
  ba.Merge(a);
  EXPECT_EQ(ab.size(), 3u);
  EXPECT_EQ(ab.ToText(), ba.ToText());
}

TEST(TimingCache, AnExtractNeedsNoProblems) {
  const TimingCache all = Sample();
  TimingCache extract;
  extract.Copy(all, kH200, HashOf(Product(64, 64, 64)), "cublaslt.matmul");
  extract.PutFit(kH200, "cuda.gemm.*", "*", {1.25, 0.5, 7});
  const std::string text = extract.ToText();
  EXPECT_EQ(text.find("problem"), std::string::npos);
  const auto parsed = TimingCache::Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->ToText(), text);
  const CostFit& fit = parsed->FitsOf(kH200)->at({"cuda.gemm.*", "*"});
  EXPECT_EQ(fit.scale, 1.25);
  EXPECT_EQ(fit.offset_us, 0.5);
  EXPECT_EQ(fit.samples, 7);
}

struct Fault {
  std::string from, to;  ///< in Sample's text
  std::string line, part;
};

TEST(TimingCache, FaultsAreRefusedWithTheirLine) {
  const std::string good = Sample().ToText();
  const std::string hash = HashOf(Product(64, 64, 64));
  const std::vector<Fault> faults = {
      {"aicf-timing-cache 2", "aicf-timing-cache 1", "line 1", "expected 'aicf-timing-cache 2'"},
      {"gemm math", "gemm  math", "line ", "expected the text of problem"},
      {"problem ", "probelm ", "line ", "expected problem, device, time or fit"},
      {"problem ", "time ", "line ", "expected a device line first"},
      {"\"NVIDIA H200\"", "\"NVIDIA H200", "line ", "a device's name in quotes"},
      {"\"NVIDIA H200\"", "\"NVIDIA H200\" x", "line ", "a device's name in quotes"},
      {"\"NVIDIA H200\"", "\"\"", "line ", "a device's name in quotes"},
      {"12.346", "-1", "line ", "a median in microseconds, found '-1'"},
      {"12.346", "nan", "line ", "a median"},
      {"12.346", "inf", "line ", "a median"},
      {"12.346", "1e300", "line ", "a median"},
      {"12.346", "12.3x", "line ", "a median"},
      {"0.250 15", "0.250 0", "line ", "a number of samples, found '0'"},
      {"0.250 15", "0.250 99999999999999999999", "line ", "a number of samples"},
      {"0.250 15", "0.250 -3", "line ", "a number of samples"},
      {"00ff10", "00ff1", "line ", "an algorithm in hex"},
      {"00ff10", "00fg10", "line ", "an algorithm in hex"},
      {"00ff10", std::string(10000, '0'), "line ", "an algorithm in hex"},
      {"cublaslt-130100", "cublaslt-new", "line ", "a library version that ends in its number"},
      {"time " + hash + " cublaslt.matmul", "time " + hash + " cuda.gemm.tiled_64x64", "line ",
       "each problem and kernel once"},
      {"time " + hash, "time " + hash.substr(1), "line ", "32 hex digits"},
      {"time " + hash, "time " + hash.substr(1) + "G", "line ", "32 hex digits"},
      {"cublaslt.matmul", std::string(300, 'k'), "line ", "a kernel"},
  };
  for (const Fault& f : faults) {
    std::string text = good;
    const size_t at = text.find(f.from);
    ASSERT_NE(at, std::string::npos) << f.from;
    text.replace(at, f.from.size(), f.to);
    const Status status = TimingCache::Parse(text).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << f.from << " -> " << f.to.substr(0, 40);
    EXPECT_NE(status.message().find(f.part), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(f.line), std::string::npos) << status.message();
    EXPECT_LT(status.message().size(), 300u);
  }
}

TEST(TimingCache, TheReportedLineIsTheRightOne) {
  std::string text = Sample().ToText();
  const size_t at = text.find("12.346");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
  text.replace(at, 6, "x");
  EXPECT_NE(TimingCache::Parse(text).status().message().find(StrCat("line ", line, ":")),
            std::string::npos);
}

TEST(TimingCache, CutAndFlippedTextsNeverParseIntoSomethingElse) {
  const std::string good = Sample().ToText();
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    if (round % 3 == 0) text.resize(random() % text.size());
    if (round % 3 != 0) text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    const auto parsed = TimingCache::Parse(text);
    refused += parsed.ok() ? 0 : 1;
    // What is accepted is itself again.
    if (parsed.ok()) {
      const auto again = TimingCache::Parse(parsed->ToText());
      ASSERT_TRUE(again.ok()) << again.status().ToString();
      EXPECT_EQ(again->ToText(), parsed->ToText());
    }
  }
  EXPECT_GT(refused, 1500);
}

TEST(TimingCache, EmptyAndForeignFilesAreNoCaches) {
  for (const char* text : {"", "\n",
                           "\x7f"
                           "ELF",
                           "{}"}) {
    EXPECT_EQ(TimingCache::Parse(text).status().code(), Code::kInvalidArgument) << text;
  }
  EXPECT_TRUE(TimingCache::Parse("aicf-timing-cache 2\n").ok());
  EXPECT_TRUE(TimingCache::Parse("aicf-timing-cache 2\r\n\r\n").ok());
}

}  // namespace
}  // namespace aicf::tune
