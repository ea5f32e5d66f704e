// Linked into every rewritten test program. It switches one site off and records which tests make
// which sites refuse, as lines "SITE TEST" in the file that AICF_MUTANT_TRACE names.
#include "tests/mutation/mutant.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>

namespace aicf_mutant {
namespace {

class Trace {
 public:
  explicit Trace(const char* path) : path_(path == nullptr ? "" : path) {}
  ~Trace() {
    if (path_.empty()) return;
    std::ofstream out(path_);
    for (const auto& [site, test] : fired_) out << site << " " << test << "\n";
  }

  void Note(int site) {
    if (path_.empty()) return;
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    if (test == nullptr) return;
    const std::lock_guard lock(mutex_);
    fired_.emplace(site, std::string(test->test_suite_name()) + "." + test->name());
  }

 private:
  std::string path_;
  std::mutex mutex_;
  std::set<std::pair<int, std::string>> fired_;
};

}  // namespace

bool Fires(int site) {
  static const char* const off = std::getenv("AICF_MUTANT");
  static const int number = off == nullptr ? -1 : std::atoi(off);
  static Trace trace(std::getenv("AICF_MUTANT_TRACE"));
  trace.Note(site);
  return site != number;
}

}  // namespace aicf_mutant
