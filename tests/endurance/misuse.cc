// Many threads use one session at once. The interface does not allow that, but it has to refuse it
// without harm.
#include <atomic>
#include <cstring>
#include <random>

#include "tests/endurance/checks.h"
#include "tests/endurance/crowd.h"

namespace aicf::endurance {
namespace {

constexpr size_t kVariants = 4;  ///< of the first input; the other inputs are always the same

/// A session of one entry point, called by all threads.
class Misuse {
 public:
  Misuse(const Options& options, const Subject& subject)
      : options_(options), subject_(subject), request_(subject.MakeScript(0)[0]) {
    for (size_t v = 0; v < kVariants; ++v) {
      variants_.push_back(subject.MakeScript(v == 0 ? 0 : options.seed + v)[0].given[0]);
    }
  }

  Status Prepare() {
    AICF_ASSIGN_OR_RETURN(client_, Client::Create(subject_.program(), options_.session));
    for (const Given& variant : variants_) {
      request_.given[0] = variant;
      legal_.emplace_back();
      AICF_RETURN_IF_ERROR(client_->Ask({request_}, &legal_.back()));
    }
    entry_ = &subject_.program()->entries()[client_->session().selected_entry()];
    return options_.plant == Plant::kTorn ? client_->PeekAtFirstOutput() : OkStatus();
  }

  std::string Run() {
    std::string fault = InACrowd(options_.threads, [&](int t) {
      const Status status = Calls(t);
      return status.ok() ? std::string() : status.ToString();
    });
    if (!fault.empty()) return fault;
    // On one processor threads may never meet; that says nothing.
    if (done_ == 0) return "no call was done";
    Answer answer;
    const Status after = client_->Ask({request_}, &answer);
    if (!after.ok()) return after.ToString();
    return answer == legal_.back() ? "" : "the session gives other bits afterwards";
  }

  uint64_t done() const { return done_; }
  uint64_t busy() const { return busy_; }

 private:
  /// Whether the call was refused, as the contract says, and not done. Errors: all others.
  Result<bool> Judge(const Status& status) {
    if (status.ok()) {
      ++done_;
      return false;
    }
    const bool refused = status.code() == Code::kInvalidArgument &&
                         (status.message().find("is busy") != std::string::npos ||
                          status.message().find("still in flight") != std::string::npos);
    if (!refused) return status;
    ++busy_;
    return true;
  }

  Status Calls(int thread) {
    const std::unique_ptr<Client> reader = Client::Reader(*client_);
    std::mt19937_64 random(options_.seed * 31 + static_cast<uint64_t>(thread));
    // Refusals are quick: whoever counted them would be ready before another's run is.
    for (uint64_t done = 0; done < options_.calls;) {
      AICF_ASSIGN_OR_RETURN(const bool refused, Call(random(), *reader));
      done += !refused;
      if (refused) std::this_thread::yield();
    }
    return OkStatus();
  }

  Result<bool> Call(uint64_t number, Client& reader) {
    Session& session = client_->session();
    const size_t output = number / 16 % entry_->outputs.size();
    switch (number % 16) {
      case 0:
      case 1: {
        const Given& input = variants_[number / 16 % kVariants];
        return Judge(input.meta ? session.SetMeta(input.name, input.view())
                                : session.SetInput(input.name, input.view()));
      }
      case 2:
        return Judge(session.ResetStates());
      case 3:
        return Judge(number % 64 == 3 ? session.Fork().status() : session.Wait());
      case 4:
        return Judge(session.TimeReplays(1).status());
      case 5:
        return Judge(session.OutputShape(entry_->outputs[output].name).status());
      case 6:
        (void)session.selected_entry();
        (void)session.memory();
        return false;
      case 7:
      case 8:
      case 9:
      case 10:
        return ReadOne(output, reader);
      default:
        return Judge(session.Run());
    }
  }

  Result<bool> ReadOne(size_t output, Client& reader) {
    Hash128 hash;
    const TensorInfo& info = entry_->outputs[output];
    const Status status = reader.ReadOutput(info, &hash);
    if (!status.ok() || subject_.has_states()) return Judge(status);
    for (const Answer& legal : legal_) {
      if (legal[output] == hash) return Judge(status);
    }
    return Error(Code::kCheckFailed, "output '", info.name, "' is of no run: torn");
  }

  const Options& options_;
  const Subject& subject_;
  Request request_;
  std::vector<Given> variants_;
  std::vector<Answer> legal_;  ///< by variant
  std::unique_ptr<Client> client_;
  const EntryInfo* entry_ = nullptr;
  std::atomic<uint64_t> done_{0}, busy_{0};
};

}  // namespace

int CheckMisuse(const Options& options, const Subject& subject) {
  Misuse misuse(options, subject);
  const Status prepared = misuse.Prepare();
  const std::string fault = prepared.ok() ? misuse.Run() : prepared.ToString();
  return Tell(StrCat(subject.name(), ": ", options.threads, " threads x ", options.calls,
                     " calls into one session, ", misuse.done(), " done and ", misuse.busy(),
                     " refused as busy"),
              fault);
}

}  // namespace aicf::endurance
