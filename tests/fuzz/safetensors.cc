/// The tensors of a folder: one safetensors file, or an index with its shards.
#include "compiler/import/safetensors/folder.h"

#include "tests/fuzz/folder.h"
#include "tests/fuzz/planted.h"

namespace aicf::fuzz {
namespace {

void RunSafetensors(Input input) {
  const auto file = safetensors::ReadFolder(WriteFolder(input));
  CheckTyped(file);
  if (file.ok() && Planted()) ReadRarely(input);
}

}  // namespace

Target SafetensorsTarget() { return {"safetensors", &RunSafetensors, &MutateFolder}; }

}  // namespace aicf::fuzz
