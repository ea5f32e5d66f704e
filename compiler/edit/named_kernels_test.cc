#include "compiler/edit/named_kernels.h"

#include <gtest/gtest.h>

#include "kernels/abi/choice.h"

namespace aicf {
namespace {

abi::DeviceSpec Target(std::string_view name) { return *abi::FindDevice(name); }

Status Check(std::string_view clauses, std::string_view target) {
  return CheckPolicyKernels(*Policy::Parse(clauses), Target(target));
}

TEST(NamedKernels, KeysTheirPartsAndWhatIsNoKernelPass) {
  for (const char* clauses :
       {"conv=igemm,gemm=cpu.gemm.ref", "node:*head*=winograd,node:a=ref", "step.3=blis",
        "matmul=packed_avx2", "gemm=fp32,conv=full,node:b*=programmatic", ""}) {
    EXPECT_TRUE(Check(clauses, "cpu:avx2").ok()) << Check(clauses, "cpu:avx2").ToString();
  }
  for (const char* clauses : {"conv=tensor,gemm=cublaslt", "attention=flash,node:a=general",
                              "gemm=tensor_64x64", "conv=64x64", "step.0=hopper"}) {
    EXPECT_TRUE(Check(clauses, "cuda:sm_90a").ok()) << Check(clauses, "cuda:sm_90a").ToString();
  }
}

struct WrongName {
  const char* clause;
  const char* target;
  Code code;
  const char* message;
};

const WrongName kWrong[] = {
    {"conv=implict_gemm", "cuda:sm_90a", Code::kInvalidArgument,
     "policy clause 'conv=implict_gemm': no kernel has this in its name; did you mean "
     "cuda.conv.implicit_gemm?"},
    {"gemm=packd_avx2", "cpu:avx2", Code::kInvalidArgument,
     "policy clause 'gemm=packd_avx2': no kernel has this in its name; did you mean "
     "cpu.gemm.packed_avx2"},
    {"attention=zzz", "cuda:sm_90a", Code::kInvalidArgument,
     "policy clause 'attention=zzz': no kernel has this in its name; there are "
     "cuda.attention.hopper, "},
    {"conv=implicit_gemm", "cpu:avx2", Code::kInvalidArgument,
     "policy clause 'conv=implicit_gemm': cuda.conv.implicit_gemm is a kernel for GPUs, and the "
     "target is cpu:avx2; "},
    {"attention=general", "cpu:baseline", Code::kInvalidArgument,
     "policy clause 'attention=general': cuda.attention.general is a kernel for GPUs, and the "
     "target is cpu:baseline; "},
    {"gemm=igemm_avx2", "cuda:sm_80", Code::kInvalidArgument,
     "policy clause 'gemm=igemm_avx2': cpu.conv.igemm_avx2 is a kernel of the family conv; "},
    {"node:a*=nothing", "cpu:avx2", Code::kInvalidArgument,
     "policy clause 'node:a*=nothing': no kernel has this in its name"},
    {"step.7=tensor_64x64", "cpu:avx2", Code::kInvalidArgument,
     "policy clause 'step.7=tensor_64x64': no kernel has this in its name"},
    {"attention=cudnn", "cuda:sm_90a", Code::kUnsupported,
     "policy asks for cudnn, which cannot be called: there is no builder of cuDNN's operation"},
    {"node:attend=cudnn", "cuda:sm_90a", Code::kUnsupported, "policy asks for cudnn, which cannot"},
};

TEST(NamedKernels, AnyOtherNameIsOneErrorWithTheNearest) {
  for (const WrongName& w : kWrong) {
    const Status status = Check(w.clause, w.target);
    EXPECT_EQ(status.code(), w.code) << w.clause;
    EXPECT_TRUE(status.message().starts_with(w.message)) << status.message();
  }
  EXPECT_FALSE(Check("conv=" + std::string(100000, 'a'), "cpu:avx2").ok());
}

// A name that chooses among the variants of a GPU's kernel is known by the extents of a tile in it.
TEST(NamedKernels, VariantsHaveATileInTheirNames) {
  const abi::DeviceSpec device = Target("cuda:sm_90a");
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.math = abi::MathMode::kFp16;
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF16, {512, 512}), abi::DenseView(DType::kF16, {512, 512})};
  p.outputs = {abi::DenseView(DType::kF16, {512, 512})};
  int variants = 0;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(p.family)) {
    if (kernel.backend != abi::Backend::kCuda || !kernel.supports(p, device).empty()) continue;
    for (const abi::Candidate& c : abi::CandidatesOf(kernel, p, device)) {
      if (c.row == kernel.key) continue;
      ++variants;
      EXPECT_TRUE(Check("gemm=" + c.row, "cuda:sm_90a").ok()) << c.row;
    }
  }
  EXPECT_GT(variants, 20);
}

}  // namespace
}  // namespace aicf
