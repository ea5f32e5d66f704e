// Runs a model with carried state over many chunks. The fast kernels and, where there is one, a GPU
// are compared with the reference kernels, which execute the plan made for CUDA. An error that is
// too small to be noticed in a single chunk would grow here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/models/streams.h"

namespace aicf::testing {
namespace {

constexpr double kTolerance = 1e-4;

/// One session and the state it carries.
struct Stream {
  std::unique_ptr<Session> session;
  std::vector<float> state, probability;
};

template <class Values>
Status SetWhole(Session& session, std::string_view name, const Values& values) {
  AICF_ASSIGN_OR_RETURN(const Dims shape, session.InputShapeOf(name));
  return session.SetInput(name, TensorOf(values, shape));
}

Status GetWhole(Session& session, std::string_view name, std::vector<float>& values) {
  AICF_ASSIGN_OR_RETURN(const Dims shape, session.OutputShape(name));
  return session.GetOutput(name, TensorInto(values, shape));
}

Result<Stream> Open(const ModelCase& c, const std::string& target, const std::string& device) {
  AICF_ASSIGN_OR_RETURN(auto program, CompileCase(c, target, abi::MathMode::kFp32));
  SessionOptions options;
  options.device = device;
  Stream stream;
  for (const TensorInfo& info : program->outputs()) {
    auto& values = info.name == "stateN" ? stream.state : stream.probability;
    values.resize(info.bytes / sizeof(float));
  }
  AICF_ASSIGN_OR_RETURN(stream.session, Session::Create(program, options));
  return stream;
}

Status RunChunk(Stream& stream, const std::vector<float>& chunk, int64_t rate) {
  Session& s = *stream.session;
  AICF_RETURN_IF_ERROR(SetWhole(s, "input", chunk));
  AICF_RETURN_IF_ERROR(SetWhole(s, "state", stream.state));
  AICF_RETURN_IF_ERROR(SetWhole(s, "sr", std::span(&rate, 1)));
  AICF_RETURN_IF_ERROR(s.Run());
  AICF_RETURN_IF_ERROR(GetWhole(s, "output", stream.probability));
  return GetWhole(s, "stateN", stream.state);
}

/// A voice-like chunk: gliding harmonics that come and go, and noise.
std::vector<float> VoiceAt(int index, int64_t samples, std::mt19937& rng) {
  std::normal_distribution<float> noise(0, 0.01f);
  std::vector<float> chunk(static_cast<size_t>(samples));
  const double loud = 0.5 * (1 + std::sin(index * 0.17));
  for (int64_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(index * samples + i) / 16000;
    double x = 0;
    for (int k = 1; k <= 5; ++k) x += std::sin(k * (900 * t + 4 * std::sin(3 * t))) / k;
    chunk[static_cast<size_t>(i)] = static_cast<float>(0.2 * loud * x) + noise(rng);
  }
  return chunk;
}

double Worst(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, static_cast<double>(std::fabs(a[i] - b[i])));
    scale = std::max(scale, static_cast<double>(std::fabs(b[i])));
  }
  return scale > 0 ? worst / scale : worst;
}

const ModelCase* FindCase(const std::vector<ModelCase>& cases, std::string_view name) {
  for (const ModelCase& c : cases) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

void ExpectTogether(const ModelCase& c, Stream& fast, Stream& reference) {
  std::mt19937 rng(17);
  std::vector<float> first_state;
  for (int i = 0; i < kChunks; ++i) {
    const std::vector<float> chunk = VoiceAt(i, c.inputs[0].shape[1], rng);
    const Status a = RunChunk(fast, chunk, 16000), b = RunChunk(reference, chunk, 16000);
    ASSERT_TRUE(a.ok() && b.ok()) << a.ToString() << b.ToString();
    ASSERT_LE(Worst(fast.probability, reference.probability), kTolerance) << "chunk " << i;
    ASSERT_LE(Worst(fast.state, reference.state), kTolerance) << "chunk " << i;
    if (i == 0) first_state = fast.state;
  }
  EXPECT_GT(Worst(fast.state, first_state), 0.01) << "the state was not carried";
}

class Streaming : public ::testing::TestWithParam<const char*> {
 protected:
  void Check(const std::string& target, const std::string& device) {
    const std::vector<ModelCase> cases = LoadCases();
    const ModelCase* c = FindCase(cases, GetParam());
    if (c == nullptr) GTEST_SKIP() << "AICF_TEST_MODELS names no folder with " << GetParam();
    if (!HasNvrtc()) GTEST_SKIP() << "NVRTC is not here: no CUDA plan can be compiled";
    auto fast = Open(*c, target, device);
    auto reference = Open(*c, "cuda:sm_90a", "cpu");
    ASSERT_TRUE(fast.ok()) << fast.status().ToString();
    ASSERT_TRUE(reference.ok()) << reference.status().ToString();
    ExpectTogether(*c, *fast, *reference);
  }
};

class GpuStreaming : public Streaming {};

TEST_P(Streaming, FastAndReferenceKernelsStayTogether) { Check("cpu", "cpu"); }

TEST_P(GpuStreaming, DeviceAndReferenceKernelsStayTogether) {
  if (!HasGpu()) GTEST_SKIP() << "no CUDA device here";
  Check("cuda:sm_90a", "cuda:0");
}

std::string ModelName(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

const auto kStreams = ::testing::Values("silero_op18_ifless", "silero_v6", "silero_v6_512");
INSTANTIATE_TEST_SUITE_P(Real, Streaming, kStreams, ModelName);
INSTANTIATE_TEST_SUITE_P(Real, GpuStreaming, kStreams, ModelName);

}  // namespace
}  // namespace aicf::testing
