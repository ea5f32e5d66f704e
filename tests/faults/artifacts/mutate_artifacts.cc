// Damages artifacts, loads them and runs those that are accepted: see kHelp.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "tests/faults/artifacts/corpus.h"
#include "tests/faults/artifacts/judge.h"
#include "tests/faults/artifacts/workshop.h"

namespace aicf::hostile {
namespace {

constexpr const char* kHelp = R"(mutate_artifacts --seeds=DIR [options]
Damages the artifacts in DIR, with hashes recomputed, loads them, and runs on the CPU what is accepted,
with unmapped pages and patterns around every value. Each file is judged in a child process: a signal, a
sanitizer's report and ten seconds without an end are found like a changed pattern.

  --seed=N         series of damaged files; default 1
  --count=N        how many; default 10000, or all bits
  --first=N        number of the first one; default 0
  --seconds=S      stop after so long
  --every-bit=NAME instead: every bit of the artifact of that name (NAME: part of its file name)
  --save=DIR       write the files that were found
  --plant=write|read  move operands of verified programs out of their buffers, and expect that
                   this is found
  --corpus=DIR     write the artifacts that are hostile by hand, with their manifest
  --one=FILE       judge this file, in this process; --seed=N draws its inputs, N being the number
                   under which it was found
)";

struct Options {
  std::string seeds, every_bit, save, one, corpus;
  uint64_t seed = 1, count = 0, first = 0;  // count 0: the default
  double seconds = 1e9;
  Plant plant = Plant::kNone;
};

/// What a child tells its parent while it works.
struct Board {
  uint64_t next = 0;  ///< number of the file at hand
  uint64_t verdicts[static_cast<size_t>(Verdict::kCount)] = {};
  char sentence[512] = {};
  bool broken = false;
};

bool Take(std::string_view arg, std::string_view name, std::string* value) {
  if (!arg.starts_with(name)) return false;
  *value = arg.substr(name.size());
  return true;
}

bool Parse(int argc, char** argv, Options* o) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    std::string value;
    if (Take(arg, "--seeds=", &o->seeds) || Take(arg, "--every-bit=", &o->every_bit) ||
        Take(arg, "--save=", &o->save) || Take(arg, "--one=", &o->one) ||
        Take(arg, "--corpus=", &o->corpus)) {
      continue;
    }
    if (Take(arg, "--seed=", &value)) {
      o->seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (Take(arg, "--count=", &value)) {
      o->count = std::strtoull(value.c_str(), nullptr, 10);
    } else if (Take(arg, "--first=", &value)) {
      o->first = std::strtoull(value.c_str(), nullptr, 10);
    } else if (Take(arg, "--seconds=", &value)) {
      o->seconds = std::strtod(value.c_str(), nullptr);
    } else if (Take(arg, "--plant=", &value) && (value == "write" || value == "read")) {
      o->plant = value == "write" ? Plant::kWrite : Plant::kRead;
    } else {
      return false;
    }
  }
  return !o->seeds.empty() || !o->one.empty() || !o->corpus.empty();
}

class Campaign {
 public:
  Campaign(const Options& options, std::vector<Seed> seeds)
      : options_(options), seeds_(std::move(seeds)) {
    void* shared =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board_ = new (shared) Board;
  }

  int Run() {
    const bool bits = !options_.every_bit.empty();
    uint64_t end = options_.first + (options_.count == 0 && !bits ? 10000 : options_.count);
    if (!options_.every_bit.empty()) {
      const auto named = [&](const Seed& s) {
        return s.name.find(options_.every_bit) != s.name.npos;
      };
      const auto found = std::ranges::find_if(seeds_, named);
      if (found == seeds_.end()) {
        std::cerr << "no artifact is named " << options_.every_bit << "\n";
        return 2;
      }
      flipped_ = &*found;
      const uint64_t all = flipped_->file.size() * 8;
      end = options_.count == 0 ? all : std::min(all, end);
    }
    board_->next = options_.first;
    while (board_->next < end && Elapsed() < options_.seconds) RunChild(end);
    return Report();
  }

 private:
  double Elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::vector<std::byte> FileOf(uint64_t number) const {
    if (options_.plant != Plant::kNone) return seeds_[number % seeds_.size()].file;
    return flipped_ != nullptr ? FlippedFile(*flipped_, number)
                               : DamagedFile(seeds_, options_.seed, number);
  }

  /// Judges files until the end, the time or a defect; a crash leaves the number on the board.
  void RunChild(uint64_t end) {
    board_->broken = false;
    const pid_t child = fork();
    if (child == 0) {
      for (; board_->next < end && Elapsed() < options_.seconds; ++board_->next) {
        alarm(10);
        const Judgement judged = Judge(FileOf(board_->next), board_->next, {}, options_.plant);
        ++board_->verdicts[static_cast<size_t>(judged.verdict)];
        if (options_.plant != Plant::kNone && judged.verdict == Verdict::kAccepted) {
          std::cout << "missed in " << seeds_[board_->next % seeds_.size()].name << std::endl;
        }
        if (judged.verdict != Verdict::kBroken) continue;
        std::snprintf(board_->sentence, sizeof board_->sentence, "%s", judged.sentence.c_str());
        board_->broken = true;
        std::_Exit(1);
      }
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    std::string why = board_->sentence;
    if (!board_->broken) {
      why = WIFSIGNALED(status)
                ? (WTERMSIG(status) == SIGALRM ? std::string("no end within ten seconds")
                                               : StrCat("signal ", WTERMSIG(status)))
                : StrCat("exit code ", WEXITSTATUS(status));
      ++board_->verdicts[static_cast<size_t>(Verdict::kBroken)];
    }
    Record(board_->next, why);
    ++board_->next;
  }

  void Record(uint64_t number, const std::string& why) {
    std::cout << "found: " << (flipped_ != nullptr ? "bit " : "file ") << number << ": " << why
              << std::endl;
    if (options_.save.empty()) return;
    // In a child again: it may be the making of the file that failed.
    const pid_t child = fork();
    if (child == 0) {
      Save(number);
      std::_Exit(0);
    }
    waitpid(child, nullptr, 0);
  }

  void Save(uint64_t number) const {
    const std::vector<std::byte> file = FileOf(number);
    std::ofstream out(options_.save + "/" + std::to_string(options_.seed) + "_" +
                          std::to_string(number) + ".aicf",
                      std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()),
              static_cast<std::streamsize>(file.size()));
  }

  int Report() const {
    const auto count = [&](Verdict v) { return board_->verdicts[static_cast<size_t>(v)]; };
    const uint64_t broken = count(Verdict::kBroken);
    std::cout << "seed " << options_.seed << ", files " << options_.first << " to " << board_->next
              << ", " << Elapsed() << " s: " << count(Verdict::kRefused) << " refused, "
              << count(Verdict::kAccepted) << " accepted and run, " << count(Verdict::kLarge)
              << " accepted and too large to run here, " << count(Verdict::kEnded)
              << " ended by a typed error, " << broken << " found\n";
    if (options_.plant == Plant::kNone) return broken == 0 ? 0 : 1;
    // Every planted defect, of which each program that runs has one, has to be found.
    const bool all = broken > 0 && count(Verdict::kAccepted) == 0;
    std::cout << (all ? "every planted defect was found\n" : "a planted defect was missed\n");
    return all ? 0 : 1;
  }

  const Options& options_;
  const std::vector<Seed> seeds_;
  const Seed* flipped_ = nullptr;
  Board* board_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int JudgeOne(const std::string& path, uint64_t seed) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const Judgement judged =
      Judge(std::as_bytes(std::span(text.data(), text.size())), seed, RunLimits{});
  std::cout << static_cast<int>(judged.verdict) << " " << judged.sentence << "\n";
  return judged.verdict == Verdict::kBroken ? 1 : 0;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    std::cerr << kHelp;
    return 2;
  }
  if (!options.corpus.empty()) return WriteCorpus(options.corpus) ? 0 : 8;
  if (!options.one.empty()) return JudgeOne(options.one, options.seed);
  Result<std::vector<Seed>> seeds = LoadSeeds(options.seeds);
  if (!seeds.ok()) {
    std::cerr << seeds.status().ToString() << "\n";
    return ExitCode(seeds.status().code());
  }
  return Campaign(options, *std::move(seeds)).Run();
}

}  // namespace
}  // namespace aicf::hostile

int main(int argc, char** argv) { return aicf::hostile::Main(argc, argv); }
