#include <gtest/gtest.h>

#include "aicf/aicf.h"
#include "runtime/cuda/driver.h"
#include "runtime/test_program.h"

namespace aicf {
namespace {

using testing::ChainContents;
using testing::ChainOptions;
using testing::MakeProgram;

Status CreateOn(const std::string& device, const std::string& target) {
  ChainOptions chain;
  chain.target = target;
  SessionOptions options;
  options.device = device;
  return Session::Create(MakeProgram(ChainContents(chain)), options).status();
}

TEST(SessionCreate, ANullProgramIsRefused) {
  EXPECT_EQ(Session::Create(nullptr, {}).status().code(), Code::kInvalidArgument);
}

TEST(SessionCreate, UnknownDevicesAreRefusedByName) {
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999",
                           "CPU", "cpu:0", " cuda:0"}) {
    const Status status = CreateOn(name, "cpu:baseline");
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
    EXPECT_NE(status.message().find(name), std::string::npos);
    EXPECT_NE(status.message().find("'cuda:N'"), std::string::npos);
  }
}

TEST(SessionCreate, ACpuArtifactOnCudaNamesTheCompileOption) {
  const Status status = CreateOn("cuda:0", "cpu:baseline");
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_NE(status.message().find("aicf-compile --target=cuda"), std::string::npos);
}

TEST(SessionCreate, ACudaArtifactWithoutADriverSaysWhatWorks) {
  if (cuda::Driver::Get().ok()) GTEST_SKIP() << "this machine has a CUDA device";
  for (const char* name : {"", "cuda:0"}) {
    const Status status = CreateOn(name, "cuda:sm_90a");
    EXPECT_EQ(status.code(), Code::kDevice);
    EXPECT_NE(status.message().find("'cpu'"), std::string::npos) << status.message();
  }
}

TEST(SessionCreate, ACudaArtifactRunsOnTheReferenceKernels) {
  ChainOptions chain;
  chain.target = "cuda:sm_90a";
  SessionOptions options;
  options.device = "cpu";
  auto session = Session::Create(MakeProgram(ChainContents(chain)), options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const std::vector<float> x = testing::RandomInput(chain.elements, 1);
  ASSERT_TRUE((*session)->SetInput("x", TensorOf(x)).ok());
  ASSERT_TRUE((*session)->Run().ok());
  testing::ExpectChainOutput(**session, chain, x);
}

TEST(Program, DescribesItsInterface) {
  const ChainOptions chain;
  const auto program = MakeProgram(ChainContents(chain));
  ASSERT_EQ(program->inputs().size(), 1u);
  EXPECT_EQ(program->inputs()[0].name, "x");
  EXPECT_EQ(program->inputs()[0].bytes, 4000u);
  EXPECT_EQ(program->inputs()[0].shape, Dims{1000});
  EXPECT_EQ(program->outputs()[0].name, "y");
  EXPECT_EQ(program->step_count(), 4u);
  EXPECT_EQ(program->weights_bytes(), 4000u);
  EXPECT_EQ(program->target(), "cpu:baseline");
}

TEST(Program, BadBytesAreABadArtifact) {
  const std::vector<std::byte> noise(4096, std::byte{0x5a});
  EXPECT_EQ(Program::FromBytes(noise).status().code(), Code::kBadArtifact);
  EXPECT_EQ(Program::FromBytes({}).status().code(), Code::kBadArtifact);
  EXPECT_EQ(Program::Load("/nonexistent/model.aicf").status().code(), Code::kIo);
}

// Also the sections that running does not interpret: damage anywhere makes the whole file doubtful.
TEST(Program, EveryFlippedBitIsRefused) {
  ChainOptions chain;
  chain.elements = 16;
  schema::Contents contents = ChainContents(chain);
  contents.decisions = "{\"kind\":\"kernel\"}\n";
  contents.lowered = "lowered \"chain\"\n";
  contents.lowered_weights.assign(64, std::byte{3});
  const auto sealed = schema::Serialize(contents);
  ASSERT_TRUE(sealed.ok()) << sealed.status().ToString();
  std::vector<std::byte> file = *sealed;
  ASSERT_TRUE(Program::FromBytes(file).ok());
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    file[bit / 8] ^= mask;
    const Code code = Program::FromBytes(file).status().code();
    // A flipped version or feature bit reads as an artifact of another version.
    const bool version = bit >= 64 && bit < 24 * 8;
    ASSERT_TRUE(code == Code::kBadArtifact || (code == Code::kUnsupported && version))
        << "bit " << bit << ": " << CodeName(code);
    file[bit / 8] ^= mask;
  }
}

}  // namespace
}  // namespace aicf
