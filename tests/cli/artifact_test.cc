/// The programs refuse damaged artifacts (faults E) before anything runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

class Artifacts : public ::testing::Test {
 protected:
  void SetUp() override { good_ = GetFile(PutArtifact(dir_)); }

  void ExpectRefused(const std::string& what, const std::string& bytes, int exit_code) {
    SCOPED_TRACE(what);
    PutFile(dir_ / "bad.aicf", bytes);
    for (const std::string tool : {"aicf-inspect", "aicf-run"}) {
      const ToolResult r = RunTool(tool, {dir_ / "bad.aicf"});
      ExpectFailure(tool, r, exit_code, "bad.aicf");
      EXPECT_EQ(r.out, "");
    }
  }

  std::string Flipped(size_t at) const {
    std::string bad = good_;
    bad[at] ^= 0x10;
    return bad;
  }

  TempDir dir_;
  std::string good_;
};

TEST_F(Artifacts, TheGoodOneVerifies) {
  const ToolResult r = RunTool("aicf-inspect", {dir_ / "tiny.aicf", "--verify"});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("verified"), std::string::npos);
}

TEST_F(Artifacts, FilesOfOtherKinds) {
  ExpectRefused("empty", "", 5);
  ExpectRefused("text", "hello\n", 5);
  ExpectRefused("the model", GetFile(dir_ / "tiny.onnx"), 5);
  ExpectRefused("zeros", std::string(good_.size(), '\0'), 5);
  ExpectRefused("magic alone", good_.substr(0, 8), 5);
}

TEST_F(Artifacts, TruncatedOrExtended) {
  for (const size_t n : {size_t{1}, size_t{7}, size_t{16}, size_t{64}, good_.size() / 4,
                         good_.size() / 2, good_.size() - 4096, good_.size() - 1}) {
    ExpectRefused("cut after " + std::to_string(n), good_.substr(0, n), 5);
  }
  ExpectRefused("one byte more", good_ + "x", 5);
  ExpectRefused("twice", good_ + good_, 5);
}

TEST_F(Artifacts, FlippedBits) {
  for (size_t at = 16; at < good_.size(); at += good_.size() / 24) {
    ExpectRefused("bit in byte " + std::to_string(at), Flipped(at), 5);
  }
}

TEST_F(Artifacts, FlippedBitsInEverySection) {
  const auto header =
      nlohmann::json::parse(RunTool("aicf-inspect", {dir_ / "tiny.aicf", "--json"}).out)
          .at("header");
  size_t tried = 0;
  for (const auto& section : header.at("sections")) {
    const std::string kind = section.at("kind");
    const size_t offset = section.at("offset"), bytes = section.at("bytes");
    for (size_t at = offset; at < offset + bytes; at += bytes / 4 + 1) {
      ExpectRefused(kind + ", bit in byte " + std::to_string(at), Flipped(at), 5);
      ++tried;
    }
  }
  EXPECT_GE(tried, 15u);
}

TEST_F(Artifacts, TextTransferIsNoticed) {
  // The magic holds CR LF, ^Z and LF, so that a transfer in text mode breaks it.
  std::string bad = good_;
  const size_t at = bad.find("\r\n");
  ASSERT_LT(at, 8u);
  bad.erase(at, 1);
  ExpectRefused("CR LF became LF", bad, 5);
}

TEST_F(Artifacts, ANewerMajorVersionIsUnsupportedNotCorrupt) {
  std::string newer = good_;
  newer[8] = static_cast<char>(newer[8] + 1);
  ExpectRefused("major + 1", newer, 4);
}

}  // namespace
}  // namespace aicf::testing
