/// The tensors of a folder: one safetensors file, or an index with its shards.
#include "compiler/import/safetensors/folder.h"

#include "tests/fuzz/folder.h"
#include "tests/fuzz/planted.h"

namespace aicf::fuzz {
namespace {

void ReadNames(const safetensors::SafetensorsFile& file) {
  for (const safetensors::NamedTensor& t : file.tensors) ReadWord(t.name);
}

void RunSafetensors(Input input) {
  const auto file = safetensors::ReadFolder(WriteFolder(input));
  CheckTyped(file);
  if (file.ok() && Planted()) ReadNames(*file);
}

}  // namespace

Target SafetensorsTarget() { return {"safetensors", &RunSafetensors, &MutateFolder}; }

}  // namespace aicf::fuzz
