// Models of every architecture with random weights, as transformers saves them, against what it
// computes (transformers/run.sh, which CTest runs as language_transformers); skipped by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/compiler.h"
#include "runtime/test_tensors.h"
#include "tests/language/paged_requests.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

namespace fs = std::filesystem;

/// Of the largest logit. The products are in f32, the reference is in f64.
constexpr double kTolerance = 1e-4;

/// An array of the case: [rows, columns], or [rows].
template <class T>
struct Array {
  std::vector<T> values;
  size_t columns = 1;
  std::vector<T> Row(size_t row) const {
    const auto begin = values.begin() + static_cast<int64_t>(row * columns);
    return {begin, begin + static_cast<int64_t>(columns)};
  }
};

template <class T>
Array<T> ReadArray(const fs::path& path) {
  const auto file = tools::ReadNpy(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  Array<T> out;
  if (!file.ok()) return out;
  out.values.resize(file->data.size() / sizeof(T));
  std::memcpy(out.values.data(), file->data.data(), file->data.size());
  if (file->shape.rank() == 2) out.columns = static_cast<size_t>(file->shape[1]);
  return out;
}

bool IsDecoder(const fs::path& folder) { return fs::exists(folder / "logits.npy"); }

std::shared_ptr<const Program> CompileCase(const fs::path& folder) {
  const auto about = nlohmann::json::parse(std::ifstream(folder / "case.json"));
  CompileOptions options;
  options.language.context = about["context"];
  if (IsDecoder(folder)) {
    options.language.page = 8;
    options.language.cache = 8 * options.language.context;
    options.language.prefill = {8, 32};
    options.language.decode = {1, 4};
    options.language.logits = true;
  }
  const auto compiled = Compile(folder, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
  if (!compiled.ok()) return nullptr;
  const auto program = Program::FromBytes(compiled->bytes);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : nullptr;
}

/// The largest difference, by the largest expected value.
double ErrorOf(const std::vector<float>& found, const std::vector<float>& expected) {
  double largest = 0, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double{expected[i]}));
    error = std::max(error, std::abs(double{found[i]} - double{expected[i]}));
    if (!std::isfinite(found[i])) return HUGE_VAL;
  }
  return error / largest;
}

/// Texts of one session, each from the beginning of the same tokens.
class Decoding {
 public:
  Decoding(PagedSession session, const fs::path& folder)
      : session_(std::move(session)),
        tokens_(ReadArray<int32_t>(folder / "tokens.npy")),
        logits_(ReadArray<float>(folder / "logits.npy")) {}

  double worst() const { return worst_; }

  void Prefill(int64_t length) {
    PagedRequest& request = requests_.emplace_back(session_.NewRequest());
    const std::vector<int32_t> prompt(tokens_.values.begin(), tokens_.values.begin() + length);
    const auto logits = session_.Prefill(request, prompt);
    ASSERT_TRUE(logits.ok()) << logits.status().ToString();
    Expect(*logits, length, "prefill");
  }

  /// The next token of some texts.
  void Decode(const std::vector<size_t>& which) {
    std::vector<PagedRequest*> requests;
    std::vector<int32_t> next;
    for (const size_t i : which) {
      requests.push_back(&requests_[i]);
      next.push_back(tokens_.values[static_cast<size_t>(requests_[i].length)]);
    }
    const auto logits = session_.Decode(requests, next);
    ASSERT_TRUE(logits.ok()) << logits.status().ToString();
    for (size_t i = 0; i < which.size(); ++i) {
      Expect((*logits)[i], requests[i]->length, "decode");
    }
  }

 private:
  void Expect(const std::vector<float>& logits, int64_t length, const char* how) {
    const double error = ErrorOf(logits, logits_.Row(static_cast<size_t>(length - 1)));
    EXPECT_LE(error, kTolerance) << how << " of " << length << " tokens";
    worst_ = std::max(worst_, error);
  }

  PagedSession session_;
  Array<int32_t> tokens_;
  Array<float> logits_;
  std::vector<PagedRequest> requests_;
  double worst_ = 0;
};

double ExpectDecoder(const fs::path& folder, std::shared_ptr<const Program> program) {
  auto session = PagedSession::Create(std::move(program));
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  if (!session.ok()) return HUGE_VAL;
  Decoding decoding(*std::move(session), folder);
  const auto total = static_cast<int64_t>(ReadArray<int32_t>(folder / "tokens.npy").values.size());
  // Around a page, the windows of 12 positions, a chunk; and longer than one chunk.
  std::vector<int64_t> lengths = {1, 5, 8, 11, 12, 13, 24, 60};
  for (int64_t& length : lengths) {
    length = std::min(length, total - 6);
    decoding.Prefill(length);
  }
  for (int step = 0; step < 3; ++step) {
    decoding.Decode({0, 2, 7});  // and an idle one
    decoding.Decode({1});
    decoding.Decode({6, 5, 4, 3});
  }
  for (int step = 0; step < 2; ++step) decoding.Decode({4});
  return decoding.worst();
}

Result<std::vector<float>> Embed(Session& session, const EntryInfo& entry,
                                 std::vector<int32_t> tokens) {
  const Dims shape = entry.metas[0].shape;
  const std::vector<int32_t> length = {static_cast<int32_t>(tokens.size())};
  tokens.resize(static_cast<size_t>(shape[1]), 7);
  AICF_RETURN_IF_ERROR(session.SelectEntry(entry.name));
  AICF_RETURN_IF_ERROR(session.SetMeta("tokens", TensorOf(tokens, shape)));
  AICF_RETURN_IF_ERROR(session.SetMeta("lengths", TensorOf(length)));
  AICF_RETURN_IF_ERROR(session.Run());
  std::vector<float> embedding(static_cast<size_t>(entry.outputs[0].shape[1]));
  AICF_RETURN_IF_ERROR(
      session.GetOutput("embedding", TensorInto(embedding, entry.outputs[0].shape)));
  return embedding;
}

double ExpectEncoder(const fs::path& folder, const std::shared_ptr<const Program>& program) {
  SessionOptions options;
  options.device = "cpu";
  options.threads = 1;
  const auto session = Session::Create(program, options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  if (!session.ok()) return HUGE_VAL;
  const auto tokens = ReadArray<int32_t>(folder / "tokens.npy").values;
  const auto lengths = ReadArray<int32_t>(folder / "lengths.npy").values;
  const auto embeddings = ReadArray<float>(folder / "embeddings.npy");
  double worst = 0;
  for (const EntryInfo& entry : program->entries()) {
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] > entry.metas[0].shape[1]) continue;
      const auto found = Embed(**session, entry, {tokens.begin(), tokens.begin() + lengths[i]});
      EXPECT_TRUE(found.ok()) << found.status().ToString();
      if (!found.ok()) return HUGE_VAL;
      const double error = ErrorOf(*found, embeddings.Row(i));
      EXPECT_LE(error, kTolerance) << lengths[i] << " tokens in " << entry.name;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

TEST(Transformers, GivesTheSameResults) {
  const char* root = std::getenv("AICF_TRANSFORMERS_CASES");
  if (root == nullptr) GTEST_SKIP() << "run by tests/language/transformers/run.sh";
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.insert(entry.path());
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder.filename());
    const auto program = CompileCase(folder);
    if (program == nullptr) continue;
    const double error =
        IsDecoder(folder) ? ExpectDecoder(folder, program) : ExpectEncoder(folder, program);
    std::printf("%-20s relative error %.1e\n", folder.filename().c_str(), error);
  }
  EXPECT_FALSE(folders.empty());
}

}  // namespace
}  // namespace aicf::testing
