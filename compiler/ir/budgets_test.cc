#include "compiler/ir/budgets.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

TEST(Budgets, AreRaisedByTheFlagThatTheirErrorNames) {
  Budgets budgets;
  const Status over = budgets.Check(Budget::kNodes, 1'234'567);
  EXPECT_EQ(over.code(), Code::kResource);
  const std::string& message = over.message();
  const size_t flag = message.find("--budget=");
  ASSERT_NE(flag, std::string::npos) << message;
  const std::string text = message.substr(flag + 9, message.find(' ', flag) - flag - 9);
  EXPECT_EQ(text, "nodes:1234567");
  ASSERT_TRUE(budgets.Parse(text).ok());
  EXPECT_TRUE(budgets.Check(Budget::kNodes, 1'234'567).ok());
  EXPECT_FALSE(budgets.Check(Budget::kNodes, 1'234'568).ok());
}

TEST(Budgets, RefuseWhatIsNoBudget) {
  Budgets budgets;
  for (const char* text : {"", "nodes", "nodes:", "nodes:0", "nodes:-1", "nodes:1e9", "nodes:3 4",
                           "nodes:9223372036854775808", "colour:3", ":3"}) {
    const Status status = budgets.Parse(text);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
  }
  EXPECT_NE(budgets.Parse("colour:3").message().find("name-bytes"), std::string::npos);
  EXPECT_NE(BudgetList().find("\n  interface"), std::string::npos) << BudgetList();
}

}  // namespace
}  // namespace aicf
