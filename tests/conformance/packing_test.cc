// Every kernel of the registry that packs an operand: what it packs can be unpacked again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/float16.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "tests/conformance/cases.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::KernelInfo;
using abi::MathMode;
using abi::PackedLayout;
using abi::Problem;
using abi::Recovery;
using abi::View;

using Bytes = std::vector<std::byte>;

/// Calls f(coordinates, place in the buffer) for every element of a view.
template <class F>
void ForEachElement(const View& v, const F& f) {
  if (abi::ElementsOf(v) == 0) return;
  Dims at = Dims::Filled(v.shape.rank(), 0);
  for (bool more = true; more;) {
    int64_t place = v.offset;
    for (int d = 0; d < at.rank(); ++d) place += at[d] * v.strides[d];
    f(at, place);
    more = false;
    for (int d = at.rank() - 1; d >= 0 && !more; --d) {
      more = ++at[d] < v.shape[d];
      if (!more) at[d] = 0;
    }
  }
}

/// The bits of an element of 2 or 4 bytes.
uint32_t BitsAt(const Bytes& buffer, DType dtype, int64_t place) {
  uint32_t bits = 0;
  const auto size = static_cast<size_t>(DTypeBytes(dtype));
  std::memcpy(&bits, buffer.data() + static_cast<size_t>(place) * size, size);
  return bits;
}

float ValueOf(uint32_t bits, DType dtype) {
  if (dtype == DType::kF32) return std::bit_cast<float>(bits);
  const auto half = static_cast<uint16_t>(bits);
  return dtype == DType::kF16 ? F16ToF32(half) : BF16ToF32(half);
}

/// What unpacking gives for an element; not for kTransformed.
uint32_t Recovered(uint32_t bits, DType dtype, Recovery recovery, MathMode math) {
  if (!IsFloat(dtype)) return bits;
  const float value = ValueOf(bits, dtype);
  switch (recovery) {
    case Recovery::kBits:
    case Recovery::kTransformed:
      return bits;
    case Recovery::kNormal:
      return std::abs(value) < std::numeric_limits<float>::min() ? 0 : bits;
    case Recovery::kRounded:
      return std::bit_cast<uint32_t>(math == MathMode::kFp16 ? F16ToF32(F32ToF16(value))
                                                             : BF16ToF32(F32ToBF16(value)));
  }
  return bits;
}

/// Any bits, with many of those that are easily lost; or, for what only finite values come back
/// from, values in [-1, 1].
Bytes Constant(Random& random, const View& v, bool finite) {
  Bytes buffer(static_cast<size_t>(abi::ExtentOf(v)->end));
  const auto size = static_cast<size_t>(DTypeBytes(v.dtype));
  for (size_t at = 0; at + size <= buffer.size(); at += size) {
    auto bits = static_cast<uint32_t>(random.Int(0, UINT32_MAX));
    const uint32_t sign = bits & 0x80000000u;
    if (random.OneIn(8)) bits = sign | 0x7f800000u | (bits >> 9);  // NaN, of any payload
    if (random.OneIn(8)) bits = sign | (bits >> 9);                // too small to be normal
    if (random.OneIn(8)) bits = random.OneIn(2) ? sign : sign | 0x7f800000u;  // zero or infinity
    if (finite) bits = std::bit_cast<uint32_t>(static_cast<float>(random.Int(-4096, 4096)) / 4096);
    const float value = std::bit_cast<float>(bits);
    const uint16_t half =
        v.dtype == DType::kF16 && finite ? F32ToF16(value) : static_cast<uint16_t>(bits >> 16);
    std::memcpy(buffer.data() + at, size == 2 ? static_cast<const void*>(&half) : &bits, size);
  }
  return buffer;
}

/// The expected buffer: what the view names, everything else zero.
Bytes Expected(const Problem& p, size_t input, const Bytes& constant, Recovery recovery) {
  const View& v = p.inputs[input];
  const auto size = static_cast<size_t>(DTypeBytes(v.dtype));
  Bytes want(constant.size());
  ForEachElement(v, [&](const Dims&, int64_t place) {
    const uint32_t bits = Recovered(BitsAt(constant, v.dtype, place), v.dtype, recovery, p.math);
    std::memcpy(want.data() + static_cast<size_t>(place) * size, &bits, size);
  });
  return want;
}

/// Within 2^-19 of the largest value of the filter, which the first two axes name.
void ExpectNear(const View& v, const Bytes& got, const Bytes& constant) {
  std::map<std::pair<int64_t, int64_t>, double> largest;
  ForEachElement(v, [&](const Dims& at, int64_t place) {
    double& most = largest[{at[0], at[1]}];
    most = std::max<double>(most, std::abs(ValueOf(BitsAt(constant, v.dtype, place), v.dtype)));
  });
  ForEachElement(v, [&](const Dims& at, int64_t place) {
    const double want = ValueOf(BitsAt(constant, v.dtype, place), v.dtype);
    const double found = ValueOf(BitsAt(got, v.dtype, place), v.dtype);
    EXPECT_LE(std::abs(found - want), std::ldexp(largest[{at[0], at[1]}], -19)) << place;
  });
}

void CheckVariant(const KernelInfo& kernel, const Problem& p, const abi::Parameters& parameters,
                  size_t input, const PackedLayout& layout, Random& random) {
  // Values of blocks are read from what the products with blocks have packed.
  const std::string_view family = kernel.family == Family::kDequantize
                                      ? "cuda.blockgemm."
                                      : kernel.key.substr(0, kernel.key.rfind('.') + 1);
  EXPECT_TRUE(layout.name.starts_with(family))
      << layout.name << " is not named after the kernel's family";
  EXPECT_GT(layout.bytes, 0u);
  const bool transformed = layout.recovery == Recovery::kTransformed;
  const Bytes constant = Constant(random, p.inputs[input], transformed);
  // Packing writes its bytes, all of them, and none after them.
  Bytes packed(layout.bytes + 64, std::byte{0xcd});
  kernel.pack(p, parameters, static_cast<int>(input), constant.data(), packed.data());
  EXPECT_EQ(std::count(packed.end() - 64, packed.end(), std::byte{0xcd}), 64);
  packed.resize(layout.bytes);
  EXPECT_EQ(packed, abi::PackedInput(kernel, p, parameters, input, constant.data()));

  const Bytes back = abi::UnpackedInput(kernel, p, parameters, input, packed.data());
  if (transformed) return ExpectNear(p.inputs[input], back, constant);
  EXPECT_TRUE(back == Expected(p, input, constant, layout.recovery));
  EXPECT_TRUE(packed == abi::PackedInput(kernel, p, parameters, input, back.data()))
      << "what was unpacked packs into other bytes";
}

/// A kernel's name where it packs an input of the problem with these parameters.
void CheckKernel(const KernelInfo& kernel, const Problem& p, const abi::DeviceSpec& device,
                 Random& random, std::map<std::string_view, int>& checked) {
  std::set<std::string> layouts;  // candidates that pack alike are one case
  for (const abi::Candidate& c : abi::CandidatesOf(kernel, p, device)) {
    const abi::Parameters& parameters = c.variant.parameters;
    for (size_t k = 0; k < p.inputs.size(); ++k) {
      const auto layout = abi::LayoutOf(kernel, p, parameters, k);
      if (!layout || !layouts.insert(StrCat(k, layout->name)).second) continue;
      SCOPED_TRACE(
          StrCat(abi::VariantName(kernel.key, parameters), " input ", k, " ", ToString(p)));
      CheckVariant(kernel, p, parameters, k, *layout, random);
      ++checked[kernel.key];
    }
  }
}

/// A convolution that the transformed kernels take, which no random case is: 3 x 3, stride 1, many
/// channels.
Problem TransformedConv(Random& random, DType dtype) {
  abi::ConvAttrs a;
  a.strides = a.dilations = a.pads_begin = a.pads_end = {1, 1};
  const int64_t channels = random.Int(16, 40), filters = random.Int(1, 40);
  Problem p;
  p.family = Family::kConv;
  p.attrs = a;
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(dtype, {1, channels, 5, 7}),
              RandomView(random, dtype, {filters, channels, 3, 3}, false)};
  p.outputs = {abi::DenseView(dtype, {1, filters, 5, 7})};
  return p;
}

Problem ProblemOf(Family family, uint64_t seed, Random& random) {
  const DType dtypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  if (family == Family::kConv && seed % 20 == 0) return TransformedConv(random, dtypes[seed % 3]);
  CaseOptions o;
  if (seed % 2 == 1) o.math = {MathMode::kFp16, MathMode::kBf16};
  return RandomCase(family, seed, o).problem;
}

TEST(Packing, EveryKernelThatPacksUnpacksTheSame) {
  std::map<std::string_view, int> checked;
  Random random(7);
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    const auto family = static_cast<Family>(f);
    const auto packs = [](const KernelInfo& k) { return k.packed != nullptr; };
    if (std::ranges::none_of(abi::KernelsOf(family), packs)) continue;
    for (uint64_t seed = 0; seed < 600; ++seed) {
      const Problem p = ProblemOf(family, seed, random);
      ASSERT_TRUE(abi::ValidateProblem(p).ok()) << ToString(p);
      for (const KernelInfo& kernel : abi::KernelsOf(family)) {
        if (!packs(kernel)) continue;
        const bool cpu = kernel.backend == abi::Backend::kCpu;
        // Packing needs no instruction set: what any CPU may pack is packed here.
        const abi::DeviceSpec device = *abi::FindDevice(cpu ? "cpu:avx512" : "cuda");
        if (!kernel.supports(p, device).empty()) continue;
        CheckKernel(kernel, p, device, random, checked);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  for (const auto& [key, count] : checked) {
    RecordProperty(std::string(key), count);
  }
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    for (const KernelInfo& k : abi::KernelsOf(static_cast<Family>(f))) {
      if (k.packed == nullptr) continue;
      ASSERT_NE(k.unpack, nullptr) << k.key;
      EXPECT_GE(checked[k.key], 3) << k.key << " met too few operands to pack";
    }
  }
}

}  // namespace
}  // namespace aicf::conformance
