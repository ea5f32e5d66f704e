#include "tests/fuzz/planted.h"

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/hash.h"

namespace aicf::fuzz {
namespace {

std::string_view Kind() {
  static const char* const kind = std::getenv("AICF_FUZZ_PLANT");
  return kind == nullptr ? "" : kind;
}

volatile uint64_t g_sink = 0;
uint64_t g_executions = 0;

}  // namespace

bool Planted() { return Kind() == "target"; }

void ReadElement(size_t index, size_t count) {
  const auto elements = std::make_unique<uint64_t[]>(count);
  g_sink = elements[index];
}

void ReadWord(std::string_view text) {
  for (const char c : text) {
    const bool mark = std::string_view("_.:/-+*? ").find(c) != std::string_view::npos;
    if (!mark && std::isalnum(static_cast<unsigned char>(c)) == 0)
      ReadElement(text.size(), text.size());
  }
}

void ReadRarely(Input input) {
  if (g_executions > 1000 && HashText(TextOf(input)).low % 16 == 0) ReadElement(1, 1);
}

void RunPlantedCommon(size_t input_bytes) {
  ++g_executions;
  if (Kind().empty() || input_bytes < 8) return;
  if (Kind() == "leak") {
    auto* const lost = static_cast<volatile char*>(std::malloc(input_bytes));
    if (lost != nullptr) lost[0] = 1;
  } else if (Kind() == "hang") {
    while (g_sink + 1 != 0) g_sink = 0;
  } else if (Kind() == "memory") {
    // More than a run may have, touched, and given back before anybody asks.
    constexpr size_t kBytes = size_t{3} << 30;
    const std::unique_ptr<char, decltype(&std::free)> block(static_cast<char*>(std::malloc(kBytes)),
                                                            &std::free);
    for (size_t at = 0; block != nullptr && at < kBytes; at += 4096) {
      static_cast<volatile char*>(block.get())[at] = 1;
    }
  }
}

}  // namespace aicf::fuzz
