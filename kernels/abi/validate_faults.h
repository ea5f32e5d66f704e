/// For tests: a valid problem, and edits of it that each break one rule.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::abi::testing {

inline View F32(const Dims& shape) { return DenseView(DType::kF32, shape); }
inline View I64(const Dims& shape) { return DenseView(DType::kI64, shape); }
/// A view that repeats one element: it may have any extent without needing memory for it.
inline View Repeated(const Dims& shape, DType dtype = DType::kF32) {
  return {dtype, shape, Dims::Filled(shape.rank(), 0), 0};
}

template <class A>
Problem ProblemOf(Family family, A attrs, int core, std::vector<View> inputs,
                  std::vector<View> outputs) {
  Problem p;
  p.family = family;
  p.attrs = std::move(attrs);
  p.core_inputs = core;
  p.inputs = std::move(inputs);
  p.outputs = std::move(outputs);
  return p;
}

struct Fault {
  std::string_view sentence;  ///< part of the error that names the rule
  std::function<void(Problem&)> edit;
};

inline void ExpectRefused(const Problem& valid, const std::vector<Fault>& faults) {
  ASSERT_EQ(ValidateProblem(valid).message(), "");
  for (size_t i = 0; i < faults.size(); ++i) {
    Problem p = valid;
    faults[i].edit(p);
    const Status status = ValidateProblem(p);
    EXPECT_EQ(status.code(), Code::kBadArtifact) << i << ", expected: " << faults[i].sentence;
    EXPECT_NE(status.message().find(faults[i].sentence), std::string::npos)
        << i << ", expected: " << faults[i].sentence << "\nfound: " << status.message();
  }
}

/// An edit of the attributes.
template <class A>
std::function<void(Problem&)> Edit(std::function<void(A&)> edit) {
  return [edit](Problem& p) { edit(std::get<A>(p.attrs)); };
}
/// Other operands.
inline std::function<void(Problem&)> Input(size_t i, const View& view) {
  return [=](Problem& p) { p.inputs[i] = view; };
}
inline std::function<void(Problem&)> Output(size_t i, const View& view) {
  return [=](Problem& p) { p.outputs[i] = view; };
}

}  // namespace aicf::abi::testing
