// Reads a timing cache. The file may come from anybody: every field is checked before it is kept.
#include <charconv>
#include <cmath>

#include "base/hash.h"
#include "base/scanner.h"
#include "compiler/costs/timing_cache.h"

namespace aicf::tune {

/// One pass over the lines of one text.
class CacheParser {
 public:
  explicit CacheParser(std::string_view text) : rest_(text) {}

  Result<TimingCache> Parse() {
    if (!NextLine() || line_ != kHeader) {
      number_ = 1;
      return Fail(StrCat("'", kHeader, "'"), line_);
    }
    while (NextLine()) {
      if (!line_.empty()) AICF_RETURN_IF_ERROR(ParseLine());
    }
    return std::move(cache_);
  }

 private:
  static constexpr std::string_view kHeader = "aicf-timing-cache 2";
  static constexpr size_t kMaxWord = 256;  // kernel keys, versions, targets
  static constexpr size_t kMaxAlgorithmBytes = 4096;
  static constexpr double kMaxUs = 1e9;

  bool NextLine() {
    if (rest_.empty()) return line_ = {}, false;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    ++number_;
    return true;
  }

  Status Fail(std::string_view expected, std::string_view found) const {
    constexpr size_t kShown = 80;
    return Error(Code::kInvalidArgument, "timing cache line ", number_, ": expected ", expected,
                 ", found '", found.substr(0, kShown), found.size() > kShown ? "...'" : "'");
  }

  // The next field of the line, up to a blank.
  std::string_view Field() {
    const size_t end = line_.find(' ');
    const std::string_view field = line_.substr(0, end);
    line_ = end == std::string_view::npos ? std::string_view() : line_.substr(end + 1);
    return field;
  }

  Status ParseLine() {
    const std::string_view kind = Field();
    if (kind == "problem") return ParseProblemLine();
    if (kind == "device") return ParseDevice();
    if (kind != "time" && kind != "fit") return Fail("problem, device, time or fit", kind);
    if (device_ == nullptr) return Fail("a device line first", kind);
    return kind == "time" ? ParseTime() : ParseFit();
  }

  Result<std::string> ReadHash() {
    const std::string_view field = Field();
    const bool hex = field.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (field.size() != 32 || !hex) return Fail("a problem's 32 hex digits", field);
    return std::string(field);
  }

  Result<std::string> ReadWord(std::string_view what) {
    const std::string_view field = Field();
    bool plain = !field.empty() && field.size() <= kMaxWord;
    for (char c : field) plain = plain && c > ' ' && c < 127 && c != '"';
    if (!plain) return Fail(what, field);
    return std::string(field);
  }

  Result<double> ReadReal(std::string_view what, double least, double most) {
    const std::string_view field = Field();
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    const bool whole = error == std::errc() && end == field.data() + field.size();
    if (!whole || !(value >= least && value <= most)) return Fail(what, field);
    return value;
  }

  Result<uint64_t> ReadCount(std::string_view what, uint64_t least, uint64_t most) {
    const std::string_view field = Field();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    const bool whole = error == std::errc() && end == field.data() + field.size();
    if (!whole || value < least || value > most) return Fail(what, field);
    return value;
  }

  Status ParseProblemLine() {
    AICF_ASSIGN_OR_RETURN(std::string hash, ReadHash());
    if (ToHex(HashText(line_)) != hash) return Fail(StrCat("the text of problem ", hash), line_);
    if (!cache_.problems_.emplace(std::move(hash), line_).second) {
      return Fail("each problem once", line_);
    }
    return OkStatus();
  }

  Status ParseDevice() {
    DeviceId id;
    AICF_ASSIGN_OR_RETURN(id.target, ReadWord("a target"));
    Scanner in(line_);
    Result<std::string> name = in.Quoted();
    if (!name.ok() || !in.AtEnd() || name->empty()) return Fail("a device's name in quotes", line_);
    id.name = *std::move(name);
    const auto [at, fresh] = cache_.devices_.try_emplace(std::move(id));
    if (!fresh) return Fail("each device once", line_);
    device_ = &at->second;
    return OkStatus();
  }

  Status ParseTime() {
    TimingCache::Key key;
    Timing t;
    AICF_ASSIGN_OR_RETURN(key.problem, ReadHash());
    AICF_ASSIGN_OR_RETURN(key.kernel, ReadWord("a kernel"));
    AICF_ASSIGN_OR_RETURN(t.median_us, ReadReal("a median in microseconds", 0, kMaxUs));
    AICF_ASSIGN_OR_RETURN(t.spread_us, ReadReal("a spread in microseconds", 0, kMaxUs));
    AICF_ASSIGN_OR_RETURN(const uint64_t count, ReadCount("a number of samples", 1, 1000000));
    t.count = static_cast<int>(count);
    AICF_ASSIGN_OR_RETURN(t.version, ReadWord("a version"));
    if (!line_.empty()) AICF_RETURN_IF_ERROR(ParseAlgorithm(&t));
    if (!device_->times.emplace(key, std::move(t)).second) {
      return Fail("each problem and kernel once", key.kernel);
    }
    return OkStatus();
  }

  Status ParseAlgorithm(Timing* t) {
    AICF_ASSIGN_OR_RETURN(t->algorithm.workspace_bytes,
                          ReadCount("workspace bytes", 0, uint64_t{1} << 46));
    const std::string_view hex = line_;
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    if (hex.empty() || hex.size() % 2 != 0 || hex.size() > 2 * kMaxAlgorithmBytes ||
        hex.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
      return Fail("an algorithm in hex", hex);
    }
    for (size_t i = 0; i < hex.size(); i += 2) {
      t->algorithm.bytes.push_back(static_cast<uint8_t>(digit(hex[i]) * 16 + digit(hex[i + 1])));
    }
    // "cublaslt-130100": the number that the library gives itself.
    const std::string_view version = std::string_view(t->version).substr(t->version.rfind('-') + 1);
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(),
                                              t->algorithm.library_version);
    if (error != std::errc() || end != version.data() + version.size()) {
      return Fail("a library version that ends in its number", t->version);
    }
    return OkStatus();
  }

  Status ParseFit() {
    CostFit fit;
    AICF_ASSIGN_OR_RETURN(std::string kernel, ReadWord("a kernel"));
    AICF_ASSIGN_OR_RETURN(std::string math, ReadWord("a math mode"));
    AICF_ASSIGN_OR_RETURN(fit.scale, ReadReal("a scale", 0, 1e6));
    AICF_ASSIGN_OR_RETURN(fit.offset_us, ReadReal("an offset", 0, kMaxUs));
    AICF_ASSIGN_OR_RETURN(const uint64_t samples, ReadCount("a number of problems", 0, 1000000000));
    fit.samples = static_cast<int>(samples);
    if (!line_.empty()) return Fail("the end of the line", line_);
    if (!device_->fits.emplace(std::pair(std::move(kernel), std::move(math)), fit).second) {
      return Fail("each kernel's fit once", "fit");
    }
    return OkStatus();
  }

  std::string_view rest_, line_;
  int number_ = 0;
  TimingCache cache_;
  TimingCache::Measured* device_ = nullptr;
};

Result<TimingCache> TimingCache::Parse(std::string_view text) { return CacheParser(text).Parse(); }

}  // namespace aicf::tune
