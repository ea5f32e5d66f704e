#include "tools/verify/product_bounds.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/abi/kernel.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/cpu/functions.h"
#include "tools/verify/step_tolerance.h"

namespace aicf::tools {
namespace {

using abi::Family;
using abi::Problem;
/// Clears the sign of every element.
Bytes Absolute(const std::byte* from, size_t bytes, DType dtype) {
  Bytes out(from, from + bytes);
  const auto item = static_cast<size_t>(DTypeBytes(dtype));
  for (size_t last = item - 1; last < bytes; last += item) out[last] &= std::byte{0x7f};
  return out;
}

bool HasSignBit(DType dtype) { return IsFloat(dtype) && !IsStorageOnly(dtype); }

Bytes Run(const Problem& problem, std::vector<void*> operands, size_t bytes) {
  Bytes out(bytes);
  operands.push_back(out.data());
  cpu::RunSerial(abi::ReferenceKey(problem.family), problem, operands.data());
  return out;
}

bool IsProduct(const Problem& problem) {
  return (problem.family == Family::kGemm || problem.family == Family::kConv) &&
         HasSignBit(problem.inputs[0].dtype) && HasSignBit(problem.inputs[1].dtype);
}

bool IsSum(const Problem& problem) {
  if (problem.family != Family::kReduce || !HasSignBit(abi::RawDType(problem))) return false;
  const abi::ReduceKind kind = problem.as<abi::ReduceAttrs>().kind;
  return kind == abi::ReduceKind::kSum || kind == abi::ReduceKind::kMean;
}

/// The product or sum alone, as a dense tensor of its raw dtype.
Problem CoreOf(const Problem& problem) {
  Problem core = problem;
  core.epilogue = {};
  core.inputs.resize(static_cast<size_t>(problem.core_inputs));
  core.outputs = {abi::DenseView(abi::RawDType(problem), problem.outputs[0].shape)};
  return core;
}

/// A sum of magnitudes: of the prologue's results.
Problem WithAbsoluteTerms(const Problem& sum) {
  Problem p = sum;
  abi::ExprBuilder b;
  std::vector<uint16_t> inputs;
  for (const abi::View& v : p.inputs) {
    inputs.push_back(b.Input(static_cast<int>(inputs.size()), abi::ComputeDType(v.dtype)));
  }
  const uint16_t term = p.prologue.empty() ? inputs[0] : b.Inline(p.prologue, inputs)[0];
  p.prologue = b.Finish({b.Unary(abi::ExprOp::kAbs, term)});
  return p;
}

/// The epilogue alone, of the raw result and the extras.
Problem EpilogueOf(const Problem& problem) {
  Problem e;
  e.family = Family::kElementwise;
  e.attrs = abi::ElementwiseAttrs{};
  const DType raw = abi::RawDType(problem);
  e.inputs = {abi::DenseView(raw, problem.outputs[0].shape)};
  e.inputs.insert(e.inputs.end(), problem.inputs.begin() + problem.core_inputs,
                  problem.inputs.end());
  e.core_inputs = static_cast<int>(e.inputs.size());
  for (const abi::View& v : problem.outputs) e.outputs.push_back(abi::DenseView(v.dtype, v.shape));
  e.epilogue = problem.epilogue;
  if (e.epilogue.empty()) {
    abi::ExprBuilder b;
    e.epilogue = b.Finish({b.Cast(b.Input(0, raw), abi::ComputeDType(e.outputs[0].dtype))});
  }
  return e;
}

template <class T>
void Shift(Bytes& raw, const Bytes& magnitude, double factor) {
  for (size_t at = 0; at < raw.size(); at += sizeof(T)) {
    T value, terms;
    std::memcpy(&value, &raw[at], sizeof value);
    std::memcpy(&terms, &magnitude[at], sizeof terms);
    value = static_cast<T>(static_cast<double>(value) + factor * static_cast<double>(terms));
    std::memcpy(&raw[at], &value, sizeof value);
  }
}

std::vector<Bytes> EpilogueAt(const Problem& epilogue, Bytes raw, const Bytes& magnitude,
                              double factor, const std::vector<const std::byte*>& extras) {
  if (epilogue.inputs[0].dtype == DType::kF64) {
    Shift<double>(raw, magnitude, factor);
  } else {
    Shift<float>(raw, magnitude, factor);
  }
  std::vector<void*> addresses = {raw.data()};
  for (const std::byte* extra : extras) {
    addresses.push_back(const_cast<std::byte*>(extra));  // only read
  }
  std::vector<Bytes> results;
  for (const abi::View& v : epilogue.outputs) {
    results.emplace_back(static_cast<size_t>(abi::ElementsOf(v) * DTypeBytes(v.dtype)));
  }
  for (Bytes& r : results) addresses.push_back(r.data());
  cpu::RunSerial(abi::ReferenceKey(Family::kElementwise), epilogue, addresses.data());
  return results;
}

}  // namespace

std::optional<ProductBounds> BoundProduct(const Problem& problem,
                                          const std::vector<const std::byte*>& operands,
                                          const std::vector<size_t>& operand_bytes) {
  const bool product = IsProduct(problem);
  if (!product && !IsSum(problem)) return std::nullopt;
  const Problem core = CoreOf(problem);
  const auto bytes =
      static_cast<size_t>(abi::ElementsOf(core.outputs[0]) * DTypeBytes(core.outputs[0].dtype));
  const auto cores = static_cast<size_t>(problem.core_inputs);
  std::vector<void*> plain, absolute;
  std::vector<Bytes> copies(cores);
  for (size_t k = 0; k < cores; ++k) {
    plain.push_back(const_cast<std::byte*>(operands[k]));  // only read
    if (product) copies[k] = Absolute(operands[k], operand_bytes[k], problem.inputs[k].dtype);
    absolute.push_back(product ? copies[k].data() : plain[k]);
  }
  const Bytes raw = Run(core, plain, bytes);
  const Bytes magnitude = Run(product ? core : WithAbsoluteTerms(core), absolute, bytes);
  const std::vector<const std::byte*> extras(operands.begin() + problem.core_inputs,
                                             operands.end());
  const double factor = TermFactor(problem);
  const Problem epilogue = EpilogueOf(problem);
  return ProductBounds{EpilogueAt(epilogue, raw, magnitude, -factor, extras),
                       EpilogueAt(epilogue, raw, magnitude, factor, extras)};
}

}  // namespace aicf::tools
