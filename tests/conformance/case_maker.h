/// The builders behind RandomCase: one per family, over shared pieces.
#pragma once

#include <vector>

#include "tests/conformance/cases.h"

namespace aicf::conformance {

inline const std::vector<DType> kAnyDType = {
    DType::kF32,    DType::kF32,        DType::kF16,    DType::kBF16,     DType::kF64,
    DType::kI8,     DType::kI16,        DType::kI32,    DType::kI64,      DType::kU8,
    DType::kU16,    DType::kU32,        DType::kU64,    DType::kBool,     DType::kI4,
    DType::kU4,     DType::kI2,         DType::kU2,     DType::kF8E4M3FN, DType::kF8E4M3FNUZ,
    DType::kF8E5M2, DType::kF8E5M2FNUZ, DType::kF8E8M0, DType::kF4E2M1};
inline const std::vector<DType> kFloatDType = {DType::kF32, DType::kF32,  DType::kF32,
                                               DType::kF16, DType::kBF16, DType::kF64};

/// Makes one case. Use once.
class CaseMaker {
 public:
  CaseMaker(Random& random, const CaseOptions& options) : random_(random), options_(options) {}

  Case Make(abi::Family family);

 private:
  using View = abi::View;

  /// Makes a case of the family: attributes, operands, data, tolerance. Each row of family.def has
  /// one specialisation, in a file *_cases.cc.
  template <abi::Family F>
  void Fresh();

  View In(DType dtype, const Dims& shape, bool repeat = true);
  View Out(DType dtype, const Dims& shape);
  /// Adds extras, an epilogue and outputs for a raw result of dtype `raw`.
  void Finish(DType raw, DType store, const Dims& shape);
  /// The epilogue relu(raw + extra), as real models have it. It enlarges no error, so that it suits
  /// any tolerance.
  void AddBias(DType raw, DType store, const Dims& shape);
  void AddEpilogue(DType raw, const Dims& shape);
  void Fill();
  /// Adds core inputs of the shape and, often, a prologue over them. Returns the prologue's dtype.
  DType Cores(const Dims& shape, const std::vector<DType>& dtypes);
  void ConvertCopied(DType dtype, const Dims& shape);
  void AddGain();
  void AddBlockScales();
  View Gain();
  void GatherTake();
  void GatherElements();
  void GatherPoints();
  void Score(const Dims& domain, DType raw);
  abi::Expr Middle(bool opens, const Dims& domain);
  void ScaleByGate(DType dtype, const Dims& shape);
  /// Blocks for rows of `length` elements. The bytes of a row are next to each other, while the
  /// rows have random strides.
  View BlockView(BlockFormat format, const Dims& rows, int64_t length);
  /// Random blocks with scales of ordinary size; their elements are whole numbers where the options
  /// ask for them.
  void FillBlocks(size_t buffer, BlockFormat format);
  View CacheView(DType dtype, const Dims& shape, bool repeats);
  View EngineView(DType dtype, const Dims& shape, bool repeat);
  void FillAttention(int64_t pool);
  void AppendingAttention();
  void FillDrawPlaces(int64_t table);
  void FillAppended();
  /// Writes NaN wherever the cache holds no valid key.
  void SpoilUnusedKeys();
  double MathUnit() const;
  /// Fills a buffer of the case with numbers drawn from low / parts, (low + 1) / parts, ...,
  /// high / parts.
  void FillSteps(size_t buffer, int64_t low, int64_t high, int64_t parts = 1);
  /// Fills a buffer with indices of all kinds: counted from the start, from the end, and out of
  /// range.
  void FillIndices(size_t buffer);
  /// Batch axes may repeat; the matrix is dense, transposed or anything.
  View MatrixView(DType dtype, const Dims& shape);
  abi::MathMode ProductMath();
  DType ProductDType();
  DType Partner(DType dtype);
  void FinishMoments(DType dtype, const Dims& shape, int64_t length);
  void ReadParts(int64_t length);
  void StoreParts();
  bool DrawsOneRow() const;
  void OneRow();
  void FewRows();
  void FinishProduct(DType dtype, const Dims& shape, int64_t length);
  void ConvAxis(abi::ConvAttrs& a, int spatial, Dims& x, Dims& w, Dims& y);
  /// A view whose channels are the innermost axis.
  View ChannelsLast(DType dtype, const Dims& shape, bool repeat);
  /// A view whose axes have the given order, outermost first. It is dense, or a window of something
  /// larger.
  View InOrder(DType dtype, const Dims& shape, const Dims& order, bool repeat);
  View FeatureView(DType dtype, const Dims& shape);
  /// A view in the model's order or with the output channels innermost, as the compiler stores
  /// constants for CUDA.
  View WeightView(DType dtype, const Dims& shape);

  Random& random_;
  const CaseOptions& options_;
  Case case_;
  abi::Problem& p_ = case_.problem;
};

// Declares the specialisations before any use, which would otherwise instantiate the template.
#define AICF_FAMILY(id, text, attrs, core, slots) \
  template <>                                     \
  void CaseMaker::Fresh<abi::Family::id>();
#include "kernels/abi/family.def"
#undef AICF_FAMILY

}  // namespace aicf::conformance
