// Compares the results of a session per thread with those of a single thread.
#include <chrono>
#include <cstring>
#include <random>

#include "tests/endurance/checks.h"
#include "tests/endurance/crowd.h"

namespace aicf::endurance {
namespace {

constexpr int kScripts = 8;  ///< of a thread

/// What a thread asks, and what the answers are.
struct Exam {
  const Subject* subject = nullptr;
  std::vector<Script> scripts;
  std::vector<Answer> expected;
};

/// Memory that the plants' threads share and should not.
struct Shared {
  Script script;
  std::vector<std::byte> output;
  void* AlignedOutput() {
    const auto address = reinterpret_cast<uintptr_t>(output.data());
    return output.data() + (256 - address % 256);
  }
};

class Threads {
 public:
  Threads(const Options& options, const std::vector<Subject>& subjects)
      : options_(options), subjects_(subjects) {}

  /// Answers of one thread.
  Status Prepare() {
    for (int t = 0; t < options_.threads; ++t) {
      const bool planted = options_.plant == Plant::kRace || options_.plant == Plant::kOutputs;
      Exam exam{&subjects_[planted ? 0 : static_cast<size_t>(t) % subjects_.size()], {}, {}};
      for (int k = 0; k < kScripts; ++k) {
        const auto number = static_cast<uint64_t>(t * kScripts + k + 1);
        exam.scripts.push_back(exam.subject->MakeScript(options_.seed * 1'000'003 + number));
      }
      exams_.push_back(std::move(exam));
    }
    for (const Subject& subject : subjects_) AICF_RETURN_IF_ERROR(Answer1(subject));
    shared_.script = subjects_[0].MakeScript(0);
    shared_.output.resize(subjects_[0].program()->outputs()[0].bytes + 256);
    return OkStatus();
  }

  std::string Run(uint64_t runs) {
    return InACrowd(options_.threads, [&](int t) {
      const auto fault = RunOne(t, runs);
      return fault.ok() ? *fault : fault.status().ToString();
    });
  }

 private:
  /// Fills in the answers of a subject's exams.
  Status Answer1(const Subject& subject) {
    std::unique_ptr<Client> client;
    for (Exam& exam : exams_) {
      if (exam.subject != &subject) continue;
      if (client == nullptr) {
        AICF_ASSIGN_OR_RETURN(client, Client::Create(subject.program(), options_.session));
      }
      for (const Script& script : exam.scripts) {
        exam.expected.emplace_back();
        AICF_RETURN_IF_ERROR(client->Ask(script, &exam.expected.back()));
      }
    }
    return OkStatus();
  }

  /// Sessions of every kind.
  SessionOptions SessionOf(int thread) const {
    SessionOptions o = options_.session;
    o.sync = static_cast<SyncPolicy>(thread % 3);
    o.transfers = thread % 2 == 0;
    if (thread % 4 == 3) ++o.threads;  // with workers
    return o;
  }

  Result<std::string> RunOne(int thread, uint64_t runs) {
    const Exam& exam = exams_[static_cast<size_t>(thread)];
    AICF_ASSIGN_OR_RETURN(const auto client,
                          Client::Create(exam.subject->program(), SessionOf(thread)));
    if (options_.plant == Plant::kOutputs) {
      AICF_RETURN_IF_ERROR(client->BindFirstOutput(shared_.AlignedOutput()));
    }
    std::mt19937_64 random(options_.seed + static_cast<uint64_t>(thread));
    uint64_t wrong = 0;
    Answer answer;
    for (uint64_t i = 0; i < runs; ++i) {
      const size_t pick = random() % kScripts;
      AICF_RETURN_IF_ERROR(client->Ask(Asked(exam.scripts[pick]), &answer));
      wrong += answer != exam.expected[pick];
    }
    if (wrong == 0) return std::string();
    return StrCat(exam.subject->name(), ": ", wrong, " of ", runs, " runs give other bits");
  }

  /// The script, for the plant in memory that all threads write.
  const Script& Asked(const Script& script) {
    if (options_.plant != Plant::kRace) return script;
    for (size_t r = 0; r < script.size(); ++r) {
      for (size_t g = 0; g < script[r].given.size(); ++g) {
        const std::vector<std::byte>& from = script[r].given[g].data;
        std::memcpy(shared_.script[r].given[g].data.data(), from.data(), from.size());
      }
    }
    std::this_thread::yield();  // so that others come in between, on one processor, too
    return shared_.script;
  }

  const Options& options_;
  const std::vector<Subject>& subjects_;
  std::vector<Exam> exams_;
  Shared shared_;
};

}  // namespace

int CheckThreads(const Options& options, const std::vector<Subject>& subjects, const Meter& meter) {
  Threads threads(options, subjects);
  const std::string what = StrCat(options.threads, " threads x ", options.runs, " runs of ",
                                  subjects.size(), " artifacts");
  const Status prepared = threads.Prepare();
  if (!prepared.ok()) return Tell(what, prepared.ToString());
  const auto start = std::chrono::steady_clock::now();
  const std::string fault = FaultOrGrowth(
      meter, [&](uint64_t n) { return threads.Run(n); }, options.runs / 20 + 2, options.runs);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return Tell(StrCat(what, ", ", took.count(), " s"), fault);
}

}  // namespace aicf::endurance
