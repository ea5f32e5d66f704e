// A required signature through the library's interfaces.
#include <gtest/gtest.h>

#include "aicf/aicf_c.h"
#include "runtime/test_program.h"
#include "schema/signature.h"

namespace aicf {
namespace {

using testing::ChainContents;

class SignedProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plain = schema::Serialize(ChainContents({}));
    ASSERT_TRUE(plain.ok()) << plain.status().ToString();
    plain_ = *std::move(plain);
    const auto artifact = schema::Artifact::Parse(plain_, /*with_optional=*/true);
    auto key = schema::SecretKey::New(), other = schema::SecretKey::New();
    ASSERT_TRUE(artifact.ok() && key.ok() && other.ok());
    auto bytes = schema::Sign(**artifact, *key);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    signed_ = *std::move(bytes);
    ours_ = schema::PublicKeyPem(key->Public());
    theirs_ = schema::PublicKeyPem(other->Public());
  }

  static Code Load(const std::vector<std::byte>& file, const std::string& pem) {
    return Program::FromBytes(file, {.require_signature = pem}).status().code();
  }
  static aicf_code LoadInC(const std::vector<std::byte>& file, const char* pem) {
    aicf_program program = 7;
    const aicf_code code = aicf_program_from_bytes_signed(file.data(), file.size(), pem, &program);
    EXPECT_EQ(program == 0, code != AICF_OK);
    if (code == AICF_OK) {
      EXPECT_EQ(aicf_program_destroy(program), AICF_OK);
    }
    return code;
  }

  std::vector<std::byte> plain_, signed_;
  std::string ours_, theirs_;
};

TEST_F(SignedProgram, InCPlusPlus) {
  EXPECT_EQ(Load(signed_, ours_), Code::kOk);
  EXPECT_EQ(Load(signed_, theirs_ + ours_), Code::kOk);
  EXPECT_TRUE(Program::FromBytes(signed_).ok());
  EXPECT_EQ(Load(signed_, theirs_), Code::kBadArtifact);
  EXPECT_EQ(Load(plain_, ours_), Code::kBadArtifact);
  // An empty text requires a signature that nobody can give; it never means none.
  EXPECT_EQ(Load(signed_, ""), Code::kInvalidArgument);
  EXPECT_EQ(Program::Load("/nonexistent.aicf", {.require_signature = ours_}).status().code(),
            Code::kIo);
}

TEST_F(SignedProgram, InC) {
  EXPECT_EQ(LoadInC(signed_, ours_.c_str()), AICF_OK);
  EXPECT_EQ(LoadInC(signed_, theirs_.c_str()), AICF_BAD_ARTIFACT);
  EXPECT_EQ(LoadInC(plain_, ours_.c_str()), AICF_BAD_ARTIFACT);
  EXPECT_EQ(LoadInC(signed_, ""), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(LoadInC(signed_, nullptr), AICF_INVALID_ARGUMENT);
  aicf_program program = 7;
  EXPECT_EQ(aicf_program_load_signed("/nonexistent.aicf", ours_.c_str(), &program), AICF_IO);
  EXPECT_EQ(aicf_program_load_signed("/nonexistent.aicf", nullptr, &program),
            AICF_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace aicf
