#include "compiler/passes/lowered/folded_taps.h"

#include <algorithm>

#include "base/checked.h"
#include "compiler/ir/views.h"

namespace aicf {
namespace {

constexpr int64_t kLinePieces = 8;  // of 16 bytes, in the copy engine's longest line

// How far windows are apart, in rows, if rows can be stored together; else 0.
int64_t RowsApart(const abi::Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  if (a.strides.rank() != 2 || a.strides[0] == 1 || a.dilations[0] != 1) return 0;
  const bool even = p.inputs[0].shape[2] % a.strides[0] == 0;
  return even && a.pads_begin[0] >= 0 && p.inputs[1].shape[2] > 1 ? a.strides[0] : 0;
}

// `length` elements of whole taps of `tap` elements each, with as many further taps as fill the
// line of 2, 4 or 8 pieces that holds them, where these are few; their weights are zero.
int64_t WholeLine(int64_t length, int64_t tap, int64_t piece) {
  int64_t line = 2 * piece;
  while (line < length && line < kLinePieces * piece) line *= 2;
  const bool few = length < line && length >= line * 3 / 4;
  return few && line % tap == 0 ? line : length;
}

Folded FoldedWith(const abi::Problem& p, int64_t piece, int64_t rows, int64_t apart,
                  bool zero_padding) {
  const auto& a = p.as<abi::ConvAttrs>();
  const int64_t stride = a.strides.back();
  const int64_t taps = p.inputs[1].shape.back();
  Folded f;
  f.channels = p.inputs[0].shape[1];
  f.rows = rows;
  f.apart = apart;
  while (f.channels * rows * stride % piece != 0) ++f.channels;
  f.length = WholeLine(taps * rows * f.channels, rows * f.channels, piece);
  f.width = (p.outputs[0].shape.back() - 1) * stride + f.length / (rows * f.channels);
  while (f.width * rows * f.channels % piece != 0) ++f.width;
  f.stride = stride * rows * f.channels;
  if (rows > 1) {
    f.first_group = CeilDiv(a.pads_begin[0], apart);
    f.shift = f.first_group * apart - a.pads_begin[0];
    f.groups = CeilDiv(p.inputs[1].shape[2] + f.shift, rows);
    f.height = p.outputs[0].shape[2] + (f.groups - 1) * f.Dilation();
  } else if (a.strides.rank() == 2) {
    f.groups = p.inputs[1].shape[2];
    if (!zero_padding) {
      f.first_group = a.pads_begin[0];
      f.height = (p.outputs[0].shape[2] - 1) * a.strides[0] + (f.groups - 1) * a.dilations[0] + 1;
    }
  }
  return f;
}

// Lines of the copy engine that one window takes.
int64_t LinesOf(const Folded& f, int64_t piece) {
  return f.groups * CeilDiv(f.length, kLinePieces * piece);
}

}  // namespace

bool HasFewChannels(const abi::Problem& p, int64_t piece) {
  if (p.family != abi::Family::kConv) return false;
  const abi::View& x = p.inputs[0];
  return x.shape[1] < piece && abi::ElementsOf(x) > 0;
}

bool FoldedAlongSum(DType weights) { return DTypeBytes(weights) != 2; }

std::string RefuseFolding(const abi::Problem& p) {
  const auto& a = p.as<abi::ConvAttrs>();
  if (a.transposed || a.group != 1 || a.strides.rank() > 2) {
    return "pattern: it is transposed, grouped, or has more than two spatial axes";
  }
  if (p.inputs[1].shape.back() == 1 || a.dilations.back() != 1) {
    return "pattern: the taps of the last axis are not neighbours";
  }
  if (a.pads_begin.back() < 0 || abi::ElementsOf(p.outputs[0]) == 0) {
    return "pattern: the padding is negative, or the output empty";
  }
  // With this limit no product of extents, strides and channels overflows.
  constexpr int64_t kMostReach = int64_t{1} << 27;
  for (int d = 0; d < a.strides.rank(); ++d) {
    if (std::max({a.strides[d], a.dilations[d], a.pads_begin[d]}) > kMostReach)
      return "pattern: the window reaches too far";
  }
  return {};
}

// The copy engine takes as long for a short line as for one of 128 bytes, so rows folded together
// pay if a window takes fewer lines then, and the product waits for the engine. On an H100,
// networks took 1 % longer with it at the few lines that a single picture has, while the first
// convolution of ResNet-50 takes 11 to 17 % less at 32 pictures. Groups that overlap make the
// stored input larger, which is small if it is one of codes: they take 24 of 52 us off that
// convolution and add 1 to the copy (bench/results/h100_quantized.md).
Folded FoldedOf(const abi::Problem& p, int64_t piece, bool zero_padding) {
  constexpr int64_t kManyLines = int64_t{1} << 19;
  Folded best = FoldedWith(p, piece, 1, 1, zero_padding);
  const int64_t windows = abi::ElementsOf(p.outputs[0]) / p.outputs[0].shape[1];
  if (windows < kManyLines / std::max<int64_t>(LinesOf(best, piece), 1)) return best;
  const bool codes = piece == kFoldedPieceBytes;
  const int64_t apart = RowsApart(p);
  const int64_t most = codes ? p.inputs[1].shape[2] + apart - 1 : apart;
  for (int64_t rows = apart; apart > 0 && rows <= most; rows += apart) {
    const Folded together = FoldedWith(p, piece, rows, apart, zero_padding);
    if (rows > apart && together.length > kLinePieces * piece) break;
    if (LinesOf(together, piece) < LinesOf(best, piece)) best = together;
  }
  return best;
}

Dims StoredShape(const Dims& shape, const Folded& f) {
  Dims stored = {shape[0]};
  for (int d = 2; d < shape.rank() - 1; ++d) stored.push_back(f.height > 0 ? f.height : shape[d]);
  stored.push_back(f.width);
  if (f.rows > 1) stored.push_back(f.rows);
  stored.push_back(f.channels);
  return stored;
}

abi::View StoredView(DType dtype, const Dims& stored, const Folded& f) {
  const int last = stored.rank() - 1;
  Dims order = {0, last};
  for (int d = 1; d < last; ++d) order.push_back(d);
  if (f.rows > 1) order = {0, last, 1, 3, 2};
  return ir::Permute(abi::DenseView(dtype, stored), order);
}

namespace {

// Every `apart` rows of the image [n, c, h, w] as a group, beginning with the `first`-th, at most
// `most` groups: [n, c, group, row, w].
abi::View InGroups(const abi::View& image, const Folded& f, int64_t first, int64_t most) {
  const Dims &x = image.shape, &s = image.strides;
  abi::View v = image;
  const int64_t groups = std::clamp<int64_t>(x[2] / f.apart - first, 0, std::max<int64_t>(most, 0));
  v.shape = {x[0], x[1], groups, f.apart, x[3]};
  v.strides = {s[0], s[1], s[2] * f.apart, s[2], s[3]};
  if (abi::ElementsOf(v) > 0) v.offset += first * v.strides[2];
  return v;
}

// A part of the image, and where in StoredView it begins.
struct StoredPart {
  abi::View image;
  Dims start;
};

// The parts of which the stored input consists; what they leave is padding. The image
// [n, c, spatial..] begins at `pad` of the last axis. There is one part or, where groups of rows
// overlap, one for each of the groups that a row is in: every `apart` rows of the image, as
// [n, c, group, row, w].
std::vector<StoredPart> StoredParts(const abi::View& image, const Folded& f, int64_t pad) {
  std::vector<StoredPart> parts;
  for (int64_t i = 0; i < (f.rows > 1 ? f.Dilation() : 1); ++i) {
    StoredPart part{image, Dims::Filled(image.shape.rank(), 0)};
    if (f.rows > 1) {
      // These rows are the i-th `apart` rows of a group that begins i groups earlier.
      const int64_t group = f.first_group - i, at = std::clamp<int64_t>(group, 0, f.height);
      part.image = InGroups(image, f, std::max<int64_t>(-group, 0), f.height - at);
      part.start = {0, 0, at, i * f.apart, 0};
    } else if (f.height > 0) {
      part.start[2] = std::min(f.first_group, f.height);
      part.image.shape[2] = std::min(part.image.shape[2], f.height - part.start[2]);
    }
    const int last = part.start.rank() - 1;
    int64_t& width = part.image.shape[last];
    width = std::clamp<int64_t>(f.width - pad, 0, width);
    part.start[last] = std::min(pad, f.width);
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

abi::Problem StoringCopy(const abi::Problem& p, const Folded& f, double fill) {
  const abi::View& image = p.inputs[0];
  abi::CopyAttrs attrs;
  attrs.has_fill = true;
  attrs.fill = fill;
  abi::Problem copy;
  copy.family = abi::Family::kCopy;
  copy.outputs = {StoredView(image.dtype, StoredShape(image.shape, f), f)};
  for (const StoredPart& part : StoredParts(image, f, p.as<abi::ConvAttrs>().pads_begin.back())) {
    attrs.starts.push_back(part.start);
    copy.inputs.push_back(part.image);
  }
  copy.attrs = attrs;
  copy.core_inputs = static_cast<int>(copy.inputs.size());
  return copy;
}

ir::Tensor FoldedWeights(const ir::Tensor& w, const Folded& f, bool along_sum) {
  const Dims& s = w.shape();
  const int64_t taps = s.back(), outputs = s[0], inputs = s[1];
  const int64_t rows = s.rank() == 4 ? s[2] : 1, groups = s.rank() == 4 ? f.groups : 1;
  const auto item = static_cast<size_t>(DTypeBytes(w.dtype()));
  std::vector<std::byte> bytes(static_cast<size_t>(groups * f.length * outputs) * item);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t c = 0; c < inputs; ++c) {
      for (int64_t at = 0; at < rows * taps; ++at) {
        const int64_t from = (o * inputs + c) * rows * taps + at;
        const int64_t row = at / taps + f.shift;
        const int64_t group = row / f.rows * f.length * outputs;
        const int64_t k = (at % taps * f.rows + row % f.rows) * f.channels + c;
        const int64_t to = group + (along_sum ? o * f.length + k : k * outputs + o);
        std::copy_n(w.bytes().data() + static_cast<size_t>(from) * item, item,
                    bytes.data() + static_cast<size_t>(to) * item);
      }
    }
  }
  const Dims shape = along_sum ? Dims{groups, outputs, f.length} : Dims{groups, f.length, outputs};
  return ir::Tensor::Own(w.dtype(), shape, std::move(bytes));
}

namespace {

abi::View FoldedWeightsView(const abi::View& w, const Folded& f, bool along_sum) {
  const int64_t outputs = w.shape[0];
  abi::View view = w;
  view.shape[1] = f.length;
  view.shape[w.shape.rank() - 1] = 1;
  if (f.rows > 1) view.shape[2] = f.groups;
  view.strides = Dims::Filled(w.shape.rank(), f.length * outputs);
  view.strides[0] = along_sum ? f.length : 1;
  view.strides[1] = along_sum ? 1 : outputs;
  return view;
}

}  // namespace

abi::Problem FoldedProblem(const abi::Problem& p, const Folded& f, bool along_sum) {
  abi::Problem out = p;
  abi::ConvAttrs a = p.as<abi::ConvAttrs>();
  const int last = a.strides.rank() - 1;
  a.strides[last] = 1;
  a.pads_begin[last] = a.pads_end[last] = 0;
  const abi::View stored = StoredView(p.inputs[0].dtype, StoredShape(p.inputs[0].shape, f), f);
  abi::View& x = out.inputs[0];
  x = stored;
  if (f.height > 0) a.pads_begin[0] = a.pads_end[0] = 0;
  if (f.rows > 1) {
    a.strides[0] = 1;
    a.dilations[0] = f.Dilation();
    x.shape = {stored.shape[0], 0, stored.shape[2], 0};
    x.strides = {stored.strides[0], stored.strides[1], stored.strides[2], 0};
  }
  x.shape[1] = f.length;
  x.shape[last + 2] = p.outputs[0].shape.back();
  x.strides[last + 2] = f.stride;
  out.attrs = a;
  out.inputs[1] = FoldedWeightsView(p.inputs[1], f, along_sum);
  return out;
}

}  // namespace aicf
