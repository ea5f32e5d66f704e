#include "tests/faults/artifacts/workshop.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "schema/codec.h"
#include "schema/format.h"
#include "schema/sections.h"
#include "schema/testing.h"
#include "tests/faults/artifacts/mutation.h"
#include "tests/faults/artifacts/random.h"

namespace aicf::hostile {
namespace {

using schema::Contents;
using schema::Program;

std::vector<std::byte> ReadBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

/// A plan that the CPU reference executes needs no device code.
void DropImages(Program& p) {
  p.images.clear();
  p.guard_image = -1;
  for (schema::Step& s : p.steps) s.image = -1;
}

/// The file around a program that need not be a valid one.
std::vector<std::byte> Sealed(const Contents& contents, std::vector<std::byte> program) {
  const Program& p = contents.program;
  const uint64_t peak = p.arena_bytes + p.weights_bytes + p.state_bytes;
  schema::HeaderInfo info{schema::kFormatMajor, schema::kFormatMinor, 0, peak, {},
                          schema::FeaturesOf(p)};
  info.sections.push_back({schema::SectionKind::kProgram, 0, program.size(), {}});
  if (!contents.weights.empty()) {
    info.sections.push_back({schema::SectionKind::kWeights, 0, contents.weights.size(), {}});
  }
  if (!schema::PlaceSections(info).ok()) return {};
  std::vector<std::byte> file = schema::BuildHeader(info);
  file.resize(info.file_bytes);
  std::memcpy(file.data() + info.sections[0].offset, program.data(), program.size());
  if (!contents.weights.empty()) {
    std::memcpy(file.data() + info.sections[1].offset, contents.weights.data(),
                contents.weights.size());
  }
  schema::testing::Reseal(file);
  return file;
}

/// As many bytes as the program says, within reason.
void FitWeights(Contents& c, Random& random) {
  const size_t before = c.weights.size();
  c.weights.resize(std::min<uint64_t>(c.program.weights_bytes, uint64_t{1} << 22));
  for (size_t i = before; i < c.weights.size(); ++i) c.weights[i] = std::byte(random.Below(4));
}

std::vector<std::byte> DamagedBytes(std::vector<std::byte> bytes, Random& random) {
  const size_t changes = 1 + random.Below(3);
  for (size_t i = 0; i < changes && bytes.size() >= 8; ++i) {
    if (random.Chance(50)) {
      bytes[random.Below(bytes.size())] ^= std::byte(1u << random.Below(8));
      continue;
    }
    const size_t width = size_t{1} << random.Below(4);
    const size_t at = random.Below(bytes.size() / width) * width;
    const uint64_t wild[] = {0,
                             1,
                             2,
                             0x7f,
                             0xff,
                             0x7fffffff,
                             0x80000000,
                             ~uint64_t{0},
                             0x7fffffffffffffff,
                             0x8000000000000000,
                             random.Bits()};
    std::memcpy(bytes.data() + at, &wild[random.Below(std::size(wild))], width);
  }
  return bytes;
}

}  // namespace

Result<std::vector<Seed>> LoadSeeds(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".aicf") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  if (paths.empty()) return Error(Code::kIo, folder, ": holds no artifact");
  std::vector<Seed> seeds;
  for (const auto& path : paths) {
    Seed seed;
    seed.name = path.filename();
    seed.file = ReadBytes(path);
    AICF_ASSIGN_OR_RETURN(const auto artifact,
                          schema::Artifact::Parse(seed.file, /*with_optional=*/false));
    seed.contents.program = artifact->program();
    seed.contents.weights = {artifact->weights().begin(), artifact->weights().end()};
    DropImages(seed.contents.program);
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<std::byte> DamagedFile(const std::vector<Seed>& seeds, uint64_t series,
                                   uint64_t number) {
  Random random(series * 0x100000001b3u + number);
  const Seed& seed = seeds[random.Below(seeds.size())];
  const size_t way = random.Below(100);
  if (way < 5) {  // any byte of the file, header and other sections among them
    std::vector<std::byte> file = DamagedBytes(seed.file, random);
    schema::testing::Reseal(file);
    return file;
  }
  Contents contents = seed.contents;
  if (way < 20) {  // any byte of the program
    auto encoded = schema::EncodeProgram(contents.program);
    if (!encoded.ok()) return {};
    return Sealed(contents, DamagedBytes(*std::move(encoded), random));
  }
  contents.program = Mutated(contents.program, random);
  FitWeights(contents, random);
  auto encoded = schema::EncodeProgram(contents.program);
  return encoded.ok() ? Sealed(contents, *std::move(encoded)) : std::vector<std::byte>{};
}

std::vector<std::byte> FlippedFile(const Seed& seed, uint64_t bit) {
  std::vector<std::byte> file = seed.file;
  file[bit / 8] ^= std::byte(1u << (bit % 8));
  schema::testing::Reseal(file);
  return file;
}

}  // namespace aicf::hostile
