// Uses the C interface: a session, and sometimes its program, is destroyed while threads run it.
#include <atomic>
#include <cstring>

#include "aicf/aicf_c.h"
#include "tests/endurance/checks.h"
#include "tests/endurance/crowd.h"

namespace aicf::endurance {
namespace {

bool Ended() { return std::strstr(aicf_last_error(), "names nothing") != nullptr; }
bool Busy() {
  const char* error = aicf_last_error();
  return std::strstr(error, "is busy") != nullptr ||
         std::strstr(error, "still in flight") != nullptr;
}

/// The first output of the first entry point, without a dynamic axis.
class Destroys {
 public:
  Destroys(const Options& options, const Subject& subject)
      : options_(options),
        subject_(subject),
        request_(subject.MakeScript(0)[0]),
        output_(subject.program()->entries()[0].outputs[0]) {}

  std::string Prepare() {
    if (aicf_program_load(subject_.path().c_str(), &program_) != AICF_OK) return aicf_last_error();
    const std::string created = Create();
    if (!created.empty()) return created;
    expected_.resize(output_.bytes);
    if (aicf_session_run(session_) != AICF_OK || Read(expected_.data()) != AICF_OK) {
      return aicf_last_error();
    }
    return aicf_session_destroy(session_) == AICF_OK ? "" : aicf_last_error();
  }

  /// Thread 0 creates and destroys, the others run what there is.
  std::string Run(uint64_t rounds) {
    rounds_ = rounds;
    for (uint64_t r = 0; r < rounds_; ++r) {
      std::string fault = Create();
      if (!fault.empty()) return fault;
      // Every fifth time the program goes first.
      const bool program_too = r % 5 == 4;
      runs_ = 0;
      fault = InACrowd(options_.threads + 1,
                       [&](int t) { return t == 0 ? Destroy(program_too) : RunUntilTheEnd(); });
      if (!fault.empty()) return fault;
      total_ += runs_;
      if (program_too && aicf_program_load(subject_.path().c_str(), &program_) != AICF_OK) {
        return aicf_last_error();
      }
    }
    return "";
  }
  void End() { (void)aicf_program_destroy(program_); }
  uint64_t total() const { return total_; }

 private:
  std::string Create() {
    aicf_session_options o;
    aicf_session_options_init(&o);
    o.device = options_.session.device.c_str();
    o.threads = options_.session.threads;
    if (aicf_session_create(program_, &o, &session_) != AICF_OK ||
        aicf_session_select_entry(session_, request_.entry.c_str()) != AICF_OK) {
      return aicf_last_error();
    }
    for (const Given& g : request_.given) {
      const auto set = g.meta ? aicf_session_set_meta : aicf_session_set_input;
      if (set(session_, g.name.c_str(), DTypeName(g.dtype).data(), g.shape.begin(), g.shape.rank(),
              g.data.data(), g.data.size()) != AICF_OK) {
        return aicf_last_error();
      }
    }
    return "";
  }

  aicf_code Read(std::byte* to) {
    return aicf_session_get_output(session_, output_.name.c_str(), DTypeName(output_.dtype).data(),
                                   output_.shape.begin(), output_.shape.rank(), to, output_.bytes);
  }

  std::string Destroy(bool program_too) {
    while (runs_ < 3) std::this_thread::yield();  // they are at work
    if (program_too && aicf_program_destroy(program_) != AICF_OK) return aicf_last_error();
    return aicf_session_destroy(session_) == AICF_OK ? "" : aicf_last_error();
  }

  std::string RunUntilTheEnd() {
    std::vector<std::byte> bytes(output_.bytes);
    for (;;) {
      if (aicf_session_run(session_) != AICF_OK) {
        if (Ended()) return "";
        if (!Busy()) return aicf_last_error();
      } else {
        ++runs_;
      }
      if (Read(bytes.data()) != AICF_OK) {
        if (Ended()) return "";
        if (!Busy()) return aicf_last_error();
      } else if (runs_ > 0 && !subject_.has_states() && bytes != expected_) {
        return "other bits";
      }
    }
  }

  const Options& options_;
  const Subject& subject_;
  const Request request_;
  const TensorInfo& output_;
  aicf_program program_ = 0;
  aicf_session session_ = 0;
  std::vector<std::byte> expected_;
  std::atomic<uint64_t> runs_{0};
  uint64_t rounds_ = 0, total_ = 0;
};

}  // namespace

int CheckDestroys(const Options& options, const Subject& subject, const Meter& meter) {
  if (subject.program()->entries()[0].outputs[0].dynamic_axis >= 0) return 0;
  Destroys destroys(options, subject);
  std::string fault = destroys.Prepare();
  if (fault.empty()) {
    fault = FaultOrGrowth(
        meter, [&](uint64_t n) { return destroys.Run(n); }, options.destroys / 10 + 2,
        options.destroys);
  }
  destroys.End();
  return Tell(StrCat(subject.name(), ": ", options.destroys, " sessions destroyed under ",
                     options.threads, " threads, which had run them ", destroys.total(), " times"),
              fault);
}

}  // namespace aicf::endurance
