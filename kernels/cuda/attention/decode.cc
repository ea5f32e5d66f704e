// What is legal for cuda.attention.decode.
#include <algorithm>

#include "kernels/cuda/attention/hosts.h"

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Problem;

// Keys and values reach shared memory in pieces of 16 bytes.
std::string RefusePieces(const abi::View& v) {
  constexpr int64_t kPiece = AttentionDecodeHost::kPiece;
  if (v.shape[3] % kPiece != 0) {
    return StrCat("has heads of ", v.shape[3], " elements, no multiple of ", kPiece);
  }
  if (v.strides[3] != 1) {
    return StrCat("is not contiguous along a head: its stride is ", v.strides[3]);
  }
  if (v.offset % kPiece != 0) {
    return StrCat("begins at element ", v.offset, ", no multiple of ", kPiece);
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (v.shape[axis] > 1 && v.strides[axis] % kPiece != 0) {
      return StrCat("has a stride of ", v.strides[axis], " elements, no multiple of ", kPiece);
    }
  }
  return {};
}

// Rows that are appended are turned and stored in pieces, too.
std::string RefuseAppended(const Problem& p, const abi::AttentionShape& s) {
  if (!abi::AppendsRows(p)) return {};
  if (s.query_heads == 0) return "appends only beside queries";
  const int64_t pairs = p.as<abi::AttentionAttrs>().append_pairs;
  if (pairs % AttentionDecodeHost::kPiece != 0) {
    return StrCat("turns ", pairs, " pairs, no multiple of ", AttentionDecodeHost::kPiece);
  }
  const std::string_view names[] = {"q ", "new k ", "new v ", "next k ", "next v "};
  const abi::View* views[] = {&p.inputs[0], &p.inputs[static_cast<size_t>(s.new_keys)],
                              &p.inputs[static_cast<size_t>(s.new_values)],
                              &p.outputs[abi::kAttentionNextKeys],
                              &p.outputs[abi::kAttentionNextValues]};
  for (size_t i = 0; i < std::size(views); ++i) {
    const std::string pieces = RefusePieces(*views[i]);
    if (!pieces.empty()) return StrCat(names[i], pieces);
  }
  return {};
}

}  // namespace

int64_t AttentionDecodeHost::StaticBytes(const Problem& p, const abi::Parameters& c) {
  constexpr int64_t kInbox = 16;  // common/inbox.cuh
  return (abi::AppendsRows(p) ? 2 : 1) * c["warps"] * c["stages"] * 4 + kInbox;
}

std::string AttentionDecodeHost::Refusal(const Problem& p, const abi::DeviceSpec&) {
  const DType data = p.inputs[0].dtype;
  if (!(data == DType::kBF16 && p.math == MathMode::kBf16) &&
      !(data == DType::kF16 && p.math == MathMode::kFp16)) {
    return "multiplies bf16 in math mode bf16 and f16 in fp16 only";
  }
  const std::string refusal = RefuseHeads(p);
  if (!refusal.empty()) return refusal;
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  if (PackedRows(s) > kMaxRows) {
    return StrCat("takes at most ", kMaxRows,
                  " rows of the queries that read one key head, here are ", PackedRows(s));
  }
  if (s.keys > kMaxKeys) return StrCat("takes at most ", kMaxKeys, " keys, here are ", s.keys);
  constexpr std::string_view kNames[] = {"k ", "v "};
  for (size_t i = 0; i < 2; ++i) {
    const std::string pieces = RefusePieces(p.inputs[i + 1]);
    if (!pieces.empty()) return StrCat(kNames[i], pieces);
  }
  return RefuseAppended(p, s);
}

bool AttentionDecodeHost::ReadsAhead(const Problem& p, size_t input) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  const int i = static_cast<int>(input);
  if (abi::AppendsRows(p) && (i == 1 || i == 2)) return true;
  return i >= 0 && (i == s.lengths || i == s.table || i == s.origins);
}

bool AttentionDecodeHost::InPlace(const Problem& p, int input) {
  return abi::AppendsRows(p) && (input == 1 || input == 2) && SameElements(p, input);
}

int64_t AttentionDecodeHost::SharedBytes(const abi::AttentionShape& s, const abi::Parameters& c) {
  constexpr int64_t kPad = 8;
  const int64_t head = CeilDiv(s.head, 16) * 16 + kPad, value = CeilDiv(s.value_head, 16) * 16;
  const int64_t tiles = c["warps"] * c["stages"] * c["tile_keys"] * (head + value + kPad);
  // After its last key every warp leaves the sums, the maximum and the total of its rows where
  // queries, keys and values were. Behind that, a block receives 32 bytes from each block of the
  // cluster for every four results of its share (Part in attention/decode_merge.cuh).
  const int64_t rows = std::clamp<int64_t>(PackedRows(s), 1, kRows);
  const int64_t sums = c["warps"] * CeilDiv(rows * (value + kPad + 2), 4) * 16;
  const int64_t share = CeilDiv(rows * s.value_head / 4, c["split"]);
  const int64_t received = c["split"] > 1 ? c["split"] * share * 32 : 0;
  // Behind the queries lie a new key and a new value.
  const int64_t appended = s.new_keys >= 0 ? head + value + kPad : 0;
  const int64_t needed =
      std::max(CeilDiv((kRows * head + appended + tiles) * 2, 16) * 16, sums) + received;
  return std::max(needed, c["room"] * 1024);
}

std::string AttentionDecodeHost::Refuse(const Problem& p, const abi::Parameters& c,
                                        const abi::DeviceSpec& d) {
  std::string refusal = RefuseOddPower(c, "split");
  if (refusal.empty()) refusal = RefuseParts(c, "tile_keys", 16);
  if (!refusal.empty()) return refusal;
  const int64_t tiles = Tiles(abi::AttentionShapeOf(p), kRows);
  refusal = RefuseLaunch(Launch(p, c), tiles * c["split"], d);
  const int64_t shared = SharedBytes(abi::AttentionShapeOf(p), c) + StaticBytes(p, c);
  if (!refusal.empty() || shared <= d.max_shared_bytes) return refusal;
  return StrCat("needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
}

abi::LaunchConfig AttentionDecodeHost::Launch(const Problem& p, const abi::Parameters& c) {
  const abi::AttentionShape s = abi::AttentionShapeOf(p);
  abi::LaunchConfig l = Launch1d(Tiles(s, kRows) * c["split"], 32);
  l.block[1] = static_cast<uint32_t>(c["warps"]);
  l.cluster[0] = static_cast<uint32_t>(c["split"]);
  l.dynamic_shared_bytes = static_cast<uint32_t>(SharedBytes(s, c));
  return l;
}

}  // namespace aicf::cuda
