#include "tools/aicf-inspect/lowered_json.h"

#include <sys/mman.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scanner.h"
#include "compiler/ir/text.h"
#include "tools/aicf-inspect/problem_json.h"

namespace aicf::tools {
namespace {

/// Addresses that nothing may read or write, so that any number of them costs no memory.
class Reservation {
 public:
  Reservation() = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    if (address_ != MAP_FAILED) munmap(address_, bytes_);
  }

  /// Whether there are as many now.
  bool Reserve(size_t bytes) {
    address_ = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bytes_ = bytes;
    return address_ != MAP_FAILED;
  }
  /// REQUIRES: count <= size().
  std::span<const std::byte> First(size_t count) const {
    return {count == 0 ? nullptr : static_cast<const std::byte*>(address_), count};
  }
  size_t size() const { return address_ == MAP_FAILED ? 0 : bytes_; }

 private:
  void* address_ = MAP_FAILED;
  size_t bytes_ = 0;
};

/// Gives every constant the same reserved addresses instead of its data: the report shows only
/// shapes.
class NoData {
 public:
  ir::Tensor operator()(DType dtype, const Dims& shape, std::string_view /*hash*/) {
    const auto bytes = static_cast<size_t>(ElementCount(shape).value_or(0)) *
                       static_cast<size_t>(DTypeBytes(dtype));
    if (bytes > block_->size()) {
      auto larger = std::make_shared<Reservation>();
      if (!larger->Reserve(bytes)) return {};
      block_ = std::move(larger);
    }
    return {dtype, shape, block_->First(bytes), block_};
  }

 private:
  std::shared_ptr<Reservation> block_ = std::make_shared<Reservation>();
};

struct Part {
  std::optional<std::string> entry;
  std::string_view text;
};

/// The name in a line `entry "name"`; nullopt for any other line.
std::optional<std::string> EntryLine(std::string_view line) {
  Scanner in(line);
  if (!in.Accept("entry")) return std::nullopt;
  Result<std::string> name = in.Quoted();
  if (!name.ok() || !in.AtEnd()) return std::nullopt;
  return *std::move(name);
}

std::vector<Part> SplitEntries(std::string_view section) {
  std::vector<Part> parts;
  size_t start = 0, line = 0;
  while (line < section.size()) {
    const size_t next = std::min(section.find('\n', line), section.size() - 1) + 1;
    if (auto entry = EntryLine(section.substr(line, next - line))) {
      if (!parts.empty()) parts.back().text = section.substr(start, line - start);
      parts.push_back({std::move(entry), {}});
      start = next;
    }
    line = next;
  }
  if (parts.empty() && !section.empty()) parts.push_back({});
  if (!parts.empty()) parts.back().text = section.substr(start);
  return parts;
}

Json ProgramJson(const ir::Lowered& lowered) {
  Json out{{"name", lowered.name}, {"buffers", Json::array()}, {"steps", Json::array()}};
  for (const ir::LoweredBuffer& b : lowered.buffers) {
    out["buffers"].push_back(Json{{"name", b.name},
                                  {"dtype", DTypeName(b.dtype)},
                                  {"shape", std::vector<int64_t>(b.shape.begin(), b.shape.end())},
                                  {"role", schema::RoleName(b.role)}});
  }
  for (const ir::LoweredStep& s : lowered.steps) {
    out["steps"].push_back(Json{{"sources", s.sources},
                                {"inputs", s.inputs},
                                {"outputs", s.outputs},
                                {"flop", abi::FlopCount(s.problem)},
                                {"bytes", abi::ByteCount(s.problem)},
                                {"problem", ProblemJson(s.problem)}});
  }
  return out;
}

Json PartJson(const Part& part) {
  Result<ir::Lowered> lowered = ir::ParseLowered(part.text, NoData());
  Status status = lowered.ok() ? Verify(*lowered) : lowered.status();
  Json out = status.ok() ? ProgramJson(*lowered) : Json{{"error", status.message()}};
  if (part.entry) out["entry"] = *part.entry;
  return out;
}

}  // namespace

Json LoweredJson(std::string_view section) {
  auto out = Json::array();
  for (const Part& part : SplitEntries(section)) out.push_back(PartJson(part));
  return out;
}

}  // namespace aicf::tools
