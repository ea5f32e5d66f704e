#include "schema/step_order.h"

#include <algorithm>

namespace aicf::schema {

StepOrder::StepOrder(const Program& program, const EntryPoint& entry)
    : first_step_(entry.first_step) {
  const int64_t end = first_step_ + entry.step_count;
  for (int64_t s = first_step_; s < end; ++s) {
    streams_ = std::max(streams_, program.steps[static_cast<size_t>(s)].stream + 1);
  }
  if (serial()) return;
  last_before_.assign(static_cast<size_t>(entry.step_count) * streams_, -1);
  stream_of_.reserve(entry.step_count);
  std::vector<int64_t> newest(streams_, -1);  // by stream
  for (int64_t s = first_step_; s < end; ++s) {
    const Step& step = program.steps[static_cast<size_t>(s)];
    stream_of_.push_back(step.stream);
    if (newest[step.stream] >= 0) Follow(s, newest[step.stream]);
    for (uint32_t w : step.waits) Follow(s, w);
    newest[step.stream] = s;
  }
  FindAlone();
}

// It is enough to compare a step with the last step before it and the first step after it on every
// stream: these stand for all others of the stream.
void StepOrder::FindAlone() {
  const size_t count = stream_of_.size();
  alone_.assign(count, true);
  std::vector<int64_t> next(streams_, -1);
  for (size_t i = 0; i < count; ++i) {
    const int64_t s = first_step_ + static_cast<int64_t>(i);
    for (uint32_t t = 0; t < streams_; ++t) {
      if (next[t] >= 0 && !Before(next[t], s)) alone_[i] = false;
    }
    next[stream_of_[i]] = s;
  }
  std::fill(next.begin(), next.end(), -1);
  for (size_t i = count; i-- > 0;) {
    const int64_t s = first_step_ + static_cast<int64_t>(i);
    for (uint32_t t = 0; t < streams_; ++t) {
      if (next[t] >= 0 && !Before(s, next[t])) alone_[i] = false;
    }
    next[stream_of_[i]] = s;
  }
}

// What came before `earlier`, and that step itself, comes before `step`.
void StepOrder::Follow(int64_t step, int64_t earlier) {
  for (uint32_t stream = 0; stream < streams_; ++stream) {
    LastBefore(step, stream) = std::max(LastBefore(step, stream), LastBefore(earlier, stream));
  }
  int64_t& last = LastBefore(step, stream_of_[static_cast<size_t>(earlier - first_step_)]);
  last = std::max(last, earlier);
}

bool StepOrder::Before(int64_t a, int64_t b) const {
  if (serial()) return a < b;
  const uint32_t stream = stream_of_[static_cast<size_t>(a - first_step_)];
  return last_before_[static_cast<size_t>(b - first_step_) * streams_ + stream] >= a;
}

}  // namespace aicf::schema
