/// Choices that a person wrote instead of the compiler's: --decisions and --set.
///
/// A wish names a decision by its identity and asks for another of its choices. The pass that makes
/// the decision looks the wish up, and takes the choice or fails with the sentence that refuses it.
/// Whoever compiles checks afterwards that every wish came true: none is ever ignored.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/decisions/decisions.h"

namespace aicf {

struct Wish {
  Decision decision;   ///< the decision as the person wants it: `choice` is the wish
  int occurrence = 0;  ///< among decisions of equal identity, in the order of the log
  std::string origin;  ///< "--set step.12.kernel=...": who asks, for errors
};

class Wishes {
 public:
  /// A later wish about the same decision replaces the earlier one.
  void Add(Wish wish);
  /// Errors: kInvalidArgument where an earlier wish about the same decision asks for another
  /// choice.
  Status AddUnlessContrary(Wish wish);
  bool empty() const { return wishes_.empty(); }
  const std::vector<Wish>& all() const { return wishes_; }

  /// The wish for the `occurrence`-th decision of this identity; nullptr: none.
  const Wish* Find(const std::string& identity, int occurrence) const;
  static constexpr int kAnyOccurrence = -1;
  /// A wish for any decision of this identity.
  const Wish* FindAny(const std::string& identity) const { return Find(identity, kAnyOccurrence); }
  /// The wish that a product keeps or changes its math mode, by its source nodes before fusion.
  const Wish* Precision(std::string_view entry, const std::vector<std::string>& sources) const;
  /// The wish that two steps, which carry these source nodes now, stay apart.
  const Wish* Separate(std::string_view entry, const std::vector<std::string>& producer,
                       const std::vector<std::string>& consumer) const;

 private:
  Wish* SameDecision(const Wish& wish);

  std::vector<Wish> wishes_;
};

/// Counts decisions of equal identity while a pass makes them in order.
class Occurrences {
 public:
  int Next(const std::string& identity) { return counts_[identity]++; }

 private:
  std::map<std::string, int> counts_;
};

/// The choice of an edge that was not fused.
inline constexpr std::string_view kSeparate = "separate";
/// Its alternative.
inline constexpr std::string_view kFused = "fused";

/// What an edited file of decisions asks for beyond what the compiler decides by itself: lines
/// whose choice differs, and lines about decisions that only other edits bring about.
/// Errors: kInvalidArgument for a choice that the decision does not list, naming those it lists,
/// and for a decision that cannot be edited.
Result<Wishes> FindEdits(const DecisionLog& decided, const DecisionLog& edited);

/// "step.12.kernel=KEY", "step.12.math=fp32", "node:NAME.kernel=KEY", "step.12.in-place=own
/// buffer". Errors: kInvalidArgument for a step, node, decision or choice that does not exist,
/// listing what does; for a node that several decisions of the kind speak of.
Result<Wish> ParseSet(std::string_view text, const DecisionLog& decided);

/// What a plan's step is made of.
struct StepSources {
  std::string entry;  ///< as in Decision
  std::vector<std::string> nodes;
};

/// Whether every wish is what the log says in the end. Errors: kInvalidArgument naming a wish whose
/// decision is not made any more, because of the other wishes.
Status CheckHonoured(const Wishes& wishes, const DecisionLog& log,
                     const std::vector<StepSources>& steps);

/// For passes that are about to record a decision: the error of a wish for one of its refused
/// alternatives. `occurrence`: as in Find. Errors: kUnsupported with the alternative's sentence.
Status CheckRefusals(const Wishes* wishes, const Decision& decision, int occurrence);

}  // namespace aicf
