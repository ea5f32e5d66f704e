/// Exchanges files while they are opened, to show that no byte from outside of a model's folder is
/// read, whatever the folder turns into meanwhile (faults B3 to B6, T31).
///
///   race_paths [--swaps=N] [--seconds=S] [--plant]
///
/// One thread exchanges a file, or the folder above it, with a link that leads outside, a hard link
/// or a pipe, atomically and as fast as it can. Another thread opens and reads the file. Each scene
/// ends after N swaps or, without --swaps, after its share of S seconds. --plant uses a loader that
/// checks the path first and opens it afterwards; then at least one scene has to read from outside.
/// The exit code is 1 if something else happens.
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/open_file.h"

namespace aicf {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr char kInside = 'i', kOutside = 'o';

struct Options {
  uint64_t swaps = 0;  ///< of each scene; 0: as many as its time allows
  double seconds = 2;  ///< of all scenes together
  bool plant = false;
};

/// model/f and model/sub/f are inside, what lies in outside/ is not; store/ is allowed as a store.
struct Folders {
  fs::path root, model, outside, store;

  Folders() {
    std::string pattern = (fs::temp_directory_path() / "aicf-race-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    root = pattern;
    model = root / "model";
    outside = root / "outside";
    store = root / "store";
    fs::create_directories(model / "sub");
    fs::create_directory(outside);
    fs::create_directory(store);
    for (const fs::path& path : {model / "f", model / "sub/f", store / "f"}) Write(path, kInside);
    for (const char* name : {"f", "hard"}) Write(outside / name, kOutside);
    fs::create_symlink("../outside/f", model / "to_file");
    fs::create_directory_symlink("../outside", model / "to_folder");
    fs::create_hard_link(outside / "hard", model / "hard");
    if (mkfifo((model / "pipe").c_str(), 0600) != 0) std::abort();
    fs::create_symlink("../store/f", model / "to_store");
    fs::create_symlink("../outside/f", model / "past_store");
  }
  ~Folders() { fs::remove_all(root); }

  static void Write(const fs::path& path, char what) {
    std::ofstream(path, std::ios::binary) << std::string(64, what);
  }
};

/// One pair of names that are exchanged, and what is opened meanwhile.
struct Scene {
  const char* name;
  const char* first;
  const char* second;
  const char* opened;
  bool store = false;
};

constexpr Scene kScenes[] = {
    {"a file and a link", "f", "to_file", "f"},
    {"a folder and a link", "sub", "to_folder", "sub/f"},
    {"a file and a hard link", "f", "hard", "f"},
    {"a file and a pipe", "f", "pipe", "f"},
    {"a link into the store and one past it", "to_store", "past_store", "to_store", true},
};

/// What a loader must not do: it knows all the rules, and checks them on the path.
Result<OpenedFile> CheckThenOpen(const Folders& folders, const Scene& scene) {
  const fs::path path = folders.model / scene.opened;
  const Status refusal(Code::kBadModel, "refused");
  struct stat info = {};
  if (scene.store) {
    std::error_code failed;
    const fs::path end = fs::canonical(path, failed);
    if (failed || end.parent_path() != fs::canonical(folders.store)) return refusal;
  } else {
    for (const fs::path& part : {path.parent_path(), path}) {
      if (lstat(part.c_str(), &info) != 0 || S_ISLNK(info.st_mode)) return refusal;
    }
    if (!S_ISREG(info.st_mode) || info.st_nlink > 1) return refusal;
  }
  OpenedFile file;
  file.fd = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd.get() < 0) return refusal;
  return file;
}

Result<OpenedFile> OpenAs(const Folders& folders, const Scene& scene, bool plant) {
  if (plant) return CheckThenOpen(folders, scene);
  if (!scene.store) return OpenBeneath(folders.model.string(), scene.opened);
  return OpenThroughStore(folders.model.string(), scene.opened, folders.store.string());
}

struct Tally {
  uint64_t swaps = 0, inside = 0, refused = 0, outside = 0;
};

void Exchange(int folder, const Scene& scene) {
  if (syscall(SYS_renameat2, folder, scene.first, folder, scene.second, RENAME_EXCHANGE) != 0) {
    std::perror("renameat2");
    std::abort();
  }
}

Tally Play(const Folders& folders, const Scene& scene, const Options& options) {
  Tally tally;
  std::atomic<uint64_t> swaps = 0;
  std::atomic<bool> stop = false;
  std::thread racer([&] {
    const int folder = open(folders.model.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (!stop) {
      Exchange(folder, scene);
      ++swaps;
    }
    if (swaps % 2 != 0) Exchange(folder, scene);
    close(folder);
  });
  const auto share = std::chrono::duration<double>(options.seconds / std::size(kScenes));
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
  while (options.swaps > 0 ? swaps < options.swaps : Clock::now() < end) {
    const Result<OpenedFile> file = OpenAs(folders, scene, options.plant);
    if (!file.ok()) {
      ++tally.refused;
      continue;
    }
    char bytes[64] = {};
    const ssize_t got = pread(file->fd.get(), bytes, sizeof bytes, 0);
    const bool all = got == sizeof bytes && bytes[0] == kInside;
    ++(all ? tally.inside : tally.outside);
  }
  stop = true;
  racer.join();
  tally.swaps = swaps;
  return tally;
}

/// All scenes; false where one of them did not go as it has to.
bool PlayAll(const char* how, const Options& options) {
  uint64_t outside = 0;
  bool right = true;
  for (const Scene& scene : kScenes) {
    const Folders folders;
    const Tally tally = Play(folders, scene, options);
    std::printf("%s, %s: %llu swaps, %llu read inside, %llu refused, %llu OUTSIDE\n", how,
                scene.name, static_cast<unsigned long long>(tally.swaps),
                static_cast<unsigned long long>(tally.inside),
                static_cast<unsigned long long>(tally.refused),
                static_cast<unsigned long long>(tally.outside));
    outside += tally.outside;
    // Who only ever saw one of the two names has shown nothing.
    right = right && tally.swaps > 0 && tally.inside > 0 && tally.refused > 0;
  }
  return right && (options.plant ? outside > 0 : outside == 0);
}

/// From now on openat2 is a call that the kernel does not have.
bool WithoutOpenat2() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         syscall(SYS_openat2, AT_FDCWD, "/", nullptr, 0) == -1 && errno == ENOSYS;
}

int Main(const std::vector<std::string_view>& arguments) {
  Options options;
  for (const std::string_view argument : arguments) {
    if (argument == "--plant") {
      options.plant = true;
    } else if (argument.starts_with("--swaps=")) {
      options.swaps = std::strtoull(argument.data() + 8, nullptr, 10);
    } else if (argument.starts_with("--seconds=")) {
      options.seconds = std::strtod(argument.data() + 10, nullptr);
    } else {
      std::fprintf(stderr, "race_paths: unknown argument %s\n", argument.data());
      return 2;
    }
  }
  if (options.plant) return PlayAll("check, then open", options) ? 0 : 1;
  options.seconds /= 2;
  const bool right = PlayAll("openat2", options);
  if (!WithoutOpenat2()) {
    std::fprintf(stderr, "race_paths: openat2 cannot be taken away here\n");
    return 1;
  }
  return PlayAll("component by component", options) && right ? 0 : 1;
}

}  // namespace
}  // namespace aicf

int main(int argc, char** argv) { return aicf::Main({argv + 1, argv + argc}); }
