// Col2Im: blocks summed where they overlap. That is the gradient of a convolution whose weights
// copy each element of a block into a channel of its own; integers, which no convolution takes, are
// scattered.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

struct Blocks {
  std::vector<int64_t> image, block, strides, dilations, pads;
  std::vector<int64_t> count;   // blocks along each axis
  std::vector<int64_t> beyond;  // image elements after the last block
  int64_t block_size = 1;
};

Result<Blocks> ReadBlocks(const Composer& c) {
  Blocks b;
  AICF_ASSIGN_OR_RETURN(const auto image, ir::ConstantInts(c.graph(), c.node(), 1, "image_shape"));
  AICF_ASSIGN_OR_RETURN(const auto block, ir::ConstantInts(c.graph(), c.node(), 2, "block_shape"));
  const size_t n = image ? image->size() : 0;
  b.strides = IntsOr(c.node(), "strides", n, 1);
  b.dilations = IntsOr(c.node(), "dilations", n, 1);
  b.pads = IntsOr(c.node(), "pads", 2 * n, 0);
  if (n == 0 || !block || block->size() != n || b.strides.size() != n || b.dilations.size() != n ||
      b.pads.size() != 2 * n) {
    return Error(Code::kBadModel, "shapes and attributes do not agree on the number of axes");
  }
  if (n > 3) return Error(Code::kUnsupported, n, " spatial axes, at most 3 are supported");
  b.image = *image;
  b.block = *block;
  constexpr int64_t kLimit = int64_t{1} << 31;
  Dims padded;
  for (size_t d = 0; d < n; ++d) {
    for (int64_t v : {b.image[d], b.block[d], b.strides[d], b.dilations[d]}) {
      if (v < 1 || v >= kLimit) return Error(Code::kBadModel, "an extent or step of ", v);
    }
    if (b.pads[d] < 0 || b.pads[d + n] < 0 || b.pads[d] >= kLimit || b.pads[d + n] >= kLimit) {
      return Error(Code::kBadModel, "a negative or huge pad");
    }
    const int64_t span = (b.block[d] - 1) * b.dilations[d] + 1;
    const int64_t room = b.image[d] + b.pads[d] + b.pads[d + n] - span;
    if (room < 0) return Error(Code::kBadModel, "a block does not fit axis ", d);
    b.count.push_back(room / b.strides[d] + 1);
    padded.push_back(room + span);
    b.beyond.push_back(room % b.strides[d]);
    b.block_size *= b.block[d];
    if (b.block_size > (1 << 14)) return Error(Code::kUnsupported, "blocks of many elements");
  }
  if (!ElementCount(padded)) {
    return Error(Code::kBadModel, "an image of ", ToString(padded), " elements");
  }
  return b;
}

// Where each element of each block lies in the padded image: [block_size * blocks], row-major.
std::vector<int64_t> BlockPositions(const Blocks& b) {
  std::vector<int64_t> positions = {0};
  const auto append = [&positions](int64_t count, int64_t scale) {
    std::vector<int64_t> next;
    for (int64_t base : positions) {
      for (int64_t i = 0; i < count; ++i) next.push_back(base + i * scale);
    }
    positions = std::move(next);
  };
  std::vector<int64_t> strides(b.image.size(), 1);
  for (size_t d = b.image.size() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * (b.image[d] + b.pads[d] + b.pads[d + b.image.size()]);
  }
  for (size_t d = 0; d < b.image.size(); ++d) append(b.block[d], b.dilations[d] * strides[d]);
  for (size_t d = 0; d < b.image.size(); ++d) append(b.count[d], b.strides[d] * strides[d]);
  return positions;
}

// Adds the blocks up by a scatter, which is exact in every integer type; a sum in floats is not.
Status ScatterBlocks(Composer& c, const Blocks& b, int64_t channels) {
  const int n = static_cast<int>(b.image.size());
  AICF_RETURN_IF_ERROR(CheckTable({b.block_size, c.Shape(c.In(0))[2]}));
  const std::vector<int64_t> positions = BlockPositions(b);
  const int64_t batch = c.Shape(c.In(0))[0], each = static_cast<int64_t>(positions.size());
  Dims padded{batch, channels};
  int64_t area = 1;
  for (int d = 0; d < n; ++d) {
    const size_t at = static_cast<size_t>(d);
    padded.push_back(b.image[at] + b.pads[at] + b.pads[at + b.image.size()]);
    area *= padded.back();
  }
  const ir::ValueId zeros =
      c.Op("Expand", {Number(c, 0, c.Type(c.In(0))), c.Ints({batch, channels, area})});
  const ir::ValueId where =
      c.Op("Expand", {c.Reshape(c.Ints(positions), {1, 1, each}), c.Ints({batch, channels, each})});
  ir::ValueId image =
      c.Op("ScatterElements", {zeros, where, c.Reshape(c.In(0), {batch, channels, each})},
           {{"axis", int64_t{2}}, {"reduction", std::string("add")}});
  image = c.Reshape(image, padded);
  for (int d = 0; d < n; ++d) {
    const size_t at = static_cast<size_t>(d);
    image = c.Window(image, d + 2, b.pads[at], b.image[at]);
  }
  c.Output(0, image);
  return c.status();
}

}  // namespace

Status ExpandCol2Im(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const Blocks b, ReadBlocks(c));
  const Dims in = c.Shape(c.In(0));
  int64_t blocks = 1;  // fits: at most as many as the padded image has elements
  for (int64_t n : b.count) blocks *= n;
  if (in.rank() != 3 || in[1] % b.block_size != 0 || in[2] != blocks) {
    return Error(Code::kBadModel, "columns ", ToString(in), " do not hold ", blocks, " blocks of ",
                 b.block_size);
  }
  const int64_t channels = in[1] / b.block_size;
  if (c.Type(c.In(0)) == DType::kBool) {
    return Error(Code::kUnsupported, "a sum of booleans, which the standard does not define");
  }
  if (IsInteger(c.Type(c.In(0)))) return ScatterBlocks(c, b, channels);
  Dims columns{in[0] * channels, b.block_size}, kernel{b.block_size, 1}, out{in[0], channels};
  for (int64_t n : b.count) columns.push_back(n);
  for (int64_t n : b.block) kernel.push_back(n);
  for (int64_t n : b.image) out.push_back(n);
  std::vector<double> copy(static_cast<size_t>(b.block_size * b.block_size), 0);
  for (int64_t i = 0; i < b.block_size; ++i) copy[static_cast<size_t>(i * (b.block_size + 1))] = 1;
  const ir::ValueId image =
      c.Op("ConvTranspose", {c.Reshape(c.In(0), columns), Floats(c, copy, kernel, c.Type(c.In(0)))},
           {{"strides", b.strides},
            {"dilations", b.dilations},
            {"pads", b.pads},
            {"output_padding", b.beyond}});
  c.Output(0, c.Reshape(image, out));
  return c.status();
}

}  // namespace aicf
