/// The tensors of a folder: one safetensors file, or an index with its shards.
#include "compiler/import/safetensors/folder.h"

#include "tests/fuzz/folder.h"
#include "tests/fuzz/planted.h"

namespace aicf::fuzz {
namespace {

/// As a reader with room for three extents would.
void ReadExtents(const safetensors::SafetensorsFile& file) {
  for (const safetensors::NamedTensor& t : file.tensors) {
    const Dims& shape = t.data.shape();
    for (int d = 0; d < shape.rank(); ++d) ReadElement(static_cast<size_t>(d), 3);
  }
}

void RunSafetensors(Input input) {
  const auto file = safetensors::ReadFolder(WriteFolder(input));
  CheckTyped(file);
  if (file.ok() && Planted()) ReadExtents(*file);
}

}  // namespace

Target SafetensorsTarget() { return {"safetensors", &RunSafetensors, &MutateFolder}; }

}  // namespace aicf::fuzz
