/// An ONNX file (a) whose tensors lie in other files. There are w.bin (b) and sub/w.bin (c) beside
/// it; a link, a pipe and a second name of a file, all of which must be refused; and a file outside
/// of its folder.
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "base/hash.h"
#include "compiler/import/import_onnx.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/onnx_mutation.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

constexpr size_t kPeriod = 16;

/// The file outside: one block of bytes again and again, which no input can know.
struct Outside {
  std::string bytes;
  std::set<std::pair<uint64_t, uint64_t>> blocks;  ///< hashes, from every position in the block

  Outside() {
    std::string block(kPeriod, '\0');
    if (getrandom(block.data(), kPeriod, 0) != kPeriod) Broken("no random bytes");
    for (int i = 0; i < 1024; ++i) bytes += block;
    for (size_t from = 0; from < kPeriod; ++from) {
      const Hash128 hash = HashText(std::string_view(bytes).substr(from, kPeriod));
      blocks.emplace(hash.low, hash.high);
    }
  }
};

const Outside& TheOutside() {
  static const Outside outside;
  return outside;
}

const Scratch& Folder() {
  static const bool made = [] {
    const Scratch& s = TheScratch();
    s.MakeFolder("model");
    s.MakeFolder("model/sub");
    s.Put("outside.bin", TheOutside().bytes);
    (void)!symlink("../outside.bin", s.Path("model/link").c_str());
    (void)!symlink("..", s.Path("model/up").c_str());
    (void)!link(s.Path("outside.bin").c_str(), s.Path("model/hard").c_str());
    (void)mkfifo(s.Path("model/pipe").c_str(), 0600);
    return true;
  }();
  (void)made;
  return TheScratch();
}

bool HoldsOutside(const ir::Graph& graph) {
  for (const ir::Value& v : graph.values) {
    if (!v.is_constant() || v.constant.bytes().size() < kPeriod) continue;
    const Hash128 hash = HashBytes(v.constant.bytes().first(kPeriod));
    if (TheOutside().blocks.contains({hash.low, hash.high})) return true;
  }
  return false;
}

/// As a reader would that has a table for the values of small constants.
void ReadConstants(const ir::Graph& graph) {
  for (const ir::Value& v : graph.values) {
    if (!v.is_constant() || v.dtype != DType::kF32 || v.constant.count() == 0) continue;
    if (!(v.constant.FloatAt(0) < 1e6)) ReadElement(1, 1);
  }
}

void RunExternalData(Input input) {
  const Scratch& scratch = Folder();
  for (const char* name : {"model/m.onnx", "model/w.bin", "model/sub/w.bin"}) scratch.Put(name, "");
  for (const Part& p : SplitParts(input)) {
    if (p.letter == 'a') scratch.Put("model/m.onnx", p.bytes);
    if (p.letter == 'b') scratch.Put("model/w.bin", p.bytes);
    if (p.letter == 'c') scratch.Put("model/sub/w.bin", p.bytes);
  }
  const auto graph = ImportOnnx(scratch.Path("model/m.onnx"), SmallBudgets());
  CheckTyped(graph);
  if (!graph.ok()) return;
  if (HoldsOutside(*graph)) Broken("a model holds bytes of a file outside of its folder");
  if (Planted()) ReadConstants(*graph);
}

void MutatePart(Part& part, size_t room, uint64_t seed) {
  if (part.letter == 'a') return MutateOnnxString(part.bytes, room, seed);
  MutateString(part.bytes, room);
}

size_t Mutate(uint8_t* data, size_t size, size_t room, uint64_t seed) {
  return MutateParts(data, size, room, seed, &MutatePart);
}

}  // namespace

Target ExternalDataTarget() { return {"external_data", &RunExternalData, &Mutate}; }

}  // namespace aicf::fuzz
