// Draws the arena as a chart of cells. A cell covers some steps and some bytes, and shows the item
// that takes most of it.
#include <algorithm>
#include <numeric>

#include "tools/common/text.h"
#include "tools/inspect/arena.h"

namespace aicf::tools {
namespace {

using schema::Lifetime;

constexpr size_t kMargin = 12;  // "  12.34 MiB " in front of the cells

struct Marks {
  std::string free, other;
  std::vector<std::string> levels;  // bars for the number of live bytes, from none to the peak
};

Marks MarksOf(bool ascii) {
  if (ascii) return {".", "#", {" ", ".", ":", "-", "=", "+", "*", "%", "@"}};
  return {"·", "░", {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
}

// Indices of the items, the largest first. Of items of equal size, the one that lives earlier comes
// first, then the one at the lower offset. Items without bytes are left out.
std::vector<size_t> BySize(const std::vector<Lifetime>& items) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    if (items[a].bytes != items[b].bytes) return items[a].bytes > items[b].bytes;
    if (items[a].first != items[b].first) return items[a].first < items[b].first;
    return items[a].offset < items[b].offset;
  });
  std::erase_if(order, [&](size_t i) { return items[i].bytes == 0; });
  return order;
}

class Chart {
 public:
  Chart(const schema::Program& program, size_t entry, const ArenaView& view,
        const ChartStyle& style)
      : p_(program),
        e_(program.entry_points[entry]),
        view_(view),
        style_(style),
        marks_(MarksOf(style.ascii)),
        order_(BySize(view.lifetimes)) {
    const size_t moments = view.live.size();
    const size_t room = std::max<size_t>(style.width, 40) - kMargin - 1;
    per_column_ = (moments + room - 1) / room;
    columns_ = (moments + per_column_ - 1) / per_column_;
    repeat_ = std::clamp<size_t>(room / columns_, 1, 8);
    // Items without bytes are not in order_. They have an offset too, but must not add to the
    // height.
    for (const size_t i : order_) {
      const Lifetime& item = view.lifetimes[i];
      height_ = std::max(height_, item.offset + item.bytes);
    }
    const uint64_t rows = std::max<uint64_t>(style.rows, 1);
    // All items begin at multiples of the alignment, so rows do as well.
    constexpr uint64_t kAlign = schema::kBufferAlignment;
    per_row_ = std::max((height_ / rows + kAlign - 1) / kAlign * kAlign, kAlign);
    rows_ = static_cast<size_t>((height_ + per_row_ - 1) / per_row_);
  }

  std::string ToText() {
    Fill();
    return Title() + Picture() + Axis() + Live() + Largest();
  }

 private:
  std::string NameOf(const Lifetime& item) const {
    if (item.workspace_of != Lifetime::kBuffer) {
      return StrCat("workspace of step ", item.workspace_of);
    }
    return Escape(p_.buffers[item.buffers[0]].name);
  }

  std::string Title() const {
    std::string out = StrCat("Arena of entry point ", Escape(e_.name), ": ", FormatBytes(height_),
                             ", at least ", FormatBytes(view_.peak_bytes), " (live at ");
    out += view_.peak < e_.step_count ? StrCat("step ", e_.first_step + view_.peak) : "the end";
    out += ")\n";
    if (rows_ == 0) return out + "  nothing lies in it\n";
    return out + StrCat("  a column is ", per_column_, per_column_ == 1 ? " step" : " steps",
                        ", a row ", FormatBytes(per_row_),
                        "; the last column is after the last step\n\n");
  }

  // Finds for each cell the item with the largest share of it, measured in bytes x steps. Of equal
  // shares the first one wins.
  void Fill() {
    best_.assign(columns_ * rows_, {0, view_.lifetimes.size()});
    for (size_t rank = 0; rank < order_.size(); ++rank) {
      const Lifetime& item = view_.lifetimes[order_[rank]];
      const auto first = static_cast<size_t>(item.first - e_.first_step);
      const auto last = static_cast<size_t>(item.last - e_.first_step);
      for (size_t c = first / per_column_; c <= last / per_column_; ++c) {
        const size_t from = std::max(first, c * per_column_);
        const size_t to = std::min(last + 1, (c + 1) * per_column_);
        FillColumn(c, rank, item, to - from);
      }
    }
  }

  void FillColumn(size_t column, size_t rank, const Lifetime& item, size_t steps) {
    const uint64_t end = item.offset + item.bytes;
    for (uint64_t r = item.offset / per_row_; r * per_row_ < end; ++r) {
      const uint64_t low = std::max(item.offset, r * per_row_);
      const uint64_t high = std::min(end, (r + 1) * per_row_);
      Cell& cell = best_[r * columns_ + column];
      const double share = static_cast<double>(high - low) * static_cast<double>(steps);
      if (share > cell.share) cell = {share, rank};
    }
  }

  std::string Mark(size_t rank) const {
    if (rank >= order_.size()) return marks_.free;
    if (rank < Listed()) return std::string(1, static_cast<char>('A' + rank));
    return marks_.other;
  }

  size_t Listed() const { return std::min({style_.listed, order_.size(), size_t{26}}); }

  std::string Repeated(const std::string& mark) const {
    std::string out;
    for (size_t i = 0; i < repeat_; ++i) out += mark;
    return out;
  }

  static std::string Label(const std::string& text) {
    const size_t width = DisplayWidth(text);
    return std::string(width < kMargin - 1 ? kMargin - 1 - width : 0, ' ') + text + " ";
  }

  std::string Picture() const {
    std::string out;
    for (size_t r = rows_; r-- > 0;) {
      out += Label(FormatBytes(r * per_row_));
      for (size_t c = 0; c < columns_; ++c) out += Repeated(Mark(best_[r * columns_ + c].rank));
      out += "\n";
    }
    return out;
  }

  // The axis: numbers of the columns' first steps, leaving out those that would not fit.
  std::string Axis() const {
    if (rows_ == 0) return "";
    std::string out;
    for (size_t c = 0; c < columns_; ++c) {
      const std::string number = std::to_string(e_.first_step + c * per_column_);
      const size_t at = c * repeat_;
      if (c * per_column_ >= e_.step_count || at < out.size() + (out.empty() ? 0 : 4)) continue;
      out += std::string(at - out.size(), ' ') + number;
    }
    return Label("step") + out + "\n";
  }

  std::string Live() const {
    if (rows_ == 0) return "";
    std::string out = Label("live");
    for (size_t c = 0; c < columns_; ++c) {
      const auto from = view_.live.begin() + static_cast<std::ptrdiff_t>(c * per_column_);
      const auto to = view_.live.begin() + static_cast<std::ptrdiff_t>(
                                               std::min((c + 1) * per_column_, view_.live.size()));
      const double share =
          static_cast<double>(*std::max_element(from, to)) / static_cast<double>(view_.peak_bytes);
      const auto last = static_cast<double>(marks_.levels.size() - 1);
      out += Repeated(marks_.levels[static_cast<size_t>(share * last + 0.5)]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + StrCat("\n", Label(""), "full height: ", FormatBytes(view_.peak_bytes), "\n");
  }

  std::string Largest() const {
    if (rows_ == 0) return "";
    using enum Table::Align;
    Table table({{""}, {"bytes", kRight}, {"offset", kRight}, {"lives"}, {"role"}, {"name"}});
    for (size_t rank = 0; rank < Listed(); ++rank) {
      const Lifetime& item = view_.lifetimes[order_[rank]];
      table.Add({Mark(rank), std::to_string(item.bytes), std::to_string(item.offset),
                 LifetimeText(item, e_), RoleOf(item),
                 Shorten(NameOf(item) + InPlace(item), std::max<size_t>(style_.width, 80) - 56)});
    }
    std::string out = "\n" + table.ToString("  ");
    uint64_t rest = 0;
    for (size_t rank = Listed(); rank < order_.size(); ++rank) {
      rest += view_.lifetimes[order_[rank]].bytes;
    }
    if (order_.size() > Listed()) {
      out += StrCat("  ", marks_.other, "  ", order_.size() - Listed(), " more of ",
                    FormatBytes(rest), " together\n");
    }
    return out;
  }

  // The role of the one among the item's buffers that the caller sees, such as an input or an
  // output; the role of temporaries if he sees none of them.
  std::string RoleOf(const Lifetime& item) const {
    std::string role;
    for (uint32_t b : item.buffers) {
      if (role.empty() || p_.buffers[b].role != schema::Role::kTemp) {
        role = schema::RoleName(p_.buffers[b].role);
      }
    }
    return role;
  }

  // The names of the buffers that overwrite the item's first buffer in place.
  std::string InPlace(const Lifetime& item) const {
    std::string out;
    for (size_t i = 1; i < item.buffers.size(); ++i) {
      out += StrCat(i == 1 ? ", in place of it: " : ", ", Escape(p_.buffers[item.buffers[i]].name));
    }
    return out;
  }

  struct Cell {
    double share;
    size_t rank;  // position in order_; order_.size() stands for a free cell
  };

  const schema::Program& p_;
  const schema::EntryPoint& e_;
  const ArenaView& view_;
  const ChartStyle& style_;
  const Marks marks_;
  const std::vector<size_t> order_;  // lifetimes by size
  size_t per_column_ = 1, columns_ = 1, repeat_ = 1, rows_ = 0;
  uint64_t height_ = 0, per_row_ = 1;
  std::vector<Cell> best_;  // row by row from the bottom
};

}  // namespace

std::string ArenaText(const schema::Program& program, size_t entry, const ArenaView& view,
                      const ChartStyle& style) {
  return Chart(program, entry, view, style).ToText();
}

}  // namespace aicf::tools
