#include "compiler/decisions/decisions.h"

#include "compiler/decisions/encoded_decision.h"

namespace aicf {
namespace {

constexpr size_t kLogChunk = size_t{1} << 18;

// In place of `count` decisions.
Decision LeftOut(size_t count) {
  Decision d;
  d.kind = DecisionKind::kLog;
  d.subject = schema::Subject::Named(SubjectForm::kOther, "decisions");
  d.choice = StrCat(count, " more are left out");
  d.pass = kLeaveOutDecisions;
  d.Because(Reason::kPolicy, "--budget=decision-bytes says how much of an artifact they may take");
  return d;
}

}  // namespace

DecisionLog::DecisionLog(const std::vector<Decision>& decisions) {
  for (const Decision& d : decisions) Record(d);
}

void DecisionLog::Record(const Decision& decision) {
  all_.reset();
  if (chunks_.empty() || chunks_.back().bytes.size() > kLogChunk - kLogChunk / 16) {
    chunks_.emplace_back().bytes.reserve(size_ == 0 ? 0 : kLogChunk);
  }
  AppendEncoded(decision, texts_, chunks_.back().bytes);
  ++chunks_.back().count;
  ++size_;
}

void DecisionLog::ForEach(FunctionRef<void(const Decision&)> visit) const {
  for (const Chunk& chunk : chunks_) {
    for (std::string_view rest = chunk.bytes; !rest.empty();) visit(TakeEncoded(rest, texts_));
  }
}

const std::vector<Decision>& DecisionLog::decisions() const {
  if (!all_) {
    std::vector<Decision> all;
    all.reserve(size_);
    ForEach([&](const Decision& d) { all.push_back(d); });
    all_ = std::move(all);
  }
  return *all_;
}

void DecisionLog::Truncate(size_t size) {
  all_.reset();
  while (size_ > size && size_ - chunks_.back().count >= size) {
    size_ -= chunks_.back().count;
    chunks_.pop_back();
  }
  if (size_ <= size) return;
  Chunk& last = chunks_.back();
  std::string_view rest = last.bytes;
  const size_t kept = last.count - (size_ - size);
  for (size_t i = 0; i < kept; ++i) TakeEncoded(rest, texts_);
  last.bytes.resize(last.bytes.size() - rest.size());
  last.count = kept;
  size_ = size;
}

void DecisionLog::Append(const DecisionLog& other) {
  other.ForEach([&](const Decision& d) { Record(d); });
}

void DecisionLog::Append(DecisionLog other, std::string_view entry, size_t first_step) {
  if (empty() && entry.empty() && first_step == 0) {
    *this = std::move(other);
    return;
  }
  other.ForEach([&](const Decision& given) {
    Decision d = given;
    d.subject.entry = entry;
    if (d.subject.step >= 0) d.subject.step += static_cast<int>(first_step);
    Record(d);
  });
}

void DecisionLog::Rewrite(FunctionRef<void(Decision&)> change) {
  DecisionLog changed;
  ForEach([&](const Decision& given) {
    Decision d = given;
    change(d);
    changed.Record(d);
  });
  *this = std::move(changed);
}

void DecisionLog::RemoveSteps(const std::vector<bool>& gone) {
  std::vector<int> number(gone.size(), -1);
  int next = 0;
  for (size_t s = 0; s < gone.size(); ++s) {
    if (!gone[s]) number[s] = next++;
  }
  if (static_cast<size_t>(next) == gone.size()) return;
  Rewrite([&](Decision& d) {
    int& step = d.subject.step;
    if (step >= 0 && static_cast<size_t>(step) < gone.size()) {
      step = number[static_cast<size_t>(step)];
    }
  });
}

std::string DecisionLog::ToJsonLines() const { return ToJsonLines(INT64_MAX); }

std::string DecisionLog::ToJsonLines(int64_t bytes) const {
  std::string out, line;
  size_t written = 0;
  for (const Chunk& chunk : chunks_) {
    std::string_view rest = chunk.bytes;
    for (; !rest.empty(); ++written) {
      line.clear();
      schema::AppendJsonLine(TakeEncoded(rest, texts_), line);
      if (static_cast<int64_t>(out.size() + line.size()) > bytes) {
        schema::AppendJsonLine(LeftOut(size_ - written), out);
        return out;
      }
      out += line;
    }
  }
  return out;
}

Result<DecisionLog> DecisionLog::Parse(std::string_view lines) {
  AICF_ASSIGN_OR_RETURN(std::vector<Decision> decisions, schema::ParseDecisionLines(lines));
  return DecisionLog(decisions);
}

}  // namespace aicf
