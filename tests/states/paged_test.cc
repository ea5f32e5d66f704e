// Two requests in a pool of pages that prefill and decode share. Pages with the beginning that both
// have in common exist only once. Results are compared with attention in f64 over each request's
// own list of keys.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "runtime/test_tensors.h"
#include "tests/states/gpu_driver.h"
#include "tests/states/paged_program.h"
#include "tests/states/stream_model.h"

namespace aicf::states {
namespace {

constexpr int64_t kPromptRows = 12, kCommonRows = 8, kDecodedRows = 10;

/// Pages in the order in which a request fills them; the first two hold the common beginning.
constexpr int64_t kPages[Paged::kRequests][6] = {{5, 2, 7, 11, 9, 14}, {5, 2, 0, 6, 3, 15}};

/// A query, key or value of a position, the same in both requests where the position is common.
std::vector<float> RowAt(char what, int64_t request, int64_t position, int64_t size, int seed) {
  const int64_t owner = position < kCommonRows ? 0 : request;
  std::mt19937 random(static_cast<unsigned>(what * 7919 + owner * 131 + position * 17 +
                                            (position < kPromptRows ? 0 : seed)));
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> row(static_cast<size_t>(size));
  for (float& x : row) x = uniform(random);
  return row;
}

/// What one query head's row at `position` sees of its request.
std::vector<double> Expected(int64_t request, int64_t head, int64_t position, int seed) {
  const std::vector<float> q = RowAt('q', request, position, Paged::kHeads * Paged::kHead, seed);
  const int64_t group = head / (Paged::kHeads / Paged::kGroups);
  std::vector<double> out(Paged::kHead, 0);
  double sum = 0;
  for (int64_t j = 0; j <= position; ++j) {
    const std::vector<float> k = RowAt('k', request, j, Paged::kGroups * Paged::kHead, seed);
    const std::vector<float> v = RowAt('v', request, j, Paged::kGroups * Paged::kHead, seed);
    double dot = 0;
    for (int64_t d = 0; d < Paged::kHead; ++d) {
      dot += double{q[static_cast<size_t>(head * Paged::kHead + d)]} *
             k[static_cast<size_t>(group * Paged::kHead + d)];
    }
    const double weight = std::exp(dot / std::sqrt(double{Paged::kHead}));
    sum += weight;
    for (int64_t d = 0; d < Paged::kHead; ++d) {
      out[static_cast<size_t>(d)] += weight * v[static_cast<size_t>(group * Paged::kHead + d)];
    }
  }
  for (double& x : out) x /= sum;
  return out;
}

/// The operands of `rows` positions from `first` on, of both requests.
struct Operands {
  std::vector<float> q, k, v;
  std::vector<int64_t> slots;
  std::vector<int32_t> table, lengths;
};

Operands OperandsAt(int64_t first, int64_t rows, int seed) {
  Operands o;
  o.q.resize(static_cast<size_t>(Paged::kRequests * Paged::kHeads * rows * Paged::kHead));
  for (int64_t b = 0; b < Paged::kRequests; ++b) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = first + i;
      const std::vector<float> q = RowAt('q', b, at, Paged::kHeads * Paged::kHead, seed);
      for (int64_t h = 0; h < Paged::kHeads; ++h) {
        std::copy_n(q.begin() + h * Paged::kHead, Paged::kHead,
                    o.q.begin() + ((b * Paged::kHeads + h) * rows + i) * Paged::kHead);
      }
      for (auto& [what, to] : {std::pair('k', &o.k), {'v', &o.v}}) {
        const std::vector<float> row = RowAt(what, b, at, Paged::kGroups * Paged::kHead, seed);
        to->insert(to->end(), row.begin(), row.end());
      }
      // The second request finds the common beginning in the pool already.
      const bool stored = b > 0 && at < kCommonRows;
      o.slots.push_back(stored ? Paged::kPool : kPages[b][at / Paged::kPage]);
      o.slots.push_back(at % Paged::kPage);
    }
    for (int64_t p = 0; p < Paged::kTable; ++p) {
      o.table.push_back(p < 6 ? static_cast<int32_t>(kPages[b][p]) : -1);
    }
    o.lengths.push_back(static_cast<int32_t>(first + rows));
  }
  return o;
}

Result<std::vector<float>> Attend(Session& session, const char* entry, int64_t first, int64_t rows,
                                  int seed) {
  const Operands o = OperandsAt(first, rows, seed);
  AICF_RETURN_IF_ERROR(session.SelectEntry(entry));
  AICF_RETURN_IF_ERROR(testing::SetValues(session, "q", o.q));
  AICF_RETURN_IF_ERROR(testing::SetValues(session, "k", o.k));
  AICF_RETURN_IF_ERROR(testing::SetValues(session, "v", o.v));
  AICF_RETURN_IF_ERROR(session.SetMeta("slots", TensorOf(o.slots, {Paged::kRequests, rows, 2})));
  AICF_RETURN_IF_ERROR(
      session.SetMeta("table", TensorOf(o.table, {Paged::kRequests, Paged::kTable})));
  AICF_RETURN_IF_ERROR(session.SetMeta("lengths", TensorOf(o.lengths)));
  AICF_RETURN_IF_ERROR(session.Run());
  std::vector<float> y(o.q.size());
  AICF_RETURN_IF_ERROR(testing::GetValues(session, "y", y));
  return y;
}

/// Values are at most 2, so a weighted mean of n of them in f32 is off by a few times n units: of
/// the scores (Paged::kHead terms), the exponentials, the sum and the products.
void AttendAndCompare(Session& session, const char* entry, int64_t first, int64_t rows, int seed) {
  const auto y = Attend(session, entry, first, rows, seed);
  ASSERT_TRUE(y.ok()) << y.status().ToString();
  for (int64_t b = 0; b < Paged::kRequests; ++b) {
    for (int64_t h = 0; h < Paged::kHeads; ++h) {
      for (int64_t i = 0; i < rows; ++i) {
        const std::vector<double> want = Expected(b, h, first + i, seed);
        const double bound =
            2 * static_cast<double>(2 * Paged::kHead * 4 + first + i + 8) * std::ldexp(1.0, -24);
        for (int64_t d = 0; d < Paged::kHead; ++d) {
          const auto at =
              static_cast<size_t>(((b * Paged::kHeads + h) * rows + i) * Paged::kHead + d);
          ASSERT_NEAR((*y)[at], want[static_cast<size_t>(d)], bound)
              << "request " << b << " head " << h << " position " << first + i;
        }
      }
    }
  }
}

struct Device {
  const char *target, *device;
};

class PagedTest : public ::testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    auto paged =
        CompilePaged(GetParam().target, kPromptRows, GetParam().device != std::string("cpu"));
    ASSERT_TRUE(paged.ok()) << paged.status().ToString();
    paged_ = *std::move(paged);
    auto session = OpenSession(paged_.program, GetParam().device);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = *std::move(session);
  }

  void CheckRequests() {
    AttendAndCompare(*session_, "prefill", 0, kPromptRows, 0);
    for (int64_t i = 0; i < kDecodedRows; ++i) {
      AttendAndCompare(*session_, "decode", kPromptRows + i, 1, 0);
    }
  }
  void CheckForks() {
    AttendAndCompare(*session_, "prefill", 0, kPromptRows, 0);
    auto fork = session_->Fork();
    ASSERT_TRUE(fork.ok()) << fork.status().ToString();
    for (int64_t i = 0; i < kDecodedRows; ++i) {
      AttendAndCompare(*session_, "decode", kPromptRows + i, 1, 0);
      AttendAndCompare(**fork, "decode", kPromptRows + i, 1, 1);
    }
    EXPECT_NE(ExportStates(*session_), ExportStates(**fork));
    auto later = OpenSession(paged_.program, GetParam().device);
    ASSERT_TRUE(later.ok());
    ASSERT_TRUE(ImportStates(**later, ExportStates(**fork)).ok());
    const int64_t at = kPromptRows + kDecodedRows;
    EXPECT_EQ(*Attend(**later, "decode", at, 1, 1), *Attend(**fork, "decode", at, 1, 1));
  }

  PagedProgram paged_;
  std::unique_ptr<Session> session_;
};

TEST_P(PagedTest, PrefillAndDecodeShareThePool) { CheckRequests(); }
TEST_P(PagedTest, ForksAndExportsGoOnApart) { CheckForks(); }

TEST_P(PagedTest, ThePoolIsUpdatedInPlace) {
  const schema::Program& program = paged_.contents.program;
  EXPECT_EQ(program.state_bytes,
            2u * Paged::kPool * Paged::kGroups * Paged::kPage * Paged::kHead * sizeof(float))
      << "one pool each";
  EXPECT_EQ(program.steps.size(), 2u * 3) << "two rows stored and an attention, no copy";
  for (const schema::EntryPoint& entry : program.entry_points) EXPECT_EQ(entry.metas.size(), 3u);
  for (const char* state : {"keys", "values"}) {
    const Decision* d = FindUpdate(paged_.decisions, state);
    ASSERT_NE(d, nullptr);
    EXPECT_EQ(d->choice, "made in the state's place");
  }
}

/// A page lies where the table says: rows that were stored under one page are found under it.
TEST_P(PagedTest, RowsLieInTheirPages) {
  AttendAndCompare(*session_, "prefill", 0, kPromptRows, 0);
  const auto states = ExportStates(*session_);
  const auto* keys = reinterpret_cast<const float*>(states.at("keys").data());
  for (int64_t b = 0; b < Paged::kRequests; ++b) {
    for (int64_t i = 0; i < kPromptRows; ++i) {
      const std::vector<float> row = RowAt('k', b, i, Paged::kGroups * Paged::kHead, 0);
      for (int64_t g = 0; g < Paged::kGroups; ++g) {
        const float* stored =
            keys +
            ((kPages[b][i / Paged::kPage] * Paged::kGroups + g) * Paged::kPage + i % Paged::kPage) *
                Paged::kHead;
        EXPECT_TRUE(std::equal(stored, stored + Paged::kHead, row.begin() + g * Paged::kHead))
            << b << " " << i;
      }
    }
  }
}

class GpuPagedTest : public PagedTest {
 protected:
  void SetUp() override {
    const auto driver = GpuDriver();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    PagedTest::SetUp();
  }
};
TEST_P(GpuPagedTest, PrefillAndDecodeShareThePool) { CheckRequests(); }
TEST_P(GpuPagedTest, ForksAndExportsGoOnApart) { CheckForks(); }

std::string DeviceName(const ::testing::TestParamInfo<Device>& info) {
  if (info.param.target == std::string("cpu")) return "Cpu";
  return info.param.device == std::string("cpu") ? "CudaPlan" : "Cuda";
}
INSTANTIATE_TEST_SUITE_P(Devices, PagedTest,
                         ::testing::Values(Device{"cpu", "cpu"}, Device{"cuda:sm_90a", "cpu"}),
                         DeviceName);
INSTANTIATE_TEST_SUITE_P(Devices, GpuPagedTest, ::testing::Values(Device{"cuda:sm_90a", "cuda:0"}),
                         DeviceName);

}  // namespace
}  // namespace aicf::states
