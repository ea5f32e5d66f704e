#include "tests/fuzz/folder.h"

#include <algorithm>
#include <cstring>

#include "tests/faults/artifacts/random.h"
#include "tests/fuzz/scratch.h"

namespace aicf::fuzz {
namespace {

struct LetteredFile {
  char letter;
  const char* name;
};

constexpr LetteredFile kFiles[] = {{'a', "config.json"},
                                   {'b', "model.safetensors"},
                                   {'c', "model.safetensors.index.json"},
                                   {'d', "1.safetensors"},
                                   {'e', "2.safetensors"},
                                   {'t', "tokenizer.json"},
                                   {'u', "tokenizer_config.json"},
                                   {'g', "generation_config.json"},
                                   {'j', "chat_template.jinja"},
                                   {'m', "modules.json"},
                                   {'p', "1_Pooling/config.json"}};

bool IsSafetensors(char letter) { return letter == 'b' || letter == 'd' || letter == 'e'; }

/// The header's length at its front follows what became of the header.
void MutateSafetensors(std::string& bytes, size_t room, hostile::Random& random) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length || random.Chance(10)) return MutateString(bytes, room);
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string header = bytes.substr(sizeof length, static_cast<size_t>(length));
  std::string data = bytes.substr(sizeof length + header.size());
  std::string& part = random.Chance(85) ? header : data;
  MutateString(part, part.size() + (room - std::min(room, bytes.size())));
  length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.replace(sizeof length, bytes.npos, header + data);
}

void MutateFileOfFolder(Part& part, size_t room, uint64_t seed) {
  hostile::Random random(seed);
  if (IsSafetensors(part.letter)) return MutateSafetensors(part.bytes, room, random);
  MutateString(part.bytes, room);
}

}  // namespace

std::string WriteFolder(Input input) {
  const Scratch& scratch = TheScratch();
  static const bool made = [&] {
    scratch.MakeFolder("folder");
    scratch.MakeFolder("folder/1_Pooling");
    return true;
  }();
  (void)made;
  const std::vector<Part> parts = SplitParts(input);
  for (const LetteredFile& file : kFiles) {
    const auto part = std::ranges::find(parts, file.letter, &Part::letter);
    const std::string name = std::string("folder/") + file.name;
    if (part == parts.end()) {
      scratch.Remove(name);
    } else {
      scratch.Put(name, part->bytes);
    }
  }
  return scratch.Path("folder");
}

size_t MutateFolder(uint8_t* data, size_t size, size_t room, uint64_t seed) {
  return MutateParts(data, size, room, seed, &MutateFileOfFolder);
}

}  // namespace aicf::fuzz
