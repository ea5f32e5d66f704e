// Sessions come and go while others run.
#include <atomic>
#include <chrono>
#include <random>

#include "tests/endurance/checks.h"
#include "tests/endurance/crowd.h"

namespace aicf::endurance {
namespace {

constexpr int kResidents = 2;  ///< threads whose sessions stay

class Churn {
 public:
  Churn(const Options& options, const std::vector<Subject>& subjects)
      : options_(options), subjects_(subjects) {}

  Status Prepare() {
    for (const Subject& subject : subjects_) {
      scripts_.push_back(subject.MakeScript(options_.seed));
      expected_.emplace_back();
      AICF_ASSIGN_OR_RETURN(const auto client, Client::Create(subject.program(), options_.session));
      AICF_RETURN_IF_ERROR(client->Ask(scripts_.back(), &expected_.back()));
    }
    return OkStatus();
  }

  std::string Run(uint64_t cycles) {
    next_ = 0;
    cycles_ = cycles;
    return InACrowd(kResidents + options_.threads, [&](int t) {
      const Status status = t < kResidents ? Reside(t) : Cycles();
      next_ = status.ok() ? next_.load() : cycles_;  // the others end, too
      return status.ok() ? std::string() : status.ToString();
    });
  }

 private:
  Status Compare(size_t s, const Answer& answer) const {
    if (answer == expected_[s]) return OkStatus();
    return Error(Code::kCheckFailed, subjects_[s].name(), " gives other bits");
  }

  Status Reside(int thread) {
    const size_t s = static_cast<size_t>(thread) % subjects_.size();
    AICF_ASSIGN_OR_RETURN(const auto client,
                          Client::Create(subjects_[s].program(), options_.session));
    Answer answer;
    while (next_ < cycles_) {
      AICF_RETURN_IF_ERROR(client->Ask(scripts_[s], &answer));
      AICF_RETURN_IF_ERROR(Compare(s, answer));
    }
    return OkStatus();
  }

  Status Cycles() {
    for (uint64_t i; (i = next_.fetch_add(1)) < cycles_;) AICF_RETURN_IF_ERROR(Cycle(i));
    return OkStatus();
  }

  /// One life. Every fifth is of a program of its own, which is given up before the session; of a
  /// fork, whose origin is; and of a session that is destroyed while its replay may be in flight.
  Status Cycle(uint64_t number) {
    const size_t s = number / 5 % subjects_.size();
    SessionOptions options = options_.session;
    options.sync = number % 5 == 4 ? SyncPolicy::kNoSync : static_cast<SyncPolicy>(number % 3);
    options.transfers = number % 2 == 0;
    options.cuda_graph = number % 7 != 6;
    std::shared_ptr<const Program> program = subjects_[s].program();
    if (number % 5 == 2) {
      AICF_ASSIGN_OR_RETURN(program, Program::Load(subjects_[s].path()));
    }
    AICF_ASSIGN_OR_RETURN(auto client, Client::Create(program, options));
    program = nullptr;
    if (number % 5 == 4) {
      AICF_RETURN_IF_ERROR(client->Set(scripts_[s][0]));
      return client->session().Run();
    }
    Answer answer;
    AICF_RETURN_IF_ERROR(client->Ask(scripts_[s], &answer));
    AICF_RETURN_IF_ERROR(Compare(s, answer));
    if (number % 5 == 3) {
      AICF_RETURN_IF_ERROR(client->BecomeFork());
      AICF_RETURN_IF_ERROR(client->Ask(scripts_[s], &answer));
      AICF_RETURN_IF_ERROR(Compare(s, answer));
    }
    if (options_.plant == Plant::kSession && number % 100 == 0) (void)client.release();
    return OkStatus();
  }

  const Options& options_;
  const std::vector<Subject>& subjects_;
  std::vector<Script> scripts_;
  std::vector<Answer> expected_;
  std::atomic<uint64_t> next_{0};
  uint64_t cycles_ = 0;
};

}  // namespace

int CheckChurn(const Options& options, const std::vector<Subject>& subjects, const Meter& meter) {
  Churn churn(options, subjects);
  const std::string what = StrCat(options.cycles, " sessions created, run and destroyed on ",
                                  options.threads, " threads beside ", kResidents, " others");
  const Status prepared = churn.Prepare();
  if (!prepared.ok()) return Tell(what, prepared.ToString());
  const auto start = std::chrono::steady_clock::now();
  const std::string fault = FaultOrGrowth(
      meter, [&](uint64_t n) { return churn.Run(n); }, options.cycles / 10 + 10, options.cycles);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return Tell(StrCat(what, ", ", took.count(), " s"), fault);
}

}  // namespace aicf::endurance
