#include "tests/fuzz/parts.h"

#include <algorithm>
#include <cstring>

#include "tests/faults/artifacts/random.h"

namespace aicf::fuzz {
namespace {

constexpr std::string_view kBefore = "\n--file ", kBehind = "--\n";
constexpr size_t kMarkBytes = kBefore.size() + 1 + kBehind.size();

/// The position of the next mark at or behind `from`; npos: none.
size_t FindMark(std::string_view text, size_t from) {
  for (size_t at = text.find(kBefore, from); at != std::string_view::npos;
       at = text.find(kBefore, at + 1)) {
    if (text.size() < at + kMarkBytes) break;
    if (text.substr(at + kBefore.size() + 1, kBehind.size()) == kBehind) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<Part> SplitParts(Input input) {
  const std::string_view text = TextOf(input);
  std::vector<Part> parts;
  Part part;
  size_t from = 0;
  for (;;) {
    const size_t mark = FindMark(text, from);
    part.bytes = text.substr(from, mark == std::string_view::npos ? mark : mark - from);
    if (!(part.bytes.empty() && part.letter == 'a')) parts.push_back(part);
    if (mark == std::string_view::npos) return parts;
    part.letter = text[mark + kBefore.size()];
    from = mark + kMarkBytes;
  }
}

std::string JoinParts(const std::vector<Part>& parts) {
  std::string out;
  for (const Part& p : parts) {
    if (&p != parts.data() || p.letter != 'a') {
      out += kBefore;
      out += p.letter;
      out += kBehind;
    }
    out += p.bytes;
  }
  return out;
}

void MutateString(std::string& bytes, size_t room) {
  const size_t size = bytes.size();
  bytes.resize(std::max(room, size));
  bytes.resize(MutateBytes(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size()));
}

size_t Replace(uint8_t* data, size_t size, size_t room, std::string_view with) {
  if (with.size() > room) return size;
  std::memcpy(data, with.data(), with.size());
  return with.size();
}

size_t MutateParts(uint8_t* data, size_t size, size_t room, uint64_t seed,
                   void (*mutate)(Part& part, size_t room, uint64_t seed)) {
  hostile::Random random(seed);
  if (random.Chance(10)) return MutateBytes(data, size, room);
  std::vector<Part> parts = SplitParts({data, size});
  if (parts.empty()) return MutateBytes(data, size, room);
  Part& part = parts[random.Below(parts.size())];
  const size_t most = part.bytes.size() + (room - std::min(size, room));
  if (mutate != nullptr && random.Chance(80)) {
    mutate(part, most, random.Bits());
  } else {
    MutateString(part.bytes, most);
  }
  return Replace(data, size, room, JoinParts(parts));
}

}  // namespace aicf::fuzz
