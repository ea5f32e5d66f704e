// Random problems of the categorical family. Top-p and min-p are numbers that no sum of equal
// masses meets, so that no case is decided by how a backend rounds.
#include <limits>

#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

/// Fills a buffer, which has one value per row, with values that are picked from a list.
template <class T>
void FillPicked(Random& random, std::vector<std::byte>& bytes, const std::vector<T>& values) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = random.Pick(values);
    __builtin_memcpy(bytes.data() + at, &value, sizeof value);
  }
}

}  // namespace

// Places in and around a table, no two of which are one. Where one place is that of all rows, it is
// outside.
void CaseMaker::FillDrawPlaces(int64_t table) {
  const abi::View& view = p_.inputs[abi::kDrawPlaces];
  const bool repeats = view.shape[0] > 1 && view.strides[0] == 0;
  std::vector<int32_t> places;
  for (int64_t place = repeats ? table : -2; place < table + 16; ++place) {
    places.push_back(static_cast<int32_t>(place));
  }
  for (int64_t b = 0; b < view.shape[0]; ++b) {
    const auto drawn = static_cast<size_t>(random_.Int(0, static_cast<int64_t>(places.size()) - 1));
    std::byte* const to =
        case_.buffers[abi::kDrawPlaces].data() + 4 * (view.offset + b * view.strides[0]);
    __builtin_memcpy(to, &places[drawn], 4);
    places.erase(places.begin() + static_cast<int64_t>(drawn));
  }
}

template <>
void CaseMaker::Fresh<abi::Family::kCategorical>() {
  const int64_t rows = random_.Int(random_.OneIn(20) ? 0 : 1, 6);
  const int64_t few = random_.Int(1, 70);
  const int64_t categories =
      random_.OneIn(2) ? few : random_.Int(1, std::max<int64_t>(2, options_.max_elements));
  p_.attrs = abi::CategoricalAttrs{};
  p_.inputs = {MatrixView(random_.Pick(std::vector<DType>{DType::kF32, DType::kF16, DType::kBF16}),
                          {rows, categories}),
               In(DType::kF32, {rows}),
               In(DType::kI32, {rows}),
               In(DType::kF32, {rows}),
               In(DType::kF32, {rows}),
               In(DType::kI64, {rows}),
               In(random_.OneIn(2) ? DType::kI32 : DType::kI64, {rows})};
  p_.core_inputs = 7;
  p_.outputs = {Out(DType::kI32, {rows})};
  if (random_.OneIn(2)) p_.outputs.push_back(Out(DType::kBool, {rows}));
  const int64_t table = random_.Int(random_.OneIn(9) ? 0 : 1, 12);
  const bool stores = random_.OneIn(2);
  if (stores) {
    abi::CategoricalAttrs attrs;
    attrs.stores = 1;
    p_.attrs = attrs;
    p_.inputs.insert(p_.inputs.end(), {In(DType::kI32, {table}), In(DType::kI32, {rows})});
    p_.core_inputs = 9;
    p_.outputs.push_back(Out(DType::kI32, {table}));
  }
  Fill();
  if (stores) FillDrawPlaces(table);
  FillSteps(0, -24, 24, 4);
  const auto k = static_cast<int32_t>(categories);
  FillPicked<float>(random_, case_.buffers[1], {0, 1, 1, 0.7f, 2.5f, -1});
  FillPicked<int32_t>(random_, case_.buffers[2], {0, 0, -3, 1, 2, 7, 40, k, 2 * k});
  FillPicked<float>(random_, case_.buffers[3], {1, 1, 2, 0, 0.3713f, 0.9137f, 0.5077f});
  FillPicked<float>(random_, case_.buffers[4], {0, 0, 0.0513f, 0.3571f, 1});
  FillPicked<int64_t>(random_, case_.buffers[5],
                      {0, 1, -1, 42, std::numeric_limits<int64_t>::min(), random_.Int(0, 1 << 30)});
  FillSteps(6, 0, 100000);
  if (random_.OneIn(5) && !case_.buffers[0].empty()) {
    // Spoils the first element in memory, which some row reads.
    const double spoiled = random_.Pick(std::vector<double>{
        std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()});
    cpu::StoreScalar(case_.buffers[0].data(), p_.inputs[0].dtype,
                     cpu::ScalarFromDouble(spoiled, DType::kF32));
  }
  case_.tolerance = {};
}

}  // namespace aicf::conformance
