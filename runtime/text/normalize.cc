#include "runtime/text/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace aicf::text {
namespace {

using schema::NormalizerStep;

// Code points; a byte that is not UTF-8 is kBroken + the byte, which no step changes.
using Points = std::vector<int32_t>;
constexpr int32_t kBroken = 0x200000;

Points ToPoints(std::string_view text) {
  Points points;
  points.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    int32_t point = kBroken + static_cast<uint8_t>(text[0]);
    if (length != 0) {
      utf8proc_iterate(reinterpret_cast<const uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(length), &point);
    }
    points.push_back(point);
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return points;
}

std::string ToText(const Points& points) {
  std::string text;
  text.reserve(points.size());
  for (const int32_t point : points) {
    uint8_t bytes[4] = {static_cast<uint8_t>(point - kBroken)};
    const auto length = point >= kBroken ? 1 : utf8proc_encode_char(point, bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
  }
  return text;
}

int Class(int32_t point) {
  return point >= kBroken ? 0 : utf8proc_get_property(point)->combining_class;
}

// The library's own ordering of combining marks takes quadratic time on a long run of them.
void OrderMarks(Points* points) {
  for (auto at = points->begin(); at != points->end();) {
    const auto end = std::find_if(at, points->end(), [](int32_t p) { return Class(p) == 0; });
    std::stable_sort(at, end, [](int32_t a, int32_t b) { return Class(a) < Class(b); });
    at = end == points->end() ? end : end + 1;
  }
}

Points Decompose(const Points& points, int options) {
  Points out;
  out.reserve(points.size());
  for (const int32_t point : points) {
    int32_t parts[32];  // the longest decomposition has 18
    int boundary = 0;
    utf8proc_ssize_t count = -1;
    if (point < kBroken) {
      count = utf8proc_decompose_char(point, parts, 32, static_cast<utf8proc_option_t>(options),
                                      &boundary);
    }
    if (count < 0 || count > 32) {
      out.push_back(point);
    } else {
      out.insert(out.end(), parts, parts + count);
    }
  }
  OrderMarks(&out);
  return out;
}

Points Compose(Points points) {
  size_t kept = 0;
  for (size_t at = 0; at < points.size();) {
    if (points[at] >= kBroken) {
      points[kept++] = points[at++];
      continue;
    }
    const auto begin = points.begin() + static_cast<ptrdiff_t>(at);
    const auto end = std::find_if(begin, points.end(), [](int32_t p) { return p >= kBroken; });
    const auto count = utf8proc_normalize_utf32(
        &*begin, end - begin, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    at = static_cast<size_t>(end - points.begin());
    // Composing makes a text shorter, never longer.
    std::copy(begin, begin + std::max<utf8proc_ssize_t>(count, 0),
              points.begin() + static_cast<ptrdiff_t>(kept));
    kept += static_cast<size_t>(std::max<utf8proc_ssize_t>(count, 0));
  }
  points.resize(kept);
  return points;
}

Points Lowercase(const Points& points) {
  Points out;
  for (const int32_t point : points) {
    if (point == 0x130) {  // the one letter whose small form is two characters
      out.insert(out.end(), {'i', 0x307});
    } else {
      out.push_back(point >= kBroken ? point : utf8proc_tolower(point));
    }
  }
  return out;
}

utf8proc_category_t Category(int32_t point) {
  return point >= kBroken ? UTF8PROC_CATEGORY_CN : utf8proc_category(point);
}

bool IsSpace(int32_t p) {
  const auto category = Category(p);
  return (p >= 9 && p <= 13) || p == 0x85 || category == UTF8PROC_CATEGORY_ZS ||
         category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

Points CleanText(const Points& points) {
  Points out;
  for (const int32_t p : points) {
    const auto category = Category(p);
    const bool control = category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
                         category == UTF8PROC_CATEGORY_CO || p == 0xfffd ||
                         (category == UTF8PROC_CATEGORY_CN && p < kBroken);
    if (p == '\t' || p == '\n' || p == '\r') {
      out.push_back(' ');
    } else if (!control) {
      out.push_back(IsSpace(p) ? ' ' : p);
    }
  }
  return out;
}

bool IsIdeograph(int32_t p) {
  constexpr std::pair<int32_t, int32_t> kBlocks[] = {
      {0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
      {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  return std::any_of(std::begin(kBlocks), std::end(kBlocks),
                     [&](const auto& block) { return p >= block.first && p <= block.second; });
}

Points SpaceCjk(const Points& points) {
  Points out;
  for (const int32_t p : points) {
    if (IsIdeograph(p)) {
      out.insert(out.end(), {' ', p, ' '});
    } else {
      out.push_back(p);
    }
  }
  return out;
}

Points CollapseSpaces(const Points& points) {
  Points out;
  for (const int32_t p : points) {
    if (p != ' ' || (!out.empty() && out.back() != ' ')) out.push_back(p);
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

Points Apply(NormalizerStep step, Points points) {
  constexpr int kStable = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE;
  switch (step) {
    case NormalizerStep::kNfc:
      return Compose(Decompose(points, kStable));
    case NormalizerStep::kNfd:
      return Decompose(points, kStable);
    case NormalizerStep::kNfkc:
      return Compose(Decompose(points, kStable | UTF8PROC_COMPAT));
    case NormalizerStep::kNfkd:
      return Decompose(points, kStable | UTF8PROC_COMPAT);
    case NormalizerStep::kLowercase:
      return Lowercase(points);
    case NormalizerStep::kStripAccents:
      points = Decompose(points, kStable);
      std::erase_if(points, [](int32_t p) { return Category(p) == UTF8PROC_CATEGORY_MN; });
      return points;
    case NormalizerStep::kCleanText:
      return CleanText(points);
    case NormalizerStep::kSpaceCjk:
      return SpaceCjk(points);
    case NormalizerStep::kCollapseSpaces:
      return CollapseSpaces(points);
    case NormalizerStep::kCount:
      break;
  }
  return points;
}

}  // namespace

std::string Normalize(std::string_view text, const std::vector<NormalizerStep>& steps) {
  if (steps.empty()) return std::string(text);
  Points points = ToPoints(text);
  for (const NormalizerStep step : steps) points = Apply(step, std::move(points));
  return ToText(points);
}

}  // namespace aicf::text
