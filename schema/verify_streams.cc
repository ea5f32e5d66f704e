// The order of steps on a GPU: streams, waits across them, and programmatic launches.
//
// A programmatic launch of step s may start while p, the step before it on its stream, still runs.
// That is legal where s cannot see the difference. A thread of its kernel waits until p has
// finished and what p wrote can be seen before it touches memory, and so does one thread of every
// block (KernelInfo::waits_first): p comes before whatever s does, and s ends after p. The wait
// says nothing about the steps before p. But p finished, and whatever p is, it finished after the
// step before it: a full launch begins only then, and a programmatic one has waited in the same
// way. So by induction all earlier steps of the stream have finished, too, and all that they waited
// for. The induction needs that p is one kernel of aicf's own: a library's call may consist of
// several kernels, of which the device would wait for the last one only.
#include <algorithm>

#include "base/scanner.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

class StreamVerifier {
 public:
  explicit StreamVerifier(const VerifyContext& c) : c_(c), p_(c.program) {}

  Status Run() {
    for (size_t i = 0; i < p_.entry_points.size(); ++i) {
      entry_ = &p_.entry_points[i];
      loops_ = &c_.loops[i];
      AICF_RETURN_IF_ERROR(InEntryPoint(*entry_, Entry()));
    }
    return OkStatus();
  }

 private:
  Status Entry() {
    const uint32_t end = entry_->first_step + entry_->step_count;
    int64_t newest[kMaxStreams];
    std::fill_n(newest, kMaxStreams, kNone);
    one_stream_ = !entry_->loops.empty();
    for (uint32_t s = entry_->first_step; s < end; ++s) {
      one_stream_ = one_stream_ || !p_.steps[s].guards.empty();
    }
    for (uint32_t s = entry_->first_step; s < end; ++s) {
      Status status = CheckStep(s, newest);
      if (!status.ok()) return status.WithContext(DescribeStep(p_, s));
    }
    return OkStatus();
  }

  Status CheckStep(uint32_t s, int64_t (&newest)[kMaxStreams]) const {
    const Step& step = p_.steps[s];
    if (step.stream >= kMaxStreams)
      return Error(Code::kBadArtifact, "stream ", step.stream, " of ", kMaxStreams);
    const bool ordered = step.stream != 0 || !step.waits.empty() || step.programmatic;
    if (ordered && c_.device.backend != abi::Backend::kCuda) {
      return Error(Code::kBadArtifact, "a stream, a wait or a programmatic launch on the target ",
                   c_.device.name);
    }
    if (step.stream != 0 && one_stream_) {
      return Error(Code::kBadArtifact, "stream ", step.stream,
                   " in an entry point that skips or repeats steps, which runs on one stream");
    }
    AICF_RETURN_IF_ERROR(CheckWaits(s));
    if (step.programmatic) AICF_RETURN_IF_ERROR(CheckProgrammatic(s, newest[step.stream]));
    newest[step.stream] = s;
    return OkStatus();
  }

  // Of every other stream a step waits for one step at most, because the latest one is enough. Of
  // its own stream it waits for none, because it comes after all earlier ones anyway.
  Status CheckWaits(uint32_t s) const {
    const Step& step = p_.steps[s];
    bool named[kMaxStreams] = {};
    for (size_t i = 0; i < step.waits.size(); ++i) {
      const uint32_t w = step.waits[i];
      if (w < entry_->first_step || w >= s) {
        return Error(Code::kBadArtifact, "waits for step ", w,
                     ", expected an earlier one of its entry point");
      }
      if (i > 0 && w <= step.waits[i - 1])
        return Error(Code::kBadArtifact, "its waits do not ascend");
      const uint32_t stream = p_.steps[w].stream;
      if (stream == step.stream)
        return Error(Code::kBadArtifact, "waits for step ", w, " of its own stream ", stream);
      if (named[stream]) return Error(Code::kBadArtifact, "waits for two steps of stream ", stream);
      named[stream] = true;
    }
    return OkStatus();
  }

  // Whether the step lies in the body of a conditional node.
  bool Conditional(int64_t s) const {
    return !p_.steps[static_cast<size_t>(s)].guards.empty() ||
           loops_->InnermostOf(s) != LoopTree::kNone;
  }

  Status CheckProgrammatic(uint32_t s, int64_t before) const {
    const auto refuse = [](const auto&... why) {
      return Error(Code::kBadArtifact, "a programmatic launch ", why...);
    };
    if (!c_.device.programmatic)
      return refuse("on the target ", c_.device.name, ", which has none");
    if (!c_.kernels[s]->waits_first) {
      return refuse("of a kernel that does not wait for the one before it");
    }
    if (!p_.steps[s].waits.empty()) return refuse("that also waits for a step of another stream");
    if (before == kNone) return refuse("of the first step of its stream");
    if (Conditional(s)) return refuse("of a step that may be skipped or repeated");
    if (Conditional(before)) {
      return refuse("after ", DescribeStep(p_, static_cast<uint32_t>(before)),
                    ", which may be skipped or repeated");
    }
    if (c_.kernels[static_cast<size_t>(before)]->backend != abi::Backend::kCuda) {
      return refuse("after ", DescribeStep(p_, static_cast<uint32_t>(before)),
                    ", which is no kernel of aicf's own");
    }
    return OkStatus();
  }

  static constexpr int64_t kNone = -1;

  const VerifyContext& c_;
  const Program& p_;
  const EntryPoint* entry_ = nullptr;
  const LoopTree* loops_ = nullptr;
  bool one_stream_ = false;  // the entry point has guards or loops
};

}  // namespace

Status VerifyStreams(const VerifyContext& context) { return StreamVerifier(context).Run(); }

}  // namespace aicf::schema
