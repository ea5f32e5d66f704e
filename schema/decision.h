/// A decision of the compiler: what it is about, what was chosen and why, and what was refused. The
/// compiler records them, an artifact carries them as lines of JSON, people read, compare and edit
/// them; all of them through this header. Plain data; every function is pure and thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf::schema {

enum class DecisionKind : uint8_t {
#define AICF_DECISION_KIND(id, ...) k##id,
#include "schema/decision_kinds.def"
#undef AICF_DECISION_KIND
};

struct DecisionKindInfo {
  DecisionKind kind;
  std::string_view name;     ///< in artifacts: "in-place"
  std::string_view edit;     ///< in --set: "math" for "precision"; empty where it cannot be edited
  std::string_view about;    ///< what its subject is, for people
  std::string_view decides;  ///< what it decides, for people
};

/// All kinds, in the order in which lists show them.
const std::vector<DecisionKindInfo>& DecisionKinds();
const DecisionKindInfo& InfoOf(DecisionKind kind);
std::string_view KindName(DecisionKind kind);
/// nullopt for a name that no kind has.
std::optional<DecisionKind> ParseKind(std::string_view name);
/// The same by the name that --set has for it.
std::optional<DecisionKind> ParseEditedKind(std::string_view name);
/// "fold, layout or copy": the names of all kinds, or those of --set.
std::string KindList();
std::string EditedKindList();
/// Fusion, epilogue and prologue: what became of a producer and its consumer.
bool IsFusion(DecisionKind kind);

enum class Reason : uint8_t {
  kNone,  ///< none is given, as in a line that a person writes
#define AICF_DECISION_REASON(id, ...) k##id,
#include "schema/decision_reasons.def"
#undef AICF_DECISION_REASON
};

/// "policy"; empty for kNone.
std::string_view ReasonName(Reason reason);
std::optional<Reason> ParseReason(std::string_view name);

/// How a subject reads: schema/decision_subjects.def.
enum class SubjectForm : uint8_t {
#define AICF_DECISION_SUBJECT(id, ...) k##id,
#include "schema/decision_subjects.def"
#undef AICF_DECISION_SUBJECT
};

using NodeNames = std::vector<std::string>;

/// What a decision is about. Its text follows from these fields and is never edited: whoever moves
/// a step to another number changes `step`.
struct Subject {
  SubjectForm form = SubjectForm::kOther;
  std::string entry;   ///< the entry point; empty where a program has no buckets
  int step = -1;       ///< number of the plan's step; -1: none, or the plan lost it
  NodeNames nodes;     ///< source nodes; of the producer for an edge
  NodeNames into;      ///< edges only: source nodes of the consumer
  std::string value;   ///< name of a buffer, an input or a state; kOther: the whole text
  std::string next;    ///< state forms only: name of the state's next value
  std::string op;      ///< kOp only
  int64_t extent = 0;  ///< kExtent only: positions

  static Subject Step(int step, NodeNames nodes);
  static Subject StepOutput(int step, NodeNames nodes, std::string value);
  static Subject Edge(NodeNames producer, NodeNames consumer);
  static Subject Op(std::string op, std::string node);
  /// kSources, kChain, kNodes or kScales.
  static Subject Of(SubjectForm form, NodeNames nodes);
  /// kValue, kWeights or kWritten.
  static Subject ValueOf(SubjectForm form, std::string value, NodeNames nodes);
  /// kLoopState, kPadding, kArena, or, with `next`, kStateUpdate and kStatePair.
  static Subject Named(SubjectForm form, std::string value = {}, std::string next = {});
  static Subject Extent(std::string label, int64_t positions);

  bool operator==(const Subject&) const = default;
};

/// "[conv, relu]": how texts name a step by its source nodes.
std::string ToString(const NodeNames& nodes);
/// "step 3 [conv, relu]". A step that the plan lost has no number: "step  [conv, relu]".
std::string ToString(const Subject& subject);
/// The inverse. `keys` holds what is known beside the text (step, nodes, into and the entry point),
/// which decides where the text alone could be read in two ways. Any text is a subject, kOther at
/// worst. Errors: kInvalidArgument where the text names another step or other nodes than `keys`.
Result<Subject> ParseSubject(std::string_view text, Subject keys);

struct Alternative {
  std::string choice;
  std::string refusal;      ///< one sentence; empty when it was legal
  double cost_us = -1;      ///< predicted; -1 when unknown
  double measured_us = -1;  ///< -1 when it was not measured

  bool operator==(const Alternative&) const = default;
};

struct Decision {
  DecisionKind kind = DecisionKind::kFold;
  Subject subject;
  std::string choice;
  Reason reason = Reason::kNone;
  std::string sentence;     ///< beside the reason; empty: the reason says all
  std::string pass;         ///< pass that decided
  double cost_us = -1;      ///< predicted
  double measured_us = -1;  ///< -1 when it was not measured
  std::vector<Alternative> alternatives;

  /// Says why. Returns itself, so that a decision is built in one expression.
  Decision& Because(Reason why, std::string more = {});
  /// About a producer and its consumer, done or refused.
  bool IsEdge() const { return !subject.into.empty(); }

  bool operator==(const Decision&) const = default;
};

/// "rule: the scores are never stored", or the reason alone.
std::string ReasonText(const Decision& decision);

/// What stays the same about a decision when other decisions change: kind, entry point, and subject
/// without the step's number; of a kernel's decision also the family, because steps of one node can
/// be of several. Decisions of equal identity are told apart by their order. Edits, comparisons and
/// merged logs all go by it.
std::string IdentityOf(const Decision& decision);
/// As IdentityOf, but equal for all three kinds of fusion: whether an edge is fused is one
/// question, whichever way it was to be fused.
std::string QuestionOf(const Decision& decision);

/// A decision as one line of JSON, keys in a fixed order, without the line's end.
std::string ToJsonLine(const Decision& decision);
/// Appends that line with its end. Cost: that of writing the bytes; a model has several lines for
/// each node.
void AppendJsonLine(const Decision& decision, std::string& out);
/// Errors: kInvalidArgument with what is wrong; an unknown kind or reason names the known ones.
Result<Decision> ParseDecision(std::string_view line);

/// A text of many lines, such as an artifact's section; empty lines are skipped.
struct DecisionLines {
  struct Unread {
    size_t line;      ///< from 1
    std::string why;  ///< what ParseDecision says of it
  };
  std::vector<Decision> decisions;
  std::vector<Unread> unread;  ///< for readers that show what they can: another version's lines
};
DecisionLines ReadDecisionLines(std::string_view lines);
/// Errors: kInvalidArgument naming the first line that cannot be read.
Result<std::vector<Decision>> ParseDecisionLines(std::string_view lines);
std::string ToJsonLines(const std::vector<Decision>& decisions);

}  // namespace aicf::schema
