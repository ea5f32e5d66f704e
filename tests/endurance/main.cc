// Runs long work on many threads, and watches its results and the resources of the process: see
// --help.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/endurance/checks.h"

namespace aicf::endurance {
namespace {

constexpr const char* kHelp =
    "Runs artifacts with samples for long and from many threads. Every output is compared, and "
    "what the\n"
    "process holds of the machine (memory, files, threads, the GPU's memory) may not grow by a "
    "byte.\n"
    "Exits with 0, or with 1 where something is wrong.";

struct Arguments {
  Options options;
  std::vector<std::string> files;
};

const std::map<std::string, Plant> kPlants = {
    {"memory", Plant::kMemory},   {"descriptor", Plant::kDescriptor},
    {"mapping", Plant::kMapping}, {"device", Plant::kDevice},
    {"bits", Plant::kBits},       {"session", Plant::kSession},
    {"race", Plant::kRace},       {"outputs", Plant::kOutputs},
    {"torn", Plant::kTorn},
};

void Declare(CLI::App& app, Arguments& a) {
  Options& o = a.options;
  o.session.threads = 1;
  app.add_option("ARTIFACT", a.files, "artifacts with samples")->required();
  app.add_option("--device", o.session.device, "cpu, cuda:N; default: what each artifact is for");
  app.add_option("--session-threads", o.session.threads, "CPU threads of a session; default 1");
  app.add_option("--replays", o.replays, "replays of one session with the same inputs");
  app.add_option("--threads", o.threads, "threads of the checks below; default 4")
      ->check(CLI::Range(1, 4096));
  app.add_option("--runs", o.runs, "runs of each thread's own session, with inputs of its own");
  app.add_option("--cycles", o.cycles, "sessions to create, run and destroy while others run");
  app.add_option("--calls", o.calls, "calls of each thread into one session");
  app.add_option("--destroys", o.destroys, "sessions to destroy under the threads that run them");
  app.add_option("--seed", o.seed, "of the inputs; default 1");
  app.add_option("--plant", o.plant, "a defect on purpose, which has to be found")
      ->transform(CLI::CheckedTransformer(kPlants));
}

/// The GPU whose memory is watched; null where none is asked for.
Result<std::shared_ptr<const cuda::Device>> DeviceOf(const Options& o,
                                                     const std::vector<Subject>& subjects) {
  const std::string& name = o.session.device;
  const bool cuda = name.starts_with("cuda") ||
                    (name.empty() && subjects[0].program()->target().starts_with("cuda"));
  if (!cuda) return std::shared_ptr<const cuda::Device>();
  AICF_ASSIGN_OR_RETURN(cuda::Driver* const driver, cuda::Driver::Get());
  return cuda::Device::Retain(*driver, name.size() > 5 ? std::atoi(name.c_str() + 5) : 0);
}

Result<int> Check(const Arguments& a) {
  const Options& o = a.options;
  std::vector<Subject> subjects;
  for (const std::string& file : a.files) {
    AICF_ASSIGN_OR_RETURN(Subject subject, Subject::Load(file));
    subjects.push_back(std::move(subject));
  }
  AICF_ASSIGN_OR_RETURN(auto device, DeviceOf(o, subjects));
  const Meter meter(std::move(device));
  int faults = 0;
  for (const Subject& subject : subjects) {
    if (o.replays > 0) faults += CheckReplays(o, subject, meter);
    if (o.calls > 0) faults += CheckMisuse(o, subject);
    if (o.destroys > 0) faults += CheckDestroys(o, subject, meter);
  }
  if (o.runs > 0) faults += CheckThreads(o, subjects, meter);
  if (o.cycles > 0) faults += CheckChurn(o, subjects, meter);
  return faults;
}

int Main(int argc, char** argv) {
  Meter::Settle(argv);
  CLI::App app(kHelp, "endure");
  Arguments arguments;
  Declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  const Result<int> faults = Check(arguments);
  if (!faults.ok()) {
    std::cerr << "endure: " << faults.status().ToString() << std::endl;
    return static_cast<int>(faults.status().code());
  }
  std::cout << "endure: " << *faults << (*faults == 1 ? " fault" : " faults") << std::endl;
  return *faults > 0 ? 1 : 0;
}

}  // namespace

int Tell(const std::string& check, const std::string& fault) {
  std::cout << check << ": " << (fault.empty() ? "ok" : "FAULT: " + fault) << std::endl;
  return fault.empty() ? 0 : 1;
}

}  // namespace aicf::endurance

int main(int argc, char** argv) { return aicf::endurance::Main(argc, argv); }
