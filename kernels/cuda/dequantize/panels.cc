#include "base/block_format.h"
#include "base/status.h"
#include "kernels/cuda/blockgemm/packed.h"
#include "kernels/cuda/dequantize/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

// A product of one row with the matrix. It stands for any product that reads the matrix, since the
// packed form depends on B alone.
Problem ProductWith(const Problem& p) {
  Problem product;
  product.family = abi::Family::kBlockGemm;
  product.attrs = abi::BlockGemmAttrs{p.as<abi::DequantizeAttrs>().format};
  product.inputs = {abi::DenseView(DType::kF32, {1, p.outputs[0].shape[1]}), p.inputs[0]};
  product.core_inputs = 2;
  return product;
}

}  // namespace

std::string DequantizePanelsHost::Refusal(const Problem& p, const abi::DeviceSpec&) {
  const Dims& shape = p.outputs[0].shape;
  if (shape.rank() != 2) return StrCat("takes a matrix, here are ", shape.rank(), " axes");
  if (!PackedBlocksLayout(ProductWith(p))) return "packs no empty matrix";
  if (InfoOf(p.as<abi::DequantizeAttrs>().format).elements == 1) return "takes no single elements";
  const Dims order = SpacesOf(kKey, p).output.groups[0];
  if (shape[0] > 1 && order[order.rank() - 1] != 1) return "stores along rows";
  return {};
}

std::optional<abi::PackedLayout> DequantizePanelsHost::Packed(const Problem& p,
                                                              const abi::Parameters&, int input) {
  return input == 0 ? PackedBlocksLayout(ProductWith(p)) : std::nullopt;
}

void DequantizePanelsHost::Pack(const Problem& p, const abi::Parameters&, int, const void* buffer,
                                void* packed) {
  PackBlocks(ProductWith(p), buffer, packed);
}

void DequantizePanelsHost::Unpack(const Problem& p, const abi::Parameters&, int, const void* packed,
                                  void* buffer) {
  UnpackBlocks(ProductWith(p), packed, buffer);
}

}  // namespace aicf::cuda
