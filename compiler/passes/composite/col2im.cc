// Col2Im: blocks summed where they overlap. That is the gradient of a convolution whose weights
// copy each element of a block into a channel of its own.
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

std::vector<int64_t> Attribute(const ir::Node& node, std::string_view key, size_t n,
                               int64_t value) {
  return node.Has(key) ? node.Ints(key) : std::vector<int64_t>(n, value);
}

Result<Blocks> ReadBlocks(const Composer& c) {
  Blocks b;
  AICF_ASSIGN_OR_RETURN(const auto image, ir::ConstantInts(c.graph(), c.node(), 1, "image_shape"));
  AICF_ASSIGN_OR_RETURN(const auto block, ir::ConstantInts(c.graph(), c.node(), 2, "block_shape"));
  const size_t n = image ? image->size() : 0;
  b.strides = Attribute(c.node(), "strides", n, 1);
  b.dilations = Attribute(c.node(), "dilations", n, 1);
  b.pads = Attribute(c.node(), "pads", 2 * n, 0);
  if (n == 0 || !block || block->size() != n || b.strides.size() != n || b.dilations.size() != n ||
      b.pads.size() != 2 * n) {
    return Error(Code::kBadModel, "shapes and attributes do not agree on the number of axes");
  }
  if (n > 3) return Error(Code::kUnsupported, n, " spatial axes, at most 3 are supported");
  b.image = *image;
  b.block = *block;
  constexpr int64_t kLimit = int64_t{1} << 31;
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
    b.beyond.push_back(room % b.strides[d]);
    b.block_size *= b.block[d];
    if (b.block_size > (1 << 14)) return Error(Code::kUnsupported, "blocks of many elements");
  }
  return b;
}

}  // namespace

Status ExpandCol2Im(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const Blocks b, ReadBlocks(c));
  const Dims in = c.Shape(c.In(0));
  int64_t blocks = 1;
  for (int64_t n : b.count) blocks *= n;
  if (in.rank() != 3 || in[1] % b.block_size != 0 || in[2] != blocks) {
    return Error(Code::kBadModel, "columns ", ToString(in), " do not hold ", blocks, " blocks of ",
                 b.block_size);
  }
  const int64_t channels = in[1] / b.block_size;
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
