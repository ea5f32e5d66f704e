// The vector variants. With channels last, they compute all channels of one output pixel at a time.
// With columns last, they compute one output row at a time: first the rows of the windows are
// combined into one, then the windows slide along it.
#include <algorithm>
#include <type_traits>

#include "base/checked.h"
#include "kernels/cpu/common/block_epilogue.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/pool/loops.h"
#include "kernels/cpu/pool/pool.h"
#include "kernels/cpu/pool/window.h"

namespace aicf::cpu {
namespace {

/// Work of one piece, in taps.
constexpr int64_t kPieceTaps = 65536;

class Pooling {
 public:
  Pooling(const abi::ArgBlock& args, const PoolLoops& loops)
      : args_(args),
        loops_(loops),
        g_(args),
        columns_last_(g_.in_stride[2] == 1 && (g_.channels == 1 || g_.channel_stride != 1)),
        x_(Input(args, 0)),
        bytes_(IsByteInteger(x_.dtype)),
        epilogue_(args, loops.eval, bytes_ ? x_.dtype : DType::kF32) {
    const auto& attrs = args.problem->as<abi::PoolAttrs>();
    maximum_ = attrs.kind == abi::PoolKind::kMax;
    include_pad_ = attrs.count_include_pad;
    const int64_t room = g_.in[2] + g_.pad[2] - (g_.kernel[2] - 1) * g_.dilation[2];
    inside_end_ = CeilDiv(std::max<int64_t>(room, 0), g_.stride[2]);
  }

  void Run() const {
    const int64_t taps = g_.kernel[0] * g_.kernel[1] * g_.kernel[2];  // at most kMaxWindowReach
    const bool channels_last = !columns_last_;
    const int64_t lines = g_.batch * (channels_last ? 1 : g_.channels) * g_.out[0] * g_.out[1];
    // The number of taps is capped, since a line whose single result fills a piece is a piece of
    // its own anyway.
    const int64_t line = g_.out[2] * (channels_last ? g_.channels : 1) * std::min(taps, kPieceTaps);
    ParallelRanges(
        args_, lines, kPieceTaps / std::max<int64_t>(line, 1) + 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            !channels_last ? RowLine(i) : bytes_ ? PixelLine<uint8_t>(i) : PixelLine<float>(i);
          }
        });
  }

 private:
  /// Window of a line (all pixels with the same outer coordinates) along the outer spatial axes.
  struct Line {
    int64_t coords[kMaxRank] = {};
    Window depth, height;
    PoolBox box;
    int64_t base = 0;  ///< element of x at the first tap, the last spatial axis apart
  };

  Line LineAt(int64_t n, int64_t c, int64_t d, int64_t h) const {
    Line line;
    line.depth = g_.WindowAt(0, d);
    line.height = g_.WindowAt(1, h);
    line.coords[0] = n;
    line.coords[1] = c;
    // With fewer than three spatial axes the missing coordinates are 0 and have no place.
    if (g_.first_axis >= 2) line.coords[g_.first_axis] = d;
    if (g_.first_axis >= 1) line.coords[g_.first_axis + 1] = h;
    line.box.count[0] = line.depth.count;
    line.box.count[1] = line.height.count;
    line.box.step[0] = g_.dilation[0] * g_.in_stride[0];
    line.box.step[1] = g_.dilation[1] * g_.in_stride[1];
    line.base = x_.offset + n * g_.batch_stride + c * g_.channel_stride +
                line.depth.first * g_.in_stride[0] + line.height.first * g_.in_stride[1];
    return line;
  }

  const void* At(int64_t element) const {
    return static_cast<const char*>(x_.data) + element * DTypeBytes(x_.dtype);
  }

  float Divisor(const Line& line, const Window& width) const {
    const int64_t count = include_pad_ ? line.depth.padded * line.height.padded * width.padded
                                       : line.depth.count * line.height.count * width.count;
    return static_cast<float>(count);
  }

  int column_axis() const { return g_.first_axis + 2; }

  /// T: what raw results are stored as.
  template <class T>
  void PixelLine(int64_t i) const {
    const int64_t h = i % g_.out[1];
    const int64_t d = i / g_.out[1] % g_.out[0];
    Line line = LineAt(i / g_.out[1] / g_.out[0], 0, d, h);
    const abi::TensorArg& out = Output(args_, 0);
    const bool direct = epilogue_.identity() && (out.strides[1] == 1 || g_.channels == 1);
    if (direct) {
      auto* to = static_cast<T*>(ElementAt(out, line.coords));
      return Pixels(line, {0, g_.out[2]}, {0, g_.channels}, to, out.strides[column_axis()]);
    }
    alignas(64) T raw[kBlockElements];
    const int64_t cols = std::min(g_.channels, kBlockElements);
    const int64_t rows = std::min(g_.out[2], kBlockElements / std::max<int64_t>(cols, 1));
    for (int64_t c = 0; c < g_.channels; c += cols) {
      const int64_t width = std::min(cols, g_.channels - c);
      line.coords[1] = c;
      for (int64_t o = 0; o < g_.out[2]; o += rows) {
        const int64_t pixels = std::min(rows, g_.out[2] - o);
        Pixels(line, {o, o + pixels}, {c, c + width}, raw, width);
        line.coords[column_axis()] = o;
        epilogue_.Store(line.coords, column_axis(), 1, pixels, width, raw, width);
      }
    }
  }

  struct Range {
    int64_t begin, end;
  };

  /// Computes outputs of a line. Those whose windows lie inside the input are computed in one call.
  template <class T>
  void Pixels(const Line& line, Range outputs, Range channels, T* out, int64_t out_step) const {
    for (int64_t o = outputs.begin, next = o; o < outputs.end; o = next) {
      const Window width = g_.WindowAt(2, o);
      next = std::clamp(inside_end_, o + 1, outputs.end);
      if (width.count != g_.kernel[2]) next = o + 1;
      PoolBox box = line.box;
      box.data = At(line.base + width.first * g_.in_stride[2] + channels.begin);
      box.count[2] = width.count;
      box.step[2] = g_.dilation[2] * g_.in_stride[2];
      const PoolPixels pixels = {next - o, g_.stride[2] * g_.in_stride[2], out_step};
      const int64_t count = channels.end - channels.begin;
      if constexpr (std::is_same_v<T, float>) {
        loops_.channels(x_.dtype, maximum_, box, count, Divisor(line, width), pixels, out);
      } else {
        loops_.bytes(x_.dtype == DType::kI8, box, count, pixels, out);
      }
      out += (next - o) * out_step;
    }
  }

  void RowLine(int64_t i) const {
    const int64_t h = i % g_.out[1];
    const int64_t d = i / g_.out[1] % g_.out[0];
    const int64_t plane = i / g_.out[1] / g_.out[0];
    Line line = LineAt(plane / g_.channels, plane % g_.channels, d, h);
    // As many outputs at a time as have windows that together span no more than the buffer.
    const int64_t reach = (g_.kernel[2] - 1) * g_.dilation[2] + 1;
    const int64_t fit = std::max<int64_t>(1, (kRowBuffer - reach) / g_.stride[2] + 1);
    const int64_t step = std::min(fit, kBlockElements);
    for (int64_t o = 0; o < g_.out[2]; o += step) {
      RowPart(line, o, std::min(step, g_.out[2] - o), reach);
    }
  }

  /// Outputs [o, o + outputs) of a row. row[] holds the windows' rows combined, with the
  /// operation's identity where the input ends.
  void RowPart(Line& line, int64_t o, int64_t outputs, int64_t reach) const {
    alignas(64) float row[kRowBuffer];
    alignas(64) float raw[kBlockElements];
    const int64_t start = o * g_.stride[2] - g_.pad[2];
    const int64_t span = (outputs - 1) * g_.stride[2] + reach;
    const int64_t first = std::clamp<int64_t>(start, 0, g_.in[2]);
    const int64_t end = std::clamp<int64_t>(start + span, first, g_.in[2]);
    std::fill(row, row + span, maximum_ ? -__builtin_inff() : 0.0f);
    PoolBox box = line.box;
    box.data = At(line.base + first);
    box.count[2] = end - first;
    // Windows may lie in the padding alone, however far that reaches in front of the input.
    if (first < end) loops_.rows(x_.dtype, maximum_, box, row + (first - start));
    line.coords[column_axis()] = o;
    const abi::TensorArg& out = Output(args_, 0);
    const bool direct = !bytes_ && epilogue_.identity() && out.strides[column_axis()] == 1;
    float* to = direct ? static_cast<float*>(ElementAt(out, line.coords)) : raw;
    loops_.slide(maximum_, row, g_.kernel[2], g_.stride[2], g_.dilation[2], outputs, to);
    for (int64_t p = 0; !maximum_ && p < outputs; ++p)
      to[p] /= Divisor(line, g_.WindowAt(2, o + p));
    if (direct) return;
    if (bytes_) {
      uint8_t codes[kBlockElements];
      // A window without an element of the input has the least value.
      const float least = x_.dtype == DType::kI8 ? -128.0f : 0.0f;
      for (int64_t p = 0; p < outputs; ++p) {
        codes[p] = static_cast<uint8_t>(static_cast<int32_t>(std::max(raw[p], least)));
      }
      return epilogue_.Store(line.coords, -1, column_axis(), 1, outputs, codes, outputs);
    }
    epilogue_.Store(line.coords, -1, column_axis(), 1, outputs, raw, outputs);
  }

  static constexpr int64_t kRowBuffer = 4096;

  const abi::ArgBlock& args_;
  const PoolLoops& loops_;
  PoolGeometry g_;
  bool columns_last_;  ///< else channels
  const abi::TensorArg& x_;
  bool bytes_;  ///< x is u8 or i8, for which there are only maxima
  BlockEpilogue epilogue_;
  bool maximum_;
  bool include_pad_;
  int64_t inside_end_;  ///< outputs from here on have windows that pass the end of the last axis
};

}  // namespace

void baseline::Pool(const abi::ArgBlock& args) { Pooling(args, kPoolLoops).Run(); }
void avx2::Pool(const abi::ArgBlock& args) { Pooling(args, kPoolLoops).Run(); }
void avx512::Pool(const abi::ArgBlock& args) { Pooling(args, kPoolLoops).Run(); }

}  // namespace aicf::cpu
