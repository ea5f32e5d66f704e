#include "compiler/codegen/nvrtc.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>

#include "kernels/cuda/embedded.h"

namespace aicf {

// The functions used, as nvrtc.h of CUDA 12 and 13 declares them. nvrtcResult 0 is success.
struct Nvrtc::Api {
  int (*Version)(int* major, int* minor);
  const char* (*GetErrorString)(int result);
  int (*CreateProgram)(void** program, const char* source, const char* name, int headers,
                       const char* const* texts, const char* const* names);
  int (*DestroyProgram)(void** program);
  int (*CompileProgram)(void* program, int options, const char* const* values);
  int (*GetCUBINSize)(void* program, size_t* bytes);
  int (*GetCUBIN)(void* program, char* cubin);
  int (*GetProgramLogSize)(void* program, size_t* bytes);
  int (*GetProgramLog)(void* program, char* log);
};

namespace {

// --fmad=false: contraction would round once where an expression says two roundings. Kernels call
// fmaf where they want a fused operation.
constexpr const char* kOptions[] = {"--std=c++17", "--fmad=false",
                                    "--device-as-default-execution-space"};

constexpr std::string_view kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

void AddFolder(std::vector<std::string>& files, const std::string& folder) {
  for (std::string_view name : kNames) files.push_back(StrCat(folder, "/", name));
}

std::vector<std::string> Glob(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    for (size_t i = 0; i < matches.gl_pathc; ++i) found.emplace_back(matches.gl_pathv[i]);
  }
  globfree(&matches);
  return found;
}

// Where the packages nvidia-cuda-nvrtc (CUDA 13) and nvidia-cuda-nvrtc-cu12 put the library.
void AddPackages(std::vector<std::string>& files, const std::string& site) {
  for (std::string_view below : {"/nvidia/cu13/lib", "/nvidia/cuda_nvrtc/lib"}) {
    for (const std::string& folder : Glob(StrCat(site, below))) AddFolder(files, folder);
  }
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> Candidates() {
  std::vector<std::string> files;
  if (const std::string named = Environment("AICF_NVRTC"); !named.empty()) return {named};
  for (const char* root : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string folder = Environment(root);
    if (folder.empty()) continue;
    AddFolder(files, folder + "/lib64");
    AddFolder(files, folder + "/lib");
  }
  AddFolder(files, "/usr/local/cuda/lib64");
  for (std::string_view name : kNames) files.emplace_back(name);
  for (const char* root : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string folder = Environment(root);
    if (!folder.empty()) AddPackages(files, folder + "/lib/python3*/site-packages");
  }
  std::string paths = Environment("PYTHONPATH");
  while (!paths.empty()) {
    const size_t colon = paths.find(':');
    if (colon != 0) AddPackages(files, paths.substr(0, colon));
    paths = colon == std::string::npos ? "" : paths.substr(colon + 1);
  }
  return files;
}

template <class F>
bool Bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

// NVRTC opens the library of its built-in declarations by name, without a folder. Where that
// library is in no folder that the loader searches, it has to be loaded already, so this loads the
// one beside NVRTC. If there is none, NVRTC's error message names the library.
void OpenBuiltins(const void* symbol, int major, int minor) {
  Dl_info nvrtc{};
  if (dladdr(symbol, &nvrtc) == 0 || nvrtc.dli_fname == nullptr) return;
  const std::string file = nvrtc.dli_fname;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  dlopen(StrCat(folder, "libnvrtc-builtins.so.", major, ".", minor).c_str(), RTLD_NOW | RTLD_LOCAL);
}

class Program {
 public:
  Program(int (*destroy)(void**)) : destroy_(destroy) {}  // NOLINT(google-explicit-constructor)
  ~Program() {
    if (handle_ != nullptr) destroy_(&handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  void** address() { return &handle_; }
  void* get() const { return handle_; }

 private:
  int (*destroy_)(void**);
  void* handle_ = nullptr;
};

// An embedded source is a view of a larger array; NVRTC wants terminated strings.
struct Headers {
  std::vector<std::string> storage;
  std::vector<const char*> names, texts;

  Headers() {
    storage.reserve(2 * cuda::EmbeddedSources().size());
    for (const cuda::EmbeddedSource& s : cuda::EmbeddedSources()) {
      names.push_back(storage.emplace_back(s.name).c_str());
      texts.push_back(storage.emplace_back(s.text).c_str());
    }
  }
};

}  // namespace

Result<std::shared_ptr<const Nvrtc>> Nvrtc::Open() {
  std::shared_ptr<Nvrtc> lib(new Nvrtc());
  for (const std::string& file : Candidates()) {
    lib->library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    lib->path_ = file;
    if (lib->library_ != nullptr) break;
  }
  if (lib->library_ == nullptr) {
    return Error(
        Code::kDevice,
        "CUDA kernels are compiled with NVRTC, and libnvrtc.so was not found; install the CUDA "
        "toolkit 13 or the Python package nvidia-cuda-nvrtc, or name the file in AICF_NVRTC");
  }
  lib->api_ = std::make_unique<Api>();
  Api& api = *lib->api_;
  void* library = lib->library_;
  const bool bound = Bind(library, "nvrtcVersion", api.Version) &&
                     Bind(library, "nvrtcGetErrorString", api.GetErrorString) &&
                     Bind(library, "nvrtcCreateProgram", api.CreateProgram) &&
                     Bind(library, "nvrtcDestroyProgram", api.DestroyProgram) &&
                     Bind(library, "nvrtcCompileProgram", api.CompileProgram) &&
                     Bind(library, "nvrtcGetCUBINSize", api.GetCUBINSize) &&
                     Bind(library, "nvrtcGetCUBIN", api.GetCUBIN) &&
                     Bind(library, "nvrtcGetProgramLogSize", api.GetProgramLogSize) &&
                     Bind(library, "nvrtcGetProgramLog", api.GetProgramLog);
  int major = 0, minor = 0;
  if (!bound || api.Version(&major, &minor) != 0) {
    return Error(Code::kUnsupported, lib->path_, " is no NVRTC of CUDA 12 or newer");
  }
  OpenBuiltins(reinterpret_cast<const void*>(api.Version), major, minor);
  lib->version_ = StrCat("nvrtc ", major, ".", minor);
  if (major < 12) {
    return Error(Code::kUnsupported, lib->path_, " is ", lib->version_,
                 ", 12.0 or newer is needed");
  }
  return std::shared_ptr<const Nvrtc>(std::move(lib));
}

// The library stays loaded: unloading it would cut its own exit handlers off.
Nvrtc::~Nvrtc() = default;

std::string Nvrtc::OptionText() {
  std::string text;
  for (const char* option : kOptions) text += StrCat(option, " ");
  return text;
}

Result<std::vector<std::byte>> Nvrtc::Compile(const std::string& source,
                                              const std::string& arch) const {
  static const Headers headers;
  Program program(api_->DestroyProgram);
  int result = api_->CreateProgram(program.address(), source.c_str(), "instance.cu",
                                   static_cast<int>(headers.names.size()), headers.texts.data(),
                                   headers.names.data());
  if (result != 0) return Error(Code::kInternal, version_, ": ", api_->GetErrorString(result));
  const std::string target = StrCat("--gpu-architecture=", arch);
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(target.c_str());
  result = api_->CompileProgram(program.get(), static_cast<int>(options.size()), options.data());
  if (result != 0) {
    size_t bytes = 0;
    api_->GetProgramLogSize(program.get(), &bytes);
    std::string log(bytes, '\0');
    if (bytes > 0) api_->GetProgramLog(program.get(), log.data());
    while (!log.empty() && log.back() == '\0') log.pop_back();
    return Error(Code::kInternal, version_, ": ", api_->GetErrorString(result), "\n", log);
  }
  size_t bytes = 0;
  result = api_->GetCUBINSize(program.get(), &bytes);
  std::vector<std::byte> cubin(bytes);
  if (result == 0) result = api_->GetCUBIN(program.get(), reinterpret_cast<char*>(cubin.data()));
  if (result != 0 || bytes == 0) {
    return Error(Code::kInternal, version_, " gave no cubin: ", api_->GetErrorString(result));
  }
  return cubin;
}

}  // namespace aicf
