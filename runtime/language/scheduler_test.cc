#include "runtime/language/scheduler.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "runtime/language/testing.h"

namespace aicf::language {
namespace {

/// A random layout in which every request fits by itself.
Layout RandomLayout(std::mt19937& random) {
  Layout layout = SmallLayout();
  layout.page = 1 + random() % 7;
  layout.context = 20 + random() % 60;
  layout.table_pages = static_cast<int64_t>(layout.PagesFor(layout.context)) + random() % 2;
  layout.pages = static_cast<int64_t>(layout.PagesFor(layout.context)) + random() % 20;
  layout.slots = 1 + random() % 10;
  layout.run_cost_rows = random() % 40;
  return layout;
}

/// One request and what it has to become.
struct Client {
  Sequence sequence;
  std::vector<uint32_t> expected;
  int64_t prefix = 0;  ///< positions written since it was admitted
};

std::unique_ptr<Client> RandomClient(std::mt19937& random, const Layout& layout) {
  auto client = std::make_unique<Client>();
  const auto prompt = static_cast<size_t>(1 + random() % layout.context);
  std::vector<uint32_t> ids;
  for (size_t i = 0; i < prompt; ++i) ids.push_back(random() % 97);
  const auto room = static_cast<size_t>(layout.LongestRequest() + 1) - prompt;
  Sequence& s = client->sequence;
  s.draw = {0.5f, static_cast<int32_t>(random() % 9), 0.25f, 0.5f, static_cast<int64_t>(random())};
  s.prompt = static_cast<int64_t>(prompt);
  s.history.assign(ids.begin(), ids.end());
  client->expected = Expected(ids, 1 + random() % room, s.draw, layout.vocabulary);
  return client;
}

class Simulation {
 public:
  Simulation(const Layout& layout, const PlannerOptions& options)
      : layout_(layout), scheduler_(layout, options), runner_(layout) {}

  void Add(std::unique_ptr<Client> client) { clients_.push_back(std::move(client)); }
  bool done() const { return clients_.empty(); }
  int64_t preemptions() const { return preemptions_; }

  void Step() {
    std::vector<Sequence*> sequences;
    for (const auto& client : clients_) sequences.push_back(&client->sequence);
    const Result<bool> prepared = scheduler_.Prepare(sequences);
    ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
    ASSERT_TRUE(*prepared) << "requests wait, and nothing runs";
    const RunPlan& plan = scheduler_.newest().plan;
    ASSERT_TRUE(plan.preempted.empty() || plan.admitted.empty());
    for (const size_t i : plan.preempted) clients_[i]->prefix = 0;
    preemptions_ += static_cast<int64_t>(plan.preempted.size());
    CheckPages();
    CheckRows(plan);
    ASSERT_TRUE(runner_.Launch(plan.bucket, scheduler_.metas()).ok());
    ASSERT_TRUE(runner_.Collect(scheduler_.oldest().tokens).ok());
    std::vector<Sequence*> drawn;
    const Status committed = scheduler_.Commit(&drawn);
    ASSERT_TRUE(committed.ok()) << committed.ToString();
    for (const Sequence* sequence : drawn) TakeDrawn(IndexOf(sequence));
  }

  /// As when somebody cancels.
  void Drop(size_t client) {
    ASSERT_TRUE(scheduler_.Release(&clients_[client]->sequence).ok());
    clients_.erase(clients_.begin() + static_cast<int64_t>(client));
  }

 private:
  void CheckPages() const {
    std::set<int32_t> all, slots;
    size_t count = 0, running = 0;
    for (const auto& client : clients_) {
      const Sequence& s = client->sequence;
      count += s.pages.size();
      all.insert(s.pages.begin(), s.pages.end());
      if (s.slot < 0) {
        ASSERT_TRUE(s.pages.empty()) << "it waits, and has pages";
        continue;
      }
      ++running;
      slots.insert(s.slot);
      ASSERT_LE(s.pages.size(), layout_.PagesFor(s.known()));
    }
    ASSERT_EQ(all.size(), count) << "two requests share a page";
    ASSERT_EQ(slots.size(), running) << "two requests share a slot";
    ASSERT_EQ(static_cast<int64_t>(count) + scheduler_.free_pages(), layout_.pages);
  }

  /// Every position is written once between two preemptions, in order.
  void CheckRows(const RunPlan& plan) {
    ASSERT_LE(plan.rows.size(), static_cast<size_t>(plan.bucket.requests));
    std::set<size_t> seen;
    for (const RowWork& row : plan.rows) {
      ASSERT_TRUE(seen.insert(row.request).second);
      Client& client = *clients_[row.request];
      ASSERT_EQ(row.origin, client.prefix);
      ASSERT_LE(row.count, plan.bucket.rows);
      client.prefix += row.count;
      ASSERT_LE(client.prefix, client.sequence.known());
    }
  }

  size_t IndexOf(const Sequence* sequence) const {
    const auto is = [&](const auto& client) { return &client->sequence == sequence; };
    return static_cast<size_t>(std::ranges::find_if(clients_, is) - clients_.begin());
  }

  void TakeDrawn(size_t i) {
    const Client& client = *clients_[i];
    const Sequence& s = client.sequence;
    const auto count = static_cast<size_t>(s.known() - s.prompt);
    ASSERT_LE(count, client.expected.size());
    ASSERT_EQ(static_cast<uint32_t>(s.history.back()), client.expected[count - 1]);
    if (count == client.expected.size()) Drop(i);
  }

  Layout layout_;
  Scheduler scheduler_;
  FakeRunner runner_;
  std::vector<std::unique_ptr<Client>> clients_;
  int64_t preemptions_ = 0;
};

TEST(Scheduler, EveryRequestDrawsWhatItDrawsAlone) {
  int64_t preemptions = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(random);
    const PlannerOptions options{.batch_invariant = seed % 2 == 1,
                                 .prefills_in_a_row = 1 + static_cast<int64_t>(random() % 4)};
    Simulation simulation(layout, options);
    int coming = 30;
    int64_t steps = 0;
    while (coming > 0 || !simulation.done()) {
      while (coming > 0 && (simulation.done() || random() % 8 == 0)) {
        simulation.Add(RandomClient(random, layout));
        --coming;
      }
      simulation.Step();
      if (HasFatalFailure()) FAIL() << "seed " << seed;
      ASSERT_LT(++steps, 200000) << "seed " << seed << " never ends";
    }
    preemptions += simulation.preemptions();
  }
  EXPECT_GT(preemptions, 100) << "pages never ran out, so nothing was proved about it";
}

TEST(Scheduler, PagesOfDroppedRequestsComeBack) {
  std::mt19937 random(3);
  const Layout layout = RandomLayout(random);
  Simulation simulation(layout, {});
  for (int round = 0; round < 200; ++round) {
    simulation.Add(RandomClient(random, layout));
    simulation.Step();
    if (HasFatalFailure()) FAIL() << "round " << round;
    if (!simulation.done() && random() % 2 == 0) simulation.Drop(0);
  }
}

TEST(Scheduler, RefusesATokenOutsideTheVocabulary) {
  Scheduler scheduler(SmallLayout(), {});
  Sequence sequence;
  sequence.history = {1, 2, 3};
  sequence.prompt = 3;
  Sequence* const all[] = {&sequence};
  std::vector<Sequence*> drawn;
  for (const int32_t wrong : {-1, 97}) {
    ASSERT_TRUE(scheduler.Prepare(all).ok());
    scheduler.oldest().tokens[0] = wrong;
    const Status status = scheduler.Commit(&drawn);
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_NE(status.message().find(std::to_string(wrong)), std::string::npos);
    EXPECT_EQ(sequence.history.size(), 3u);
  }
}

TEST(Metas, RefuseARowThatDoesNotFit) {
  const Layout layout = SmallLayout();
  RunMetas metas;
  metas.Clear(layout, layout.decode[1]);
  const std::vector<int32_t> tokens = {1, 2}, pages = {3};
  const std::span one = std::span(tokens).first(1);
  EXPECT_TRUE(metas.Set(layout, layout.decode[1], 3, {one, 3, pages, 0, {}}).ok());
  EXPECT_FALSE(metas.Set(layout, layout.decode[1], 4, {one, 3, pages, 0, {}}).ok());
  EXPECT_FALSE(metas.Set(layout, layout.decode[1], 0, {tokens, 0, pages, 0, {}}).ok());
  EXPECT_FALSE(metas.Set(layout, layout.decode[1], 0, {one, 4, pages, 0, {}}).ok());
  EXPECT_FALSE(metas.Set(layout, layout.decode[1], 0, {{}, 0, pages, 0, {}}).ok());
}

}  // namespace
}  // namespace aicf::language
