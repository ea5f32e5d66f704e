#include "tools/verify/product_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/abi/kernel.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/expr/scalar_eval.h"
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

/// A product of floats with blocks. Rows that are normalised and then become integers are left out:
/// what their rounding can do does not follow from the operand alone.
bool IsBlockProduct(const Problem& problem) {
  if (problem.family != Family::kBlockGemm) return false;
  return problem.math != abi::MathMode::kInt8 || !abi::NormalizesRows(problem);
}

bool IsSum(const Problem& problem) {
  if (problem.family != Family::kReduce || !HasSignBit(abi::RawDType(problem))) return false;
  const abi::ReduceKind kind = problem.as<abi::ReduceAttrs>().kind;
  return kind == abi::ReduceKind::kSum || kind == abi::ReduceKind::kMean;
}

/// The product or sum without its epilogue, as a dense tensor of its raw dtype. A product of two
/// halves (GemmAttrs::halves) becomes one with the columns of both.
Problem CoreOf(const Problem& problem) {
  Problem core = problem;
  core.epilogue = {};
  if (abi::ReadsParts(problem)) core.core_inputs = 2;
  core.inputs.resize(static_cast<size_t>(core.core_inputs));
  Dims shape = problem.outputs[0].shape;
  if (core.family == Family::kGemm) {
    auto& attrs = std::get<abi::GemmAttrs>(core.attrs);
    attrs.moments_epsilon = abi::AddedReal::kAbsent;
    attrs.stores_moments = attrs.part_terms = attrs.part_columns = 0;
  }
  if (abi::SumInputs(problem) > 1) {
    if (core.family == Family::kGemm) std::get<abi::GemmAttrs>(core.attrs).halves = 1;
    if (core.family == Family::kBlockGemm) std::get<abi::BlockGemmAttrs>(core.attrs).halves = 1;
    shape[shape.rank() - 1] *= 2;
  }
  core.outputs = {abi::DenseView(abi::RawDType(problem), shape)};
  return core;
}

/// Replaces each element of the rows of A by the largest magnitude of its group: what the rounding
/// to integers of 8 bits is relative to.
void TakeLargestOfGroups(const abi::View& a, Bytes& bytes) {
  constexpr int64_t kGroup = 32;
  const int64_t step = a.strides.back() * DTypeBytes(a.dtype);
  Dims rows = a.shape;
  const int64_t length = rows.back();
  rows[rows.rank() - 1] = 1;
  cpu::ForEachIndex(rows, [&](const int64_t* at) {
    int64_t first = a.offset;
    for (int axis = 0; axis < rows.rank(); ++axis) first += at[axis] * a.strides[axis];
    std::byte* const row = bytes.data() + first * DTypeBytes(a.dtype);
    for (int64_t begin = 0; begin < length; begin += kGroup) {
      const int64_t end = std::min(length, begin + kGroup);
      cpu::Scalar largest = cpu::LoadScalar(row + begin * step, a.dtype);
      for (int64_t k = begin; k < end; ++k) {
        const cpu::Scalar x = cpu::LoadScalar(row + k * step, a.dtype);
        if (x.f > largest.f) largest = x;
      }
      for (int64_t k = begin; k < end; ++k) cpu::StoreScalar(row + k * step, a.dtype, largest);
    }
  });
}

/// The magnitudes of the elements that rows of blocks stand for, as a dense f32 matrix.
Bytes DecodedMagnitudes(const abi::View& blocks, BlockFormat format, const std::byte* from,
                        int64_t length) {
  Problem p;
  p.family = Family::kDequantize;
  p.attrs = abi::DequantizeAttrs{format};
  p.inputs = {blocks};
  p.core_inputs = 1;
  p.outputs = {abi::DenseView(DType::kF32, {blocks.shape[0], length})};
  const auto bytes = static_cast<size_t>(4 * blocks.shape[0] * length);
  const Bytes decoded = Run(p, {const_cast<std::byte*>(from)}, bytes);  // only read
  return Absolute(decoded.data(), decoded.size(), DType::kF32);
}

/// The product `core` with blocks, with the magnitudes of both factors: a product of floats,
/// because the bytes of blocks have no signs to clear. `absolute` has the magnitudes of A and of a
/// gain.
Bytes BlockMagnitude(const Problem& core, std::vector<void*> absolute, const std::byte* blocks,
                     size_t bytes) {
  const auto& attrs = core.as<abi::BlockGemmAttrs>();
  const abi::View& a = core.inputs[0];
  const int64_t length = a.shape.back(), columns = core.inputs[1].shape[0];
  Bytes b = DecodedMagnitudes(core.inputs[1], attrs.format, blocks, length);
  Problem p = core;
  p.family = Family::kGemm;
  p.math = abi::MathMode::kFp32;
  abi::GemmAttrs gemm;
  gemm.rms_epsilon = attrs.rms_epsilon;
  p.attrs = gemm;
  // Every matrix of a batch is multiplied with the one matrix of blocks.
  abi::View& view = p.inputs[1] = a;
  view.dtype = DType::kF32;
  view.offset = 0;
  for (int axis = 0; axis < a.shape.rank(); ++axis) view.strides[axis] = 0;
  const int k = a.shape.rank() - 2;
  view.shape[k] = length;
  view.strides[k] = 1;
  view.shape[k + 1] = columns;
  view.strides[k + 1] = length;
  absolute[1] = b.data();
  return Run(p, std::move(absolute), bytes);
}

/// The same sum, but over the magnitudes of the prologue's results.
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

/// If the epilogue reads the moments of rows: the mean and the scale of its row for every result,
/// as two dense tensors. Otherwise empty.
std::vector<Bytes> MomentsOf(const Problem& problem, std::vector<void*> operands) {
  if (!abi::SeesMoments(problem)) return {};
  Problem p = problem;
  auto& attrs = std::get<abi::GemmAttrs>(p.attrs);
  attrs.stores_moments = attrs.part_columns = 0;
  p.inputs.resize(static_cast<size_t>(p.core_inputs));
  abi::ExprBuilder b;
  const int sums = abi::SumInputs(problem);
  const DType raw = abi::RawDType(problem);
  p.epilogue = b.Finish({b.Input(sums, raw), b.Input(sums + 1, raw)});
  p.outputs.assign(2, abi::DenseView(raw, problem.outputs[0].shape));
  const auto bytes = static_cast<size_t>(abi::ElementsOf(p.outputs[0]) * DTypeBytes(raw));
  std::vector<Bytes> moments(2, Bytes(bytes));
  for (Bytes& m : moments) operands.push_back(m.data());
  cpu::RunSerial(abi::ReferenceKey(p.family), p, operands.data());
  return moments;
}

/// Views of the inputs that the epilogue reads first: each raw result of the core, then the moments
/// if it reads them.
std::vector<abi::View> RawViews(const Problem& problem) {
  const Dims& shape = problem.outputs[0].shape;
  const int raws = abi::SumInputs(problem);
  abi::View view = abi::DenseView(abi::RawDType(problem), shape);
  const int64_t columns = raws > 1 ? shape.back() : 0;
  for (int axis = 0; raws > 1 && axis < shape.rank() - 1; ++axis) view.strides[axis] *= 2;
  std::vector<abi::View> views(static_cast<size_t>(raws), view);
  views.back().offset = columns;
  if (abi::SeesMoments(problem)) views.resize(views.size() + 2, abi::DenseView(view.dtype, shape));
  return views;
}

/// The epilogue as an elementwise step on the raw results and the further operands.
Problem EpilogueOf(const Problem& problem) {
  Problem e;
  e.family = Family::kElementwise;
  e.attrs = abi::ElementwiseAttrs{};
  const DType raw = abi::RawDType(problem);
  e.inputs = RawViews(problem);
  e.inputs.insert(e.inputs.end(), problem.inputs.begin() + problem.core_inputs,
                  problem.inputs.end());
  e.core_inputs = static_cast<int>(e.inputs.size());
  for (size_t r = 0; r < abi::ResultCount(problem); ++r) {
    const abi::View& v = problem.outputs[r];
    e.outputs.push_back(abi::DenseView(v.dtype, v.shape));
  }
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

Bytes Shifted(const Problem& epilogue, const Bytes& raw, const Bytes& magnitude, double factor) {
  Bytes shifted = raw;
  if (epilogue.inputs[0].dtype == DType::kF64) {
    Shift<double>(shifted, magnitude, factor);
  } else {
    Shift<float>(shifted, magnitude, factor);
  }
  return shifted;
}

/// Runs the epilogue. `raws` has the buffer of each of RawViews; two may be the same buffer.
std::vector<Bytes> EpilogueAt(const Problem& epilogue, std::vector<Bytes*> raws,
                              const std::vector<const std::byte*>& extras) {
  std::vector<void*> addresses;
  for (Bytes* raw : raws) addresses.push_back(raw->data());
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

/// Widens the ranges [low, high] until they include the values.
void Include(const Bytes& values, DType dtype, Bytes& low, Bytes& high) {
  const auto item = static_cast<size_t>(DTypeBytes(dtype));
  const auto at = [&](const Bytes& bytes, size_t i) {
    return cpu::ScalarToDouble(cpu::LoadScalar(&bytes[i], dtype), abi::ComputeDType(dtype));
  };
  for (size_t i = 0; i < values.size(); i += item) {
    if (at(values, i) < at(low, i)) std::memcpy(&low[i], &values[i], item);
    if (at(values, i) > at(high, i)) std::memcpy(&high[i], &values[i], item);
  }
}

}  // namespace

std::optional<ProductBounds> BoundProduct(const Problem& problem,
                                          const std::vector<const std::byte*>& operands,
                                          const std::vector<size_t>& operand_bytes) {
  const bool blocks = IsBlockProduct(problem), product = blocks || IsProduct(problem);
  if (!product && !IsSum(problem)) return std::nullopt;
  const Problem core = CoreOf(problem);
  const auto bytes =
      static_cast<size_t>(abi::ElementsOf(core.outputs[0]) * DTypeBytes(core.outputs[0].dtype));
  const auto cores = static_cast<size_t>(core.core_inputs);
  std::vector<void*> plain, absolute;
  std::vector<Bytes> copies(cores);
  for (size_t k = 0; k < cores; ++k) {
    plain.push_back(const_cast<std::byte*>(operands[k]));  // only read
    const bool decoded = blocks && k == 1;
    if (product && !decoded) {
      copies[k] = Absolute(operands[k], operand_bytes[k], problem.inputs[k].dtype);
    }
    absolute.push_back(product ? copies[k].data() : plain[k]);
  }
  if (problem.math == abi::MathMode::kInt8) TakeLargestOfGroups(core.inputs[0], copies[0]);
  const Bytes raw = Run(core, plain, bytes);
  const Bytes magnitude = blocks ? BlockMagnitude(core, absolute, operands[1], bytes)
                                 : Run(product ? core : WithAbsoluteTerms(core), absolute, bytes);
  const std::vector<const std::byte*> extras(operands.begin() + problem.core_inputs,
                                             operands.end());
  const double factor = TermFactor(problem);
  const Problem epilogue = EpilogueOf(problem);
  Bytes low = Shifted(epilogue, raw, magnitude, -factor);
  Bytes high = Shifted(epilogue, raw, magnitude, factor);
  std::vector<void*> with_parts = plain;
  if (abi::ReadsParts(problem)) with_parts.push_back(const_cast<std::byte*>(operands[cores]));
  std::vector<Bytes> moments = MomentsOf(problem, with_parts);
  const auto at = [&](std::vector<Bytes*> sums) {
    for (Bytes& m : moments) sums.push_back(&m);
    return EpilogueAt(epilogue, sums, extras);
  };
  if (abi::SumInputs(problem) == 1) return ProductBounds{at({&low}), at({&high})};
  // With two halves, each end of the one half is combined with each end of the other.
  ProductBounds bounds{at({&low, &low}), at({&low, &low})};
  for (const auto& [first, second] : {std::pair{&low, &high}, {&high, &low}, {&high, &high}}) {
    const std::vector<Bytes> corner = at({first, second});
    for (size_t r = 0; r < corner.size(); ++r) {
      Include(corner[r], epilogue.outputs[r].dtype, bounds.low[r], bounds.high[r]);
    }
  }
  return bounds;
}

}  // namespace aicf::tools
