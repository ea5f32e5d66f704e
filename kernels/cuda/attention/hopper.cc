#include "kernels/cuda/attention/hopper.h"

#include <algorithm>

namespace aicf::cuda {
namespace {

using abi::AttentionShape;
using abi::MathMode;
using abi::Problem;

constexpr int64_t kLine = 64;  // elements of a line of a tile in shared memory
constexpr int64_t kPiece = 8;  // elements of 16 bytes

int64_t Panels(int64_t head) { return CeilDiv(head, kLine); }

// Columns that the tensor cores take for a value; the same as
// ColumnsOfValue in attention/hopper_tile.cuh.
int64_t ColumnsOfValue(int64_t head) {
  for (int64_t columns : {16, 32, 40, 48, 64, 80, 96, 112, 128, 192}) {
    if (columns >= head) return columns;
  }
  return 256;
}

bool IsTileOfKeys(int64_t keys) { return keys % 16 == 0 && (keys <= 176 || keys == 192); }

std::string RefuseOperand(const abi::View& v) {
  if (v.shape[3] > 1 && v.strides[3] != 1) {
    return StrCat("is not contiguous along a head: its stride is ", v.strides[3]);
  }
  if (v.offset % kPiece != 0) {
    return StrCat("begins at element ", v.offset, ", no multiple of ", kPiece);
  }
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t stride = v.strides[axis];
    if (v.shape[axis] > 1 && (stride < 0 || stride % kPiece != 0)) {
      return StrCat("has a stride of ", stride, " elements, no multiple of ", kPiece);
    }
  }
  if (v.shape[2] > 1 && v.strides[2] == 0) return "repeats one row";
  return {};
}

// Registers of a consumer's thread that hold scores, weights, sums and operands of the scores.
int64_t Held(const Problem& p, const abi::Parameters& c) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  bool rows_differ = false;
  for (size_t k = static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
    const Dims& strides = p.inputs[k].strides;
    rows_differ = rows_differ || strides[2] != 0 || (c["pack"] != 0 && strides[1] != 0);
  }
  // With a single block of keys, no weights are held while the next scores are made.
  const int64_t operands = p.extra_inputs() * c["tile_keys"] / (rows_differ ? 2 : 4);
  const int64_t sums = c["tile_keys"] / 4 + ColumnsOfValue(s.value_head) / 2;
  const bool one_block = s.keys <= c["tile_keys"];
  return c["tile_keys"] / 2 + (one_block ? std::max(operands, sums) : operands + sums);
}

// Registers that a thread has for what Held counts, beside those for addresses, maxima
// and the like.
int64_t Room(const abi::Parameters& c) {
  constexpr int64_t kOthers = 32;
  constexpr int64_t kRegisters[] = {240, 240, 160, 112};  // by consumers: kConsumerRegisters
  if (c["producer"] != 0) return kRegisters[c["consumers"] - 1] - kOthers;
  return std::min<int64_t>(255, 65536 / (128 * c["consumers"] * c["per_sm"])) - kOthers;
}

// Empty, or why blocks of keys cannot be fetched from the pages. A block has to be whole pages or a
// part of one, in boxes that begin where a pattern of the swizzle does, at multiples of 8 keys.
std::string RefusePages(const AttentionShape& s, int64_t tile_keys) {
  if (s.page == 0) return {};
  if (s.page % 8 != 0) return StrCat("takes pages of a multiple of 8 keys, not of ", s.page);
  if (tile_keys % s.page == 0 || s.page % tile_keys == 0) return {};
  return StrCat("takes no blocks of ", tile_keys, " keys from pages of ", s.page);
}

std::string RefuseRoles(const AttentionShape& s, const abi::Parameters& c) {
  const int64_t blocks = CeilDiv(s.keys, c["tile_keys"]);
  if (c["producer"] != 0) {
    return c["per_sm"] == 1 || c["consumers"] == 1 ? ""
                                                   : "shares no multiprocessor with a producer";
  }
  if (c["fold"] != 0 || c["query_stages"] > 1) return "without a producer takes one tile";
  if (c["stages"] < blocks) {
    return StrCat("without a producer takes all ", blocks, " blocks of keys at once, not ",
                  c["stages"]);
  }
  if (c["blocks"] != AttentionHopperHost::Tiles(s, c)) {
    return StrCat("without a producer takes a block for each of ", AttentionHopperHost::Tiles(s, c),
                  " tiles, not ", c["blocks"]);
  }
  return {};
}

// Adds an axis to a map. An axis along which the operand repeats (stride 0) has a single element.
void AddAxis(abi::TensorMap& map, int64_t extent, int64_t stride, int64_t box) {
  const bool walked = extent > 1 && stride != 0;
  map.extents.push_back(walked ? extent : 1);
  map.strides.push_back(walked ? stride : kPiece);
  map.box.push_back(box);
  map.steps.push_back(1);
}

abi::TensorMap MapOf(uint32_t operand, const abi::View& v) {
  abi::TensorMap map;
  map.operand = operand;
  map.offset = v.offset;
  map.swizzle = abi::Swizzle::k128;
  map.extents = {v.shape[3]};
  map.strides = {1};
  map.box = {kLine};
  map.steps = {1};
  return map;
}

abi::TensorMap RowsMap(const Problem& p, uint32_t operand, int64_t rows) {
  const abi::View& v = p.inputs[operand];
  abi::TensorMap map = MapOf(operand, v);
  AddAxis(map, v.shape[2], v.strides[2], rows);
  AddAxis(map, v.shape[1], v.strides[1], 1);
  AddAxis(map, v.shape[0], v.strides[0], 1);
  return map;
}

abi::TensorMap QueryMap(const Problem& p, const abi::Parameters& c) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const abi::View& v = p.inputs[0];
  const int64_t rows = AttentionHopperHost::kWarpgroupRows * c["consumers"], group = s.group();
  abi::TensorMap map = MapOf(0, v);
  if (c["pack"] == 0) return RowsMap(p, 0, rows);
  AddAxis(map, group, v.strides[1], group);
  AddAxis(map, v.shape[2], v.strides[2], rows / group);
  AddAxis(map, s.key_heads, v.strides[1] * group, 1);
  AddAxis(map, v.shape[0], v.strides[0], 1);
  return map;
}

}  // namespace

int64_t AttentionHopperHost::SharedBytes(const AttentionShape& s, const abi::Parameters& c) {
  const int64_t query = c["query_stages"] * Panels(s.head) * kWarpgroupRows * c["consumers"];
  const int64_t stage = (Panels(s.head) + Panels(s.value_head)) * c["tile_keys"];
  return 1024 + (query + c["stages"] * stage) * kLine * 2 +
         8 * (2 * c["query_stages"] + 4 * c["stages"]) + (s.page == 0 ? 0 : 4 * c["stages"]);
}

std::string AttentionHopperHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (!d.warpgroup_products) return RefuseWithoutWarpgroups(d);
  const AttentionShape s = abi::AttentionShapeOf(p);
  const DType data = p.inputs[0].dtype;
  if (!(data == DType::kBF16 && p.math == MathMode::kBf16) &&
      !(data == DType::kF16 && p.math == MathMode::kFp16)) {
    return "multiplies bf16 in math mode bf16 and f16 in fp16 only";
  }
  const bool no_pool = s.page != 0 && s.pool == 0;
  if (s.batch == 0 || s.query_heads == 0 || s.rows == 0 || s.keys == 0 || s.head == 0 ||
      s.value_head == 0 || no_pool) {
    return "the problem is empty";
  }
  if (s.head > kMaxHead || s.value_head > kMaxHead) {
    return StrCat("takes heads of at most ", kMaxHead, " elements");
  }
  constexpr std::string_view kNames[] = {"q ", "k ", "v "};
  for (size_t i = 0; i < 3; ++i) {
    const std::string refusal = RefuseOperand(p.inputs[i]);
    if (!refusal.empty()) return StrCat(kNames[i], refusal);
  }
  return {};
}

std::string AttentionHopperHost::Refuse(const Problem& p, const abi::Parameters& c,
                                        const abi::DeviceSpec& d) {
  const AttentionShape s = abi::AttentionShapeOf(p);
  const int64_t rows = kWarpgroupRows * c["consumers"];
  if (!IsTileOfKeys(c["tile_keys"])) {
    return StrCat(c["tile_keys"], " keys are none that tensor cores take");
  }
  std::string refusal = RefusePages(s, c["tile_keys"]);
  if (!refusal.empty()) return refusal;
  if (c["pack"] != 0) {
    if (rows % s.group() != 0) {
      return StrCat("packs no ", s.group(), " heads into ", rows, " rows");
    }
    if (p.inputs[0].strides[1] == 0 && s.query_heads > 1) return "packs no repeated heads";
  }
  refusal = RefuseRoles(s, c);
  if (!refusal.empty()) return refusal;
  if (Held(p, c) > Room(c)) {
    return StrCat(Held(p, c), " values of a thread are above ", Room(c));
  }
  if (s.rows * Packed(s, c) > kMaxBlocks - rows) return "has too many rows";
  if (Tiles(s, c) > kMaxBlocks) return "needs more blocks than a grid has";
  if (SharedBytes(s, c) <= d.max_shared_bytes) return {};
  return StrCat("needs ", SharedBytes(s, c), " bytes of shared memory, there are ",
                d.max_shared_bytes);
}

abi::LaunchConfig AttentionHopperHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 128 * (c["consumers"] + c["producer"]));
  launch.dynamic_shared_bytes = static_cast<uint32_t>(SharedBytes(abi::AttentionShapeOf(p), c));
  return launch;
}

std::vector<abi::TensorMap> AttentionHopperHost::TensorMaps(const Problem& p,
                                                            const abi::Parameters& c) {
  const int64_t page = abi::AttentionShapeOf(p).page;
  const int64_t keys = page == 0 ? c["tile_keys"] : std::min(page, c["tile_keys"]);
  return {QueryMap(p, c), RowsMap(p, 1, keys), RowsMap(p, 2, keys)};
}

}  // namespace aicf::cuda
