// Runs every case of tests/passes/*.test: compares the text after the passes, the decisions, and
// the values that the program computes with and without the passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include "base/float16.h"
#include "base/float8.h"
#include "compiler/ir/text.h"
#include "compiler/options/compile_options.h"
#include "compiler/passes/lower/lower.h"
#include "tests/passes/golden_case.h"

namespace aicf {
namespace {

ir::Tensor RandomTensor(DType dtype, const Dims& shape, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<std::byte> bytes;
  auto put = [&](auto v) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof v>>(v);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  for (int64_t i = 0; i < *ElementCount(shape); ++i) {
    const double v = uniform(rng);
    if (dtype == DType::kF16) {
      put(F32ToF16(static_cast<float>(v)));
    } else if (dtype == DType::kBF16) {
      put(F32ToBF16(static_cast<float>(v)));
    } else if (IsFloat(dtype) && DTypeBytes(dtype) == 1) {
      put(F32ToFloat8(static_cast<float>(v), dtype));
    } else if (IsFloat(dtype)) {
      VisitStorage(dtype, [&](auto tag) { put(static_cast<decltype(tag)>(v)); });
    } else {
      VisitStorage(dtype, [&](auto tag) { put(static_cast<decltype(tag)>(std::abs(v))); });
    }
  }
  return ir::Tensor::Own(dtype, shape, std::move(bytes));
}

ir::Tensor Resolve(DType dtype, const Dims& shape, std::string_view hash) {
  return RandomTensor(dtype, shape, HashText(hash).low);
}

// Either IR, so that one runner serves the passes of both stages.
struct AnyProgram {
  std::optional<ir::Graph> graph;
  std::optional<ir::Lowered> lowered;

  std::string Text() const { return graph ? ToString(*graph) : ToString(*lowered); }
};

Result<AnyProgram> Parse(std::string_view text, const ir::ConstantResolver& resolve = Resolve) {
  AnyProgram p;
  if (text.starts_with("graph")) {
    AICF_ASSIGN_OR_RETURN(p.graph, ir::ParseGraph(text, resolve));
    AICF_RETURN_IF_ERROR(Verify(*p.graph));
  } else {
    AICF_ASSIGN_OR_RETURN(p.lowered, ir::ParseLowered(text, resolve));
    AICF_RETURN_IF_ERROR(Verify(*p.lowered));
  }
  return p;
}

// The expected program. A constant that the passes have made may be named by the hash of its bytes.
Result<AnyProgram> ParseExpected(std::string_view text, const AnyProgram& found) {
  return Parse(text, [&](DType dtype, const Dims& shape, std::string_view hash) {
    if (found.lowered) {
      for (const ir::LoweredBuffer& b : found.lowered->buffers) {
        if (b.constant.has_data() && ToHex(HashBytes(b.constant.bytes())) == hash)
          return b.constant;
      }
    }
    return Resolve(dtype, shape, hash);
  });
}

Status RunPass(const std::string& name, AnyProgram& program, PassContext& context) {
  for (const PassInfo& pass : AllPasses()) {
    if (pass.name != name) continue;
    if (program.graph && pass.run_graph != nullptr) {
      AICF_RETURN_IF_ERROR(pass.run_graph(*program.graph, context));
      return Verify(*program.graph);
    }
    if (program.lowered && pass.run_lowered != nullptr) {
      AICF_RETURN_IF_ERROR(pass.run_lowered(*program.lowered, context));
      return Verify(*program.lowered);
    }
    return Error(Code::kInvalidArgument, "pass ", name, " works on the other stage");
  }
  return Error(Code::kInvalidArgument, "no pass is named ", name);
}

// Lists the states' two ends after the other inputs and outputs, where they are before and after
// the pass that takes them out of the lists.
void ListStatesLast(ir::Lowered& lowered) {
  for (const ir::LoweredState& state : lowered.states) {
    std::erase(lowered.inputs, state.past);
    lowered.inputs.push_back(state.past);
    std::erase(lowered.outputs, state.present);
    lowered.outputs.push_back(state.present);
  }
}

Result<std::vector<ir::Tensor>> Execute(const AnyProgram& program, PassContext& context) {
  ir::Lowered lowered;
  if (program.graph) {
    AICF_ASSIGN_OR_RETURN(lowered, LowerGraph(*program.graph, context));
  } else {
    lowered = *program.lowered;
  }
  ListStatesLast(lowered);
  std::vector<ir::Tensor> inputs;
  for (ir::BufferId b : lowered.inputs) {
    const ir::LoweredBuffer& buffer = lowered.buffers[b];
    inputs.push_back(RandomTensor(buffer.dtype, buffer.shape, HashText(buffer.name).low));
  }
  return Interpret(lowered, inputs);
}

// Distance in units of the last place of the tensor's dtype; 0 for two NaN.
int64_t UlpDistance(const ir::Tensor& a, const ir::Tensor& b, int64_t i) {
  if (!IsFloat(a.dtype())) return a.IntAt(i) == b.IntAt(i) ? 0 : INT64_MAX;
  const double x = a.FloatAt(i), y = b.FloatAt(i);
  if ((std::isnan(x) && std::isnan(y)) || x == y) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return INT64_MAX;
  const int digits = a.dtype() == DType::kF16    ? 11
                     : a.dtype() == DType::kBF16 ? 8
                     : a.dtype() == DType::kF32  ? 24
                                                 : 53;
  const double magnitude = std::max(std::abs(x), std::abs(y));
  return static_cast<int64_t>(
      std::ceil(std::abs(x - y) / std::ldexp(1.0, std::ilogb(magnitude) + 1 - digits)));
}

std::string Format(const Decision& d) {
  std::string out = StrCat(KindName(d.kind), " ", ToString(d.subject), ": ", d.choice);
  for (const Alternative& a : d.alternatives) {
    if (!a.refusal.empty()) out += " | " + a.refusal;
  }
  return out;
}

void ExpectSameValues(const GoldenCase& c, const AnyProgram& before, const AnyProgram& after,
                      PassContext context) {
  DecisionLog ignored;
  context.decisions = &ignored;
  const auto want = Execute(before, context), got = Execute(after, context);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ASSERT_EQ(got->size(), want->size());
  for (size_t k = 0; k < want->size(); ++k) {
    const ir::Tensor &a = (*want)[k], &b = (*got)[k];
    ASSERT_EQ(a.count(), b.count());
    for (int64_t i = 0; i < a.count(); ++i) {
      if (c.max_error > 0) {
        ASSERT_NEAR(b.FloatAt(i), a.FloatAt(i), c.max_error) << "output " << k << " element " << i;
        continue;
      }
      ASSERT_LE(UlpDistance(a, b, i), c.max_ulp)
          << "output " << k << " element " << i << ": " << a.FloatAt(i) << " off, " << b.FloatAt(i)
          << " on";
    }
  }
}

Calibration CalibrationOf(const GoldenCase& c, DType precision, const ir::Lowered& lowered) {
  CalibratedEntry entry;
  entry.samples = 1;
  for (const std::string& line : c.calibration) {
    std::istringstream in(line);
    std::string kind, name, more;
    in >> kind >> name;
    const auto buffer = std::ranges::find(lowered.buffers, name, &ir::LoweredBuffer::name);
    EXPECT_NE(buffer, lowered.buffers.end()) << line;
    const auto id = static_cast<ir::BufferId>(buffer - lowered.buffers.begin());
    if (kind == "value") {
      CalibratedValue value;
      value.buffer = id;
      value.name = name;
      in >> value.low >> value.high;
      value.limits.fill(std::max(-value.low, value.high));
      for (int exponent; in >> exponent;) {
        value.channels.push_back(static_cast<uint8_t>(exponent));
      }
      entry.values.push_back(std::move(value));
      continue;
    }
    CalibratedProduct product;
    product.name = name;
    in >> product.effect >> more;
    product.wide = more == "wide";
    const auto step = std::ranges::find_if(
        lowered.steps, [&](const ir::LoweredStep& s) { return s.outputs[0] == id; });
    product.step = static_cast<int>(step - lowered.steps.begin());
    entry.products.push_back(std::move(product));
  }
  return {precision, RangeMethod::kMinMax, 0.1, {std::move(entry)}};
}

void RunCase(const GoldenCase& c) {
  const Result<AnyProgram> before = Parse(c.input);
  ASSERT_TRUE(before.ok()) << "input: " << before.status().ToString();
  AnyProgram after = *before;
  DecisionLog log;
  PassContext context;
  context.device.name = "";
  if (!c.device.empty()) {
    const auto device = abi::FindDevice(c.device);
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    context.device = *device;
  }
  context.decisions = &log;
  const auto math = abi::ParseMathMode(c.math);
  const auto policy = Policy::Parse(c.policy);
  ASSERT_TRUE(math && policy.ok()) << c.math << " " << c.policy;
  context.math = *math;
  const Result<DType> precision = ParsePrecision(c.precision);
  ASSERT_TRUE(precision.ok()) << precision.status().ToString();
  Calibration calibration;
  if (IsQuantized(*precision)) {
    ASSERT_TRUE(before->lowered);
    calibration = CalibrationOf(c, *precision, *before->lowered);
    context.calibration = &calibration;
  } else {
    context.storage = *precision;
  }
  context.policy = &*policy;
  context.no_fusion.insert(c.disabled.begin(), c.disabled.end());
  for (const std::string& pass : c.passes) {
    const Status status = RunPass(pass, after, context);
    ASSERT_TRUE(status.ok()) << pass << ": " << status.ToString();
  }
  std::string want = before->Text();
  if (c.expect != "same") {
    const Result<AnyProgram> expected = ParseExpected(c.expect, after);
    ASSERT_TRUE(expected.ok()) << "expect: " << expected.status().ToString() << "\nfound:\n"
                               << after.Text();
    want = expected->Text();
  }
  EXPECT_EQ(after.Text(), want);
  std::vector<std::string> recorded;
  for (const Decision& d : log.decisions()) recorded.push_back(Format(d));
  if (c.check_decisions) {
    EXPECT_EQ(recorded, c.decisions);
  }
  ExpectSameValues(c, *before, after, context);
}

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(AICF_SOURCE_DIR "/tests/passes")) {
    if (entry.path().extension() == ".test") files.push_back(entry.path().stem().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, Cases) {
  const auto cases = ParseGoldenFile(StrCat(AICF_SOURCE_DIR "/tests/passes/", GetParam(), ".test"));
  ASSERT_TRUE(cases.ok()) << cases.status().ToString();
  ASSERT_FALSE(cases->empty());
  for (const GoldenCase& c : *cases) {
    SCOPED_TRACE(StrCat(GetParam(), ".test line ", c.line, ": ", c.name));
    RunCase(c);
  }
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(),
      [](char ch) { return !std::isalnum(static_cast<unsigned char>(ch)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Passes, Golden, ::testing::ValuesIn(GoldenFiles()), TestName);

// A pass without a golden file is untested: the table and the folder must agree.
TEST(GoldenFiles, EveryPassHasOne) {
  const std::vector<std::string> files = GoldenFiles();
  for (const PassInfo& pass : AllPasses()) {
    if (pass.stage == Stage::kPlan)
      continue;  // a plan is no text of the compiler's: tested beside them
    EXPECT_TRUE(std::binary_search(files.begin(), files.end(), std::string(pass.name)))
        << "tests/passes/" << pass.name << ".test is absent";
  }
}

}  // namespace
}  // namespace aicf
