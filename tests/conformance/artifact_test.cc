// Every family's steps through the whole of the product but the compiler: a program's text, its
// bytes, the verifier, the runtime, and a plan for CUDA executed on the CPU.
#include <gtest/gtest.h>

#include "aicf/aicf.h"
#include "kernels/abi/kernel.h"
#include "schema/testing.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"

namespace aicf::conformance {
namespace {

using abi::Family;

std::string NameOf(char kind, size_t k) { return StrCat(std::string(1, kind), k); }

/// A buffer that begins and ends where the operand's own does.
Dims BufferShape(const Case& c, size_t operand, DType dtype) {
  return {static_cast<int64_t>(c.buffers[operand].size()) / DTypeBytes(dtype)};
}

/// The case with outputs that are written in full, as those of an entry point must be.
Case WithDenseOutputs(Case c) {
  for (size_t k = 0; k < c.problem.outputs.size(); ++k) {
    abi::View& v = c.problem.outputs[k];
    v = abi::DenseView(v.dtype, v.shape);
    const auto bytes = static_cast<size_t>(abi::ElementsOf(v) * DTypeBytes(v.dtype));
    c.buffers[c.problem.inputs.size() + k].assign(bytes, std::byte{0});
  }
  return c;
}

schema::Program ProgramOf(const Case& c) {
  schema::testing::ProgramBuilder b;
  std::vector<uint32_t> in, out;
  for (size_t k = 0; k < c.problem.inputs.size(); ++k) {
    const DType dtype = c.problem.inputs[k].dtype;
    in.push_back(b.Input(NameOf('x', k), BufferShape(c, k, dtype), dtype));
  }
  for (size_t k = 0; k < c.problem.outputs.size(); ++k) {
    const DType dtype = c.problem.outputs[k].dtype;
    out.push_back(
        b.Output(NameOf('y', k), BufferShape(c, c.problem.inputs.size() + k, dtype), dtype));
  }
  b.AddStep(c.problem, in, out);
  return b.Finish();
}

/// What the runtime's CPU session makes of the program's bytes.
Result<Buffers> RunOnCpu(const schema::Program& plan, const Case& c) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                        schema::Serialize(schema::testing::ContentsOf(plan)));
  AICF_ASSIGN_OR_RETURN(auto program, Program::FromBytes(bytes));
  SessionOptions options;
  options.device = "cpu";
  AICF_ASSIGN_OR_RETURN(auto session, Session::Create(program, options));
  const size_t inputs = c.problem.inputs.size();
  for (size_t k = 0; k < inputs; ++k) {
    const DType dtype = c.problem.inputs[k].dtype;
    const Dims shape = BufferShape(c, k, dtype);
    const auto size = static_cast<uint64_t>(shape[0] * DTypeBytes(dtype));
    AICF_RETURN_IF_ERROR(
        session->SetInput(NameOf('x', k), {dtype, shape, c.buffers[k].data(), size}));
  }
  AICF_RETURN_IF_ERROR(session->Run());
  Buffers got = c.buffers;
  for (size_t k = 0; k < c.problem.outputs.size(); ++k) {
    const DType dtype = c.problem.outputs[k].dtype;
    std::vector<std::byte>& to = got[inputs + k];
    AICF_RETURN_IF_ERROR(session->GetOutput(
        NameOf('y', k), {dtype, BufferShape(c, inputs + k, dtype), to.data(), to.size()}));
  }
  return got;
}

class Artifacts : public testing::TestWithParam<int> {};

TEST_P(Artifacts, GiveWhatTheReferenceGives) {
  const auto family = static_cast<Family>(GetParam());
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Case c = WithDenseOutputs(RandomCase(family, seed, {.max_elements = 500}));
    const Buffers want = RunReference(c);
    const schema::Program plan = ProgramOf(c);
    for (const schema::Program& p : {plan, schema::testing::OnDevice(plan)}) {
      SCOPED_TRACE(StrCat(p.target, " ", c.name));
      const Result<schema::Program> back = schema::ParseProgram(ToString(p));
      ASSERT_TRUE(back.ok()) << back.status().ToString();
      EXPECT_EQ(ToString(*back), ToString(p));
      const Result<Buffers> got = RunOnCpu(*back, c);
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      EXPECT_EQ(Difference(c, *got, want), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Artifacts, testing::Range(0, abi::kFamilyCount),
                         [](const testing::TestParamInfo<int>& i) {
                           return std::string(abi::FamilyName(static_cast<Family>(i.param)));
                         });

}  // namespace
}  // namespace aicf::conformance
