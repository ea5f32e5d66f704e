// Every rule of a problem and of the families in validate.cc, broken once.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr int64_t kBig = int64_t{1} << 31;

Expr ExprOf(std::string_view text) { return *ParseExpr(text); }
Expr Sum() { return ExprOf("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2"); }
Expr Twice() { return ExprOf("(%0 = in 0 : f32) -> %0 %0"); }

TEST(ValidateProblem, CountsAndViews) {
  Problem p = ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 2, {F32({2, 3}), F32({2, 3})},
                        {F32({2, 3})});
  p.epilogue = Sum();
  ExpectRefused(
      p, {
             {"attributes do not belong", [](Problem& q) { q.attrs = GemmAttrs{}; }},
             {"attributes do not belong", [](Problem& q) { q.family = static_cast<Family>(99); }},
             {"unknown math mode", [](Problem& q) { q.math = MathMode::kCount; }},
             {"-1 core inputs of 2", [](Problem& q) { q.core_inputs = -1; }},
             {"3 core inputs of 2", [](Problem& q) { q.core_inputs = 3; }},
             {"every input is a core input", [](Problem& q) { q.core_inputs = 1; }},
             {"needs an expression", [](Problem& q) { q.epilogue = {}; }},
             {"0 outputs", [](Problem& q) { q.outputs.clear(); }},
             {"elementwise step: 5 outputs", [](Problem& q) { q.outputs.assign(5, q.outputs[0]); }},
             {"57 inputs, limit 56",
              [](Problem& q) {
                q.inputs.assign(57, q.inputs[0]);
                q.core_inputs = 57;
              }},
             {"input 1 has an unknown dtype",
              [](Problem& q) { q.inputs[1].dtype = static_cast<DType>(200); }},
             {"output 0 has an unknown dtype",
              [](Problem& q) { q.outputs[0].dtype = static_cast<DType>(200); }},
             {"2 extents but 1 strides", [](Problem& q) { q.inputs[1].strides = {1}; }},
             {"illegal shape",
              [](Problem& q) {
                q.inputs[1].shape = {2, -3};
              }},
             {"input 1: view", [](Problem& q) { q.inputs[1].offset = -1; }},
             {"output 0: view", [](Problem& q) { q.outputs[0].offset = -1; }},
             {"writes one address twice",
              [](Problem& q) {
                q.outputs[0].strides = {2, 1};
              }},
             {"an input has shape 3x2", Input(1, F32({3, 2}))},
             {"this family has no prologue", [](Problem& q) { q.prologue = q.epilogue; }},
             {"this family has no score", [](Problem& q) { q.score = q.epilogue; }},
             {"an input that does not exist",
              [](Problem& q) { q.epilogue = ExprOf("(%0 = in 2 : f32) -> %0"); }},
             {"2 results for 1 outputs", [](Problem& q) { q.epilogue = Twice(); }},
             {"result 0 is f32 but its output is i32",
              [](Problem& q) { q.outputs[0].dtype = DType::kI32; }},
             {"outputs have different shapes",
              [](Problem& q) {
                q.epilogue = Twice();
                q.outputs.push_back(F32({3, 2}));
              }},
         });
}

TEST(ValidateProblem, Copy) {
  const auto p = ProblemOf(Family::kCopy, CopyAttrs{{Dims{0, 0}, Dims{0, 3}}, false, 0}, 2,
                           {F32({2, 3}), F32({2, 2})}, {F32({2, 5})});
  using A = CopyAttrs;
  ExpectRefused(p, {
                       {"1 starts for 2 pieces", Edit<A>([](A& a) { a.starts.pop_back(); })},
                       {"2 starts for 2 pieces", [](Problem& q) { q.core_inputs = 1; }},
                       {"piece 1 has another dtype", Input(1, DenseView(DType::kF16, {2, 2}))},
                       {"piece 1 has another rank", Input(1, F32({2, 2, 1}))},
                       {"piece 1 has another rank", Edit<A>([](A& a) { a.starts[1] = {0}; })},
                       {"leaves the output along axis 1", Edit<A>([](A& a) {
                          a.starts[1] = {0, 4};
                        })},
                       {"leaves the output along axis 0", Edit<A>([](A& a) {
                          a.starts[1] = {-1, 3};
                        })},
                       {"overlap", Edit<A>([](A& a) {
                          a.starts[1] = {0, 2};
                        })},
                       {"without a fill", Output(0, F32({2, 6}))},
                       {"pieces overflow",
                        [](Problem& q) {
                          const int64_t half = int64_t{1} << 62;
                          q.inputs.assign(2, Repeated({half}, DType::kU8));
                          q.outputs = {DenseView(DType::kU8, {half})};
                          q.attrs = A{{Dims{0}, Dims{0}}, false, 0};
                        }},
                       {"an input that does not exist", [](Problem& q) { q.epilogue = Sum(); }},
                       {"piece 1 has another dtype than the first",
                        [](Problem& q) {
                          q.epilogue = ExprOf("(%0 = in 0 : f32) -> %0");
                          q.inputs[1].dtype = DType::kF16;
                        }},
                       {"2 results for 1 outputs", [](Problem& q) { q.epilogue = Twice(); }},
                       {"result 0 is f32 but its output is i32",
                        [](Problem& q) {
                          q.epilogue = ExprOf("(%0 = in 0 : f32) -> %0");
                          q.outputs[0].dtype = DType::kI32;
                        }},
                       {"an epilogue without a piece",
                        [](Problem& q) {
                          q.inputs.clear();
                          q.core_inputs = 0;
                          q.attrs = A{{}, true, 0};
                          q.epilogue = ExprOf("(%0 = in 0 : f32) -> %0");
                        }},
                   });
}

TEST(ValidateProblem, Reduce) {
  using A = ReduceAttrs;
  auto p = ProblemOf(Family::kReduce, A{ReduceKind::kSum, {1}, false}, 2,
                     {F32({2, 3}), F32({2, 3})}, {F32({2, 1})});
  p.prologue = Sum();
  const auto arg = [](Problem& q) {
    q.inputs.resize(1);
    q.core_inputs = 1;
    q.prologue = {};
    q.outputs = {I64({2, 1})};
    std::get<A>(q.attrs).kind = ReduceKind::kArgMax;
  };
  ExpectRefused(p, {
                       {"needs a core input", [](Problem& q) { q.core_inputs = 0; }},
                       {"a core input has shape", Input(1, F32({3, 2}))},
                       {"several core inputs need a prologue", [](Problem& q) { q.prologue = {}; }},
                       {"a prologue has one result", [](Problem& q) { q.prologue = Twice(); }},
                       {"an input that does not exist",
                        [](Problem& q) { q.prologue = ExprOf("(%0 = in 2 : f32) -> %0"); }},
                       {"unknown kind", Edit<A>([](A& a) { a.kind = ReduceKind::kCount; })},
                       {"axis -1 outside rank 2", Edit<A>([](A& a) { a.axes = {-1}; })},
                       {"axis 2 outside rank 2", Edit<A>([](A& a) { a.axes = {2}; })},
                       {"not ascending", Edit<A>([](A& a) {
                          a.axes = {1, 1};
                        })},
                       {"the output has shape", Output(0, F32({2, 3}))},
                       {"reduce one axis",
                        [&](Problem& q) {
                          arg(q);
                          std::get<A>(q.attrs).axes = {0, 1};
                          q.outputs = {I64({1, 1})};
                        }},
                       {"argmin and argmax of nothing",
                        [&](Problem& q) {
                          arg(q);
                          q.inputs = {F32({2, 0})};
                        }},
                   });
}

TEST(ValidateProblem, GemmOfTwoHalves) {
  GemmAttrs halves;
  halves.halves = 2;
  auto p =
      ProblemOf(Family::kGemm, halves, 2, {F32({2, 3}), F32({3, 8}), F32({2, 4})}, {F32({2, 4})});
  ExprBuilder b;
  const uint16_t product = b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  p.epilogue = b.Finish({b.Binary(ExprOp::kAdd, product, b.Input(2, DType::kF32))});
  const auto set = [](int64_t n) { return Edit<GemmAttrs>([=](GemmAttrs& a) { a.halves = n; }); };
  ExpectRefused(p, {
                       {"0 halves, expected 1 or 2", set(0)},
                       {"3 halves, expected 1 or 2", set(3)},
                       {"two halves without an epilogue", [](Problem& q) { q.epilogue = {}; }},
                       {"do not give 2x4 in two halves", Input(1, F32({3, 4}))},
                       {"do not give 2x4 in two halves", Input(1, F32({3, 9}))},
                       {"an epilogue operand has shape", Input(2, F32({2, 8}))},
                       // Without halves, input 2 is an operand too many.
                       {"do not give", set(1)},
                       {"input",
                        [&](Problem& q) {
                          set(1)(q);
                          q.inputs[1] = F32({3, 4});
                        }},
                   });
}

TEST(ValidateProblem, GemmThatNormalisesRows) {
  GemmAttrs norm;
  norm.rms_epsilon = 1e-6;
  auto p =
      ProblemOf(Family::kGemm, norm, 3, {F32({2, 3}), F32({3, 4}), F32({2, 3})}, {F32({2, 4})});
  const auto set = [](double epsilon) {
    return Edit<GemmAttrs>([=](GemmAttrs& a) { a.rms_epsilon = epsilon; });
  };
  ExpectRefused(
      p, {
             {"epsilon inf, expected", set(std::numeric_limits<double>::infinity())},
             {"the gain has shape 2x4, expected 2x3", Input(2, F32({2, 4}))},
             {"which are not both f32, f16 or bf16", Input(2, DenseView(DType::kF64, {2, 3}))},
             {"which are not both f32, f16 or bf16",
              [](Problem& q) {
                q.inputs[0] = I64({2, 3});
                q.inputs[1] = I64({3, 4});
                q.outputs[0] = I64({2, 4});
              }},
             {"2 core inputs of 3, expected 3", [](Problem& q) { q.core_inputs = 2; }},
             // Without an epsilon, the gain is an operand too many.
             {"3 core inputs of 3, expected 2", set(AddedReal::kAbsent)},
         });
}

TEST(ValidateProblem, GemmThatSeesMoments) {
  GemmAttrs moments;
  moments.moments_epsilon = 1e-6;
  moments.stores_moments = 1;
  auto p =
      ProblemOf(Family::kGemm, moments, 2, {F32({2, 3}), F32({3, 4})}, {F32({2, 4}), F32({2, 2})});
  p.epilogue = *ParseExpr(
      "(%0 = in 0 : f32; %1 = in 1 : f32; %2 = in 2 : f32; %3 = fma %0 %1 %2 : f32) -> %3");
  const auto edit = [](auto change) { return Edit<GemmAttrs>(change); };
  ExpectRefused(
      p, {{"epsilon inf, expected",
           edit([](GemmAttrs& a) { a.moments_epsilon = std::numeric_limits<double>::infinity(); })},
          {"moments stored 2 times", edit([](GemmAttrs& a) { a.stores_moments = 2; })},
          {"moments stored, but not seen",
           [](Problem& q) {
             std::get<GemmAttrs>(q.attrs).moments_epsilon = AddedReal::kAbsent;
             q.epilogue = {};
             q.outputs.resize(1);
           }},
          {"moments of rows that are normalised",
           [](Problem& q) {
             std::get<GemmAttrs>(q.attrs).rms_epsilon = 1e-6;
             q.inputs.push_back(q.inputs[0]);
             q.core_inputs = 3;
           }},
          {"moments of rows that are normalised or have scales",
           [](Problem& q) {
             std::get<GemmAttrs>(q.attrs).scale_terms = 3;
             q.inputs.push_back(F32({2, 1}));
             q.inputs.push_back(F32({1, 4}));
             q.core_inputs = 4;
           }},
          {"moments of f64",
           [](Problem& q) {
             q.inputs = {DenseView(DType::kF64, {2, 3}), DenseView(DType::kF64, {3, 4})};
           }},
          {"moments of no terms",
           [](Problem& q) {
             q.inputs = {F32({2, 0}), F32({0, 4})};
           }},
          {"moments without an epilogue", [](Problem& q) { q.epilogue = {}; }},
          {"moments without an output of their own", [](Problem& q) { q.outputs.resize(1); }},
          {"moments stored in f16",
           [](Problem& q) {
             q.outputs[1] = DenseView(DType::kF16, {2, 2});
           }},
          {"the moments has shape 2x3, expected 2x2",
           [](Problem& q) {
             q.outputs[1] = F32({2, 3});
           }},
          // Without the output for them, one result is missing.
          {"1 results for 2 outputs",
           [](Problem& q) {
             std::get<GemmAttrs>(q.attrs).stores_moments = 0;
             q.outputs[1] = F32({2, 4});
           }},
          {"outputs have different shapes", [](Problem& q) {
             q.outputs.insert(q.outputs.begin() + 1, F32({2, 3}));
             q.epilogue.results.push_back(q.epilogue.results[0]);
           }}});
  EXPECT_EQ(RawInputs(p), 3);
  EXPECT_EQ(SumInputs(p), 1);
  EXPECT_EQ(ResultCount(p), 1u);
}

TEST(ValidateProblem, GemmThatReadsMomentsOfParts) {
  GemmAttrs moments;
  moments.moments_epsilon = 1e-6;
  moments.part_terms = 3;
  auto p =
      ProblemOf(Family::kGemm, moments, 3, {F32({2, 6}), F32({6, 4}), F32({2, 4})}, {F32({2, 4})});
  p.epilogue = *ParseExpr(
      "(%0 = in 0 : f32; %1 = in 1 : f32; %2 = in 2 : f32; %3 = fma %0 %1 %2 : f32) -> %3");
  const auto terms = [](int64_t each) {
    return Edit<GemmAttrs>([=](GemmAttrs& a) { a.part_terms = each; });
  };
  ExpectRefused(p, {{"parts of 4 terms, which do not make up 6", terms(4)},
                    {"parts of -3 terms", terms(-3)},
                    {"3 core inputs of 3, expected 2", terms(0)},
                    {"the moments of parts has shape 2x4, expected 2x6", terms(2)},
                    {"3 core inputs of 3, expected 2",
                     Edit<GemmAttrs>([](GemmAttrs& a) { a.moments_epsilon = AddedReal::kAbsent; })},
                    {"parts without moments",
                     [](Problem& q) {
                       std::get<GemmAttrs>(q.attrs).moments_epsilon = AddedReal::kAbsent;
                       q.inputs.pop_back();
                       q.core_inputs = 2;
                     }},
                    {"too many parts",
                     [](Problem& q) {
                       constexpr int64_t kMany = int64_t{1} << 62;
                       std::get<GemmAttrs>(q.attrs).part_terms = 1;
                       q.inputs[0] = {DType::kF32, {1, kMany}, {0, 0}, 0};
                       q.inputs[1] = {DType::kF32, {kMany, 1}, {0, 0}, 0};
                       q.inputs[2] = F32({1, 4});
                       q.outputs[0] = F32({1, 1});
                     }},
                    {"moments of parts in f16, expected f32", [](Problem& q) {
                       q.inputs[2] = DenseView(DType::kF16, {2, 4});
                     }}});
  EXPECT_TRUE(ReadsParts(p));
  EXPECT_EQ(RawInputs(p), 3);
}

TEST(ValidateProblem, GemmThatStoresMomentsOfParts) {
  GemmAttrs attrs;
  attrs.part_columns = 2;
  const auto p =
      ProblemOf(Family::kGemm, attrs, 2, {F32({2, 3}), F32({3, 6})}, {F32({2, 6}), F32({2, 6})});
  const auto columns = [](int64_t each) {
    return Edit<GemmAttrs>([=](GemmAttrs& a) { a.part_columns = each; });
  };
  ExpectRefused(p, {{"parts of 4 columns, which do not make up 6", columns(4)},
                    {"parts of -1 columns", columns(-1)},
                    {"the moments of parts has shape 2x6, expected 2x4", columns(3)},
                    {"1 results for 2 outputs", columns(0)},
                    {"moments of parts in f16, expected f32",
                     [](Problem& q) {
                       q.outputs[1] = DenseView(DType::kF16, {2, 6});
                     }},
                    {"moments of parts without an output of their own",
                     [](Problem& q) { q.outputs.pop_back(); }},
                    {"parts of 2 columns, which do not make up 0",
                     [](Problem& q) {
                       q.inputs[1] = F32({3, 0});
                       q.outputs = {F32({2, 0}), F32({2, 0})};
                     }},
                    {"moments of parts of f64, not f32, f16 or bf16",
                     [](Problem& q) {
                       q.inputs = {DenseView(DType::kF64, {2, 3}), DenseView(DType::kF64, {3, 6})};
                       q.outputs[0] = DenseView(DType::kF64, {2, 6});
                     }},
                    {"stores both moments and moments of parts", [](Problem& q) {
                       auto& a = std::get<GemmAttrs>(q.attrs);
                       a.moments_epsilon = 1e-6;
                       a.stores_moments = 1;
                       q.outputs[1] = F32({2, 2});
                       q.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
                     }}});
  EXPECT_TRUE(StoresParts(p));
  EXPECT_EQ(ResultCount(p), 1u);
}

TEST(ValidateProblem, GemmWithScalesOfBlocks) {
  GemmAttrs scales;
  scales.scale_terms = 4;
  scales.scale_columns = 3;
  const auto f8 = [](const Dims& shape) { return DenseView(DType::kF8E4M3FN, shape); };
  const auto p =
      ProblemOf(Family::kGemm, scales, 4,
                {f8({2, 5, 10}), f8({2, 10, 7}), F32({2, 5, 3}), F32({2, 3, 3})}, {F32({2, 5, 7})});
  const auto set = [](int64_t terms, int64_t columns) {
    return Edit<GemmAttrs>([=](GemmAttrs& a) {
      a.scale_terms = terms;
      a.scale_columns = columns;
    });
  };
  const char* floats = "which are no floats with products in f32";
  constexpr int64_t kLimit = int64_t{1} << 31;
  ExpectRefused(p,
                {
                    {"scales of -1 terms", set(-1, 3)},
                    {"scales of 2147483648 terms", set(kLimit, 3)},
                    {"scales of 0 columns", set(4, 0)},
                    {"scales of 2147483648 columns", set(4, kLimit)},
                    {"4 core inputs of 4, expected 2", set(0, 1)},
                    {"2 core inputs of 4, expected 4", [](Problem& q) { q.core_inputs = 2; }},
                    {"scales of columns without terms",
                     [&](Problem& q) {
                       set(0, 3)(q);
                       q.core_inputs = 2;
                       q.inputs.resize(2);
                     }},
                    {"scales of rows that are normalised",
                     [](Problem& q) {
                       std::get<GemmAttrs>(q.attrs).rms_epsilon = 1e-6;
                       q.core_inputs = 5;
                       q.inputs.push_back(F32({2, 5, 10}));
                     }},
                    {floats,
                     [](Problem& q) {
                       q.inputs[0] = I64({2, 5, 10});
                       q.inputs[1] = I64({2, 10, 7});
                       q.outputs[0] = I64({2, 5, 7});
                     }},
                    {floats,
                     [](Problem& q) {
                       q.inputs[0] = DenseView(DType::kF64, {2, 5, 10});
                       q.inputs[1] = DenseView(DType::kF64, {2, 10, 7});
                       q.outputs[0] = DenseView(DType::kF64, {2, 5, 7});
                     }},
                    {"A's scales has shape 2x5x2, expected 2x5x3", Input(2, F32({2, 5, 2}))},
                    {"B's scales has shape 2x3x7, expected 2x3x3", Input(3, F32({2, 3, 7}))},
                    {"scales are f16, expected f32", Input(2, DenseView(DType::kF16, {2, 5, 3}))},
                    {"scales are f64, expected f32", Input(3, DenseView(DType::kF64, {2, 3, 3}))},
                });
}

TEST(ValidateProblem, Gemm) {
  auto p = ProblemOf(Family::kGemm, GemmAttrs{}, 2,
                     {F32({5, 2, 3}), F32({5, 3, 4}), F32({5, 2, 4})}, {F32({5, 2, 4})});
  p.epilogue = Sum();
  ExpectRefused(p, {
                       {"1 core inputs of 3, expected 2", [](Problem& q) { q.core_inputs = 1; }},
                       {"ranks differ",
                        [](Problem& q) {
                          q.inputs.assign(3, F32({2}));
                          q.outputs = {F32({2})};
                        }},
                       {"ranks differ", Input(0, F32({2, 3}))},
                       {"ranks differ", Input(1, F32({3, 4}))},
                       {"batch axis 0 differs", Input(0, F32({4, 2, 3}))},
                       {"batch axis 0 differs", Input(1, F32({4, 3, 4}))},
                       {"do not give", Input(0, F32({5, 3, 3}))},
                       {"do not give", Input(0, F32({5, 2, 2}))},
                       {"do not give", Input(1, F32({5, 3, 5}))},
                       {"do not multiply", Input(1, DenseView(DType::kI32, {5, 3, 4}))},
                       {"an epilogue operand has shape", Input(2, F32({5, 4, 2}))},
                   });
}

TEST(ValidateProblem, Conv) {
  using A = ConvAttrs;
  const auto p = ProblemOf(Family::kConv, A{{2, 1}, {1, 1}, {1, 0}, {1, 0}, 2, false}, 2,
                           {F32({1, 4, 9, 5}), F32({6, 2, 3, 1})}, {F32({1, 6, 5, 5})});
  const auto of_rank = [](int rank) {
    return [rank](Problem& q) {
      q.inputs.assign(2, F32(Dims::Filled(rank, 1)));
      q.outputs = {F32(Dims::Filled(rank, 1))};
      std::get<A>(q.attrs).group = 1;
    };
  };
  // Along the first spatial axis alone, everything else 1.
  const auto line = [](int64_t x, int64_t kernel, int64_t y, A a) {
    return [=](Problem& q) {
      q.inputs = {Repeated({1, 1, x}), Repeated({1, 1, kernel})};
      q.outputs = {DenseView(DType::kF32, {1, 1, y})};
      q.attrs = a;
    };
  };
  ExpectRefused(p, {
                       {"ranks of x, weights, output differ", Input(1, F32({6, 2, 3}))},
                       {"ranks of x, weights, output differ", Output(0, F32({1, 6, 25}))},
                       {"spatial rank 0, expected", of_rank(2)},
                       {"spatial rank 4, expected", of_rank(6)},
                       {"rank is not the spatial rank", Edit<A>([](A& a) { a.strides = {2}; })},
                       {"rank is not the spatial rank", Edit<A>([](A& a) { a.dilations = {1}; })},
                       {"rank is not the spatial rank", Edit<A>([](A& a) { a.pads_begin = {1}; })},
                       {"rank is not the spatial rank", Edit<A>([](A& a) { a.pads_end = {1}; })},
                       {"stride 0", Edit<A>([](A& a) { a.strides[0] = 0; })},
                       {"stride 2147483648", Edit<A>([](A& a) { a.strides[0] = kBig; })},
                       {"dilation 0", Edit<A>([](A& a) { a.dilations[1] = 0; })},
                       {"dilation 2147483648", Edit<A>([](A& a) { a.dilations[1] = kBig; })},
                       {"pad -1", Edit<A>([](A& a) { a.pads_begin[0] = -1; })},
                       {"pad 2147483648", Edit<A>([](A& a) { a.pads_begin[0] = kBig; })},
                       {"pad -2", Edit<A>([](A& a) { a.pads_end[0] = -2; })},
                       {"pad 2147483648", Edit<A>([](A& a) { a.pads_end[0] = kBig; })},
                       {"group 0", Edit<A>([](A& a) { a.group = 0; })},
                       {"group 8 overflows",
                        [](Problem& q) {
                          q.inputs[1] = Repeated({1, int64_t{1} << 61, 1, 1});
                          std::get<A>(q.attrs).group = 8;
                        }},
                       {"batch of x and output differ", Output(0, F32({2, 6, 5, 5}))},
                       {"channels 6 -> 6", Input(0, F32({1, 6, 9, 5}))},
                       {"channels 4 -> 8", Output(0, F32({1, 8, 5, 5}))},
                       {"channels 4 -> 7",
                        [](Problem& q) {
                          q.inputs[1] = F32({7, 2, 3, 1});
                          q.outputs[0] = F32({1, 7, 5, 5});
                        }},
                       {"channels 3 -> 4",
                        [](Problem& q) {
                          q.inputs = {F32({1, 3, 5, 5}), F32({3, 2, 3, 1})};
                          q.outputs = {F32({1, 4, 9, 5})};
                          std::get<A>(q.attrs).transposed = true;
                        }},
                       {"do not multiply", Input(1, DenseView(DType::kI8, {6, 2, 3, 1}))},
                       {"kernel 0", Input(1, F32({6, 2, 0, 1}))},
                       {"kernel 8589934593",
                        line(1, (int64_t{1} << 33) + 1, 1, A{{1}, {kBig - 1}, {0}, {0}, 1, false})},
                       {"leave the padded", Output(0, F32({1, 6, 6, 5}))},
                       {"extent overflows", line(INT64_MAX, 1, 1, A{{1}, {1}, {1}, {0}, 1, false})},
                       {"extent overflows",
                        line(1, 1, int64_t{1} << 40, A{{kBig - 1}, {1}, {0}, {0}, 1, false})},
                       {"kernel 17179869184", line(1, int64_t{1} << 34, (int64_t{1} << 32) + 1,
                                                   A{{kBig - 1}, {1}, {0}, {0}, 1, false})},
                   });
}

TEST(ValidateProblem, Pool) {
  using A = PoolAttrs;
  const auto p = ProblemOf(Family::kPool, A{PoolKind::kMax, {2}, {2}, {1}, {0}, {0}, false, 2}, 1,
                           {F32({1, 3, 8})}, {F32({1, 3, 4})});
  ExpectRefused(p, {
                       {"unknown kind", Edit<A>([](A& a) { a.kind = PoolKind::kCount; })},
                       {"ranks of x and output differ", Output(0, F32({1, 3, 4, 1}))},
                       {"stride 0", Edit<A>([](A& a) { a.strides = {0}; })},
                       {"kernel rank", Edit<A>([](A& a) {
                          a.kernel = {2, 2};
                        })},
                       {"batch or channels differ", Output(0, F32({2, 3, 4}))},
                       {"batch or channels differ", Output(0, F32({1, 2, 4}))},
                       {"exponent 0", Edit<A>([](A& a) { a.kind = PoolKind::kLp, a.p = 0; })},
                       {"a p-norm of i32",
                        [](Problem& q) {
                          std::get<A>(q.attrs).kind = PoolKind::kLp;
                          q.inputs[0].dtype = q.outputs[0].dtype = DType::kI32;
                        }},
                       {"kernel 0", Edit<A>([](A& a) { a.kernel = {0}; })},
                       {"kernel 8589934593", Edit<A>([](A& a) {
                          a.kernel = {(int64_t{1} << 33) + 1}, a.dilations = {kBig - 1};
                        })},
                       {"extent overflows",
                        [](Problem& q) {
                          q.outputs = {F32({1, 3, int64_t{1} << 40})};
                          std::get<A>(q.attrs).strides = {kBig - 1};
                        }},
                       {"extent overflows",
                        [](Problem& q) {
                          q.inputs = {Repeated({1, 1, INT64_MAX})};
                          q.outputs = {F32({1, 1, 4})};
                          std::get<A>(q.attrs).pads_end = {1};
                        }},
                       {"a window starts outside", Output(0, F32({1, 3, 5}))},
                   });
}

TEST(ValidateProblem, Normalize) {
  using A = NormalizeAttrs;
  const auto p = ProblemOf(Family::kNormalize, A{NormalizeKind::kSoftmax, {1}, 0}, 1, {F32({2, 3})},
                           {F32({2, 3})});
  ExpectRefused(p, {
                       {"needs a core input", [](Problem& q) { q.core_inputs = 0; }},
                       {"unknown kind", Edit<A>([](A& a) { a.kind = NormalizeKind::kCount; })},
                       {"needs an axis", Edit<A>([](A& a) { a.axes = {}; })},
                       {"axis 2 outside rank 2", Edit<A>([](A& a) { a.axes = {2}; })},
                       {"the output has shape", Output(0, F32({2, 1}))},
                   });
}

TEST(ValidateProblem, Resize) {
  ResizeAttrs attrs;
  attrs.scales = {1, 2};
  using A = ResizeAttrs;
  const auto p = ProblemOf(Family::kResize, attrs, 1, {F32({2, 3})}, {F32({2, 6})});
  ExpectRefused(p,
                {
                    {"unknown mode", Edit<A>([](A& a) { a.mode = ResizeMode::kCount; })},
                    {"unknown mode", Edit<A>([](A& a) { a.coordinates = CoordinateMode::kCount; })},
                    {"unknown mode", Edit<A>([](A& a) { a.nearest = NearestMode::kCount; })},
                    {"ranks of x, output and scales differ", Output(0, F32({2, 6, 1}))},
                    {"ranks of x, output and scales differ", Edit<A>([](A& a) { a.scales = {1}; })},
                    {"scale 0", Edit<A>([](A& a) { a.scales[1] = 0; })},
                    {"resizes nothing along axis 1", Input(0, F32({2, 0}))},
                });
}

TEST(ValidateProblem, TopK) {
  using A = TopKAttrs;
  const auto p =
      ProblemOf(Family::kTopK, A{1, 2, true}, 1, {F32({2, 3})}, {F32({2, 2}), I64({2, 2})});
  ExpectRefused(p, {
                       {"needs two outputs", [](Problem& q) { q.outputs.pop_back(); }},
                       {"axis -1", Edit<A>([](A& a) { a.axis = -1; })},
                       {"axis 2", Edit<A>([](A& a) { a.axis = 2; })},
                       {"k -1 above", Edit<A>([](A& a) { a.k = -1; })},
                       {"k 4 above", Edit<A>([](A& a) { a.k = 4; })},
                       {"values have another dtype", Output(0, DenseView(DType::kF16, {2, 2}))},
                       {"indices are not i64", Output(1, DenseView(DType::kI32, {2, 2}))},
                       {"the first output has shape", Output(0, F32({2, 3}))},
                       {"the second output has shape", Output(1, I64({2, 3}))},
                   });
}

}  // namespace
}  // namespace aicf::abi
