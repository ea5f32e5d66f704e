#include "compiler/edit/policy.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

using abi::Family;
using abi::MathMode;

Policy Parsed(std::string_view text) {
  Result<Policy> policy = Policy::Parse(text);
  EXPECT_TRUE(policy.ok()) << text << ": " << policy.status().ToString();
  return policy.ok() ? *policy : Policy();
}

TEST(Policy, FamilyNodeAndStepInRisingOrder) {
  Policy p = Parsed("gemm=tiled,node:*.head=tensor,step.1=cublaslt,conv=fp16");
  ASSERT_TRUE(p.NameSteps({{"a"}, {"b.head", "b.act"}}).ok());
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"a"}), "tiled");
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"x", "c.head"}), "tensor");
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"b.head", "b.act"}), "cublaslt");
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"b.head"}), "tensor");
  EXPECT_EQ(p.KernelFor(Family::kPool, {"a"}), "");
  EXPECT_EQ(p.MathFor(Family::kConv, {"a"}), MathMode::kFp16);
  EXPECT_EQ(p.MathFor(Family::kGemm, {"a"}), std::nullopt);
}

TEST(Policy, OfEqualClausesTheLastCounts) {
  const Policy p = Parsed("node:a*=one,node:*b=two");
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"ab"}), "two");
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"ac"}), "one");
}

TEST(Policy, NamesOfKernelsBelongToTheirFamily) {
  const Policy p = Parsed("attention=flash,node:slow=general,node:lib*=cudnn");
  EXPECT_EQ(p.KernelFor(Family::kAttention, {"a"}), "flash");
  EXPECT_EQ(p.KernelFor(Family::kAttention, {"slow"}), "general");
  EXPECT_EQ(p.KernelFor(Family::kConv, {"slow"}), "general");
  EXPECT_EQ(p.KernelFor(Family::kAttention, {"lib1"}), "cudnn");
  EXPECT_NE(MissingKernel(Family::kAttention, "cudnn"), "");
  EXPECT_EQ(MissingKernel(Family::kAttention, "flash"), "");
  EXPECT_EQ(MissingKernel(Family::kConv, "cudnn"), "");
  EXPECT_EQ(p.Clauses().front(), "attention=flash") << "what the user wrote is recorded";
}

TEST(Policy, AKernelHasPartsOfItsKeyAndUsualNames) {
  const auto has = [](std::string_view key, std::string_view name) {
    return KernelHasName(*abi::FindKernel(key), name);
  };
  EXPECT_TRUE(has("cuda.attention.hopper", "flash"));
  EXPECT_TRUE(has("cuda.attention.hopper", "hopper"));
  EXPECT_TRUE(has("cuda.attention.general", "general"));
  EXPECT_TRUE(has("cpu.attention.flash_avx2", "flash"));
  EXPECT_FALSE(has("cuda.attention.general", "flash"));
  EXPECT_FALSE(has("cpu.attention.ref", "flash"));
}

// A product's mode is decided before fusion, when it is one node of the step.
TEST(Policy, TheModeOfAStepIsThatOfTheProductInIt) {
  Policy p = Parsed("step.0=fp32");
  EXPECT_TRUE(p.NamesSteps());
  EXPECT_EQ(p.MathFor(Family::kGemm, {"dot"}), std::nullopt) << "not resolved yet";
  ASSERT_TRUE(p.NameSteps({{"dot", "relu"}}).ok());
  EXPECT_EQ(p.MathFor(Family::kGemm, {"dot"}), MathMode::kFp32);
  EXPECT_EQ(p.MathFor(Family::kGemm, {"other"}), std::nullopt);
}

// How a step is launched is a question beside which kernel it has.
TEST(Policy, Launches) {
  const Policy p = Parsed("gemm=full,node:b*=programmatic,gemm=tiled");
  EXPECT_EQ(p.ProgrammaticFor(Family::kGemm, {"a"}), false);
  EXPECT_EQ(p.ProgrammaticFor(Family::kGemm, {"b1"}), true);
  EXPECT_EQ(p.ProgrammaticFor(Family::kPool, {"a"}), std::nullopt);
  EXPECT_EQ(p.KernelFor(Family::kGemm, {"b1"}), "tiled");
  EXPECT_EQ(Policy::Parse("gemm=full,gemm=programmatic").status().code(), Code::kInvalidArgument);
}

TEST(Policy, TextSurvives) {
  const std::vector<std::string> clauses = {"gemm=cublaslt", "node:a=b,c?=fp32", "step.7=direct",
                                            "conv=full", "pool=programmatic"};
  Policy p;
  for (const std::string& c : clauses) {
    const Result<Policy> one = Policy::ParseClause(c);
    ASSERT_TRUE(one.ok()) << c;
    ASSERT_TRUE(p.Add(*one).ok());
  }
  EXPECT_EQ(p.Clauses(), clauses);
}

TEST(Policy, RefusesWhatItCannotRead) {
  for (const char* bad : {"gemm", "gemm=", "=x", "bogus=x", "node:=x", "step.=x", "step.x=y",
                          "step.-1=y", "step.99999999999=y", "gemm=a,gemm=b", "matmul=a,gemm=b"}) {
    const Result<Policy> p = Policy::Parse(bad);
    EXPECT_EQ(p.status().code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_TRUE(Policy::Parse("").ok());
  // A kernel and a mode are two questions about one subject.
  EXPECT_TRUE(Policy::Parse("gemm=tiled,gemm=fp16").ok());
}

TEST(Policy, AStepThatThePlanLacks) {
  Policy p = Parsed("step.2=x");
  const Status status = p.NameSteps({{"a"}, {"b"}});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("no step 2"), std::string::npos);
}

}  // namespace
}  // namespace aicf
