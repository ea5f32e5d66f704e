#include "compiler/edit/wishes.h"

#include <algorithm>

#include "compiler/edit/policy.h"

namespace aicf {

Wish* Wishes::SameDecision(const Wish& wish) {
  for (Wish& known : wishes_) {
    if (known.occurrence == wish.occurrence &&
        IdentityOf(known.decision) == IdentityOf(wish.decision)) {
      return &known;
    }
  }
  return nullptr;
}

void Wishes::Add(Wish wish) {
  if (Wish* known = SameDecision(wish)) {
    *known = std::move(wish);
  } else {
    wishes_.push_back(std::move(wish));
  }
}

Status Wishes::AddUnlessContrary(Wish wish) {
  const Wish* known = SameDecision(wish);
  if (known != nullptr && known->decision.choice != wish.decision.choice) {
    return Error(Code::kInvalidArgument, wish.origin, " contradicts ", known->origin);
  }
  Add(std::move(wish));
  return OkStatus();
}

const Wish* Wishes::Find(const std::string& identity, int occurrence) const {
  for (const Wish& w : wishes_) {
    const bool same = occurrence == kAnyOccurrence || w.occurrence == occurrence;
    if (same && IdentityOf(w.decision) == identity) return &w;
  }
  return nullptr;
}

const Wish* Wishes::Precision(std::string_view entry,
                              const std::vector<std::string>& sources) const {
  for (const Wish& w : wishes_) {
    const Decision& d = w.decision;
    if (d.kind == DecisionKind::kPrecision && d.subject.entry == entry &&
        IsSubset(sources, d.subject.nodes)) {
      return &w;
    }
  }
  return nullptr;
}

const Wish* Wishes::Separate(std::string_view entry, const std::vector<std::string>& producer,
                             const std::vector<std::string>& consumer) const {
  for (const Wish& w : wishes_) {
    const Decision& d = w.decision;
    // What is to stay apart may have grown on either side.
    if (IsFusion(d.kind) && d.subject.entry == entry && d.choice == kSeparate &&
        IsSubset(d.subject.nodes, producer) && IsSubset(d.subject.into, consumer)) {
      return &w;
    }
  }
  return nullptr;
}

namespace {

// A kernel takes every legal set of its parameters, of which a decision lists the considered ones.
bool TakesUnlisted(const Decision& d) { return d.kind == DecisionKind::kParameters; }

bool IsEditable(const Decision& d) {
  if (InfoOf(d.kind).edit.empty()) return false;
  if (IsFusion(d.kind)) return d.IsEdge();  // merging equal steps and dropping dead ones is not
  return !d.alternatives.empty() || TakesUnlisted(d);
}

std::string Choices(const Decision& d) {
  std::string out = StrCat("'", d.choice, "'");
  for (const Alternative& a : d.alternatives) {
    if (a.refusal.empty()) out += StrCat(", '", a.choice, "'");
  }
  return out;
}

bool Lists(const Decision& d, std::string_view choice) {
  const auto same = [&](const Alternative& a) { return a.choice == choice; };
  return d.choice == choice || std::ranges::any_of(d.alternatives, same);
}

std::string Label(const Decision& d) {
  const std::string label = StrCat(KindName(d.kind), " of ", ToString(d.subject));
  return d.subject.entry.empty() ? label : StrCat(label, " in '", d.subject.entry, "'");
}

// `wanted` instead of what was decided. The pass itself refuses an illegal choice.
Result<Wish> MakeWish(const Decision& decided, int occurrence, std::string choice,
                      std::string origin) {
  if (!IsEditable(decided)) {
    return Error(Code::kInvalidArgument, origin, ": the decision ", Label(decided), " (",
                 decided.pass, ") cannot be changed by itself; --disable-pass leaves out a pass");
  }
  if (!Lists(decided, choice) && !TakesUnlisted(decided)) {
    return Error(Code::kInvalidArgument, origin, ": '", choice, "' is no choice for ",
                 Label(decided), "; legal are ", Choices(decided));
  }
  Wish wish{decided, occurrence, std::move(origin)};
  wish.decision.choice = std::move(choice);
  return wish;
}

struct LogPlace {
  const Decision* decision;
  int occurrence;
};

std::multimap<std::string, LogPlace> IndexOf(const DecisionLog& log) {
  std::multimap<std::string, LogPlace> index;
  Occurrences occurrences;
  std::map<std::string, int> by_key;
  for (const Decision& d : log.decisions()) {
    index.emplace(StrCat(QuestionOf(d), "\n", by_key[QuestionOf(d)]++),
                  LogPlace{&d, occurrences.Next(IdentityOf(d))});
  }
  return index;
}

}  // namespace

Result<Wishes> FindEdits(const DecisionLog& decided, const DecisionLog& edited) {
  const std::multimap<std::string, LogPlace> index = IndexOf(decided);
  Wishes wishes;
  std::map<std::string, int> by_key;
  Occurrences occurrences;
  for (size_t i = 0; i < edited.decisions().size(); ++i) {
    const Decision& line = edited.decisions()[i];
    const int occurrence = occurrences.Next(IdentityOf(line));
    const auto known = index.find(StrCat(QuestionOf(line), "\n", by_key[QuestionOf(line)]++));
    std::string origin = StrCat("decision ", i + 1, " of the file");
    if (known == index.end()) {
      // It is made after other edits only, or the file belongs to another program: then it stays
      // unfulfilled, which is an error in the end.
      if (IsEditable(line)) wishes.Add({line, occurrence, std::move(origin)});
      continue;
    }
    const Decision& natural = *known->second.decision;
    if (natural.choice == line.choice) continue;
    AICF_ASSIGN_OR_RETURN(
        Wish wish, MakeWish(natural, known->second.occurrence, line.choice, std::move(origin)));
    wishes.Add(std::move(wish));
  }
  return wishes;
}

namespace {

struct SetText {
  std::string_view subject;
  DecisionKind kind = DecisionKind::kKernel;
  std::string_view choice;
};

Status BadSet(std::string_view text) {
  return Error(Code::kInvalidArgument, "--set: expected step.N.KIND=CHOICE or ",
               "node:NAME.KIND=CHOICE, where KIND is ", schema::EditedKindList(), ", got '", text,
               "'");
}

// Names of nodes hold dots and may hold '='; kinds hold neither.
Result<SetText> SplitSet(std::string_view text) {
  for (size_t equals = text.find('='); equals != std::string_view::npos;
       equals = text.find('=', equals + 1)) {
    const std::string_view left = text.substr(0, equals);
    const size_t dot = left.rfind('.');
    if (dot == std::string_view::npos) continue;
    const std::optional<DecisionKind> kind = schema::ParseEditedKind(left.substr(dot + 1));
    if (!kind) continue;
    SetText out{left.substr(0, dot), *kind, text.substr(equals + 1)};
    const bool step =
        out.subject.starts_with("step.") && out.subject.size() > 5 &&
        std::ranges::all_of(out.subject.substr(5), [](char c) { return c >= '0' && c <= '9'; });
    const bool node = out.subject.starts_with("node:") && out.subject.size() > 5;
    if ((step || node) && !out.choice.empty()) return out;
  }
  return BadSet(text);
}

bool SpeaksOf(const Decision& d, const SetText& set) {
  if (d.kind != set.kind) return false;
  const std::string name(set.subject.substr(5));
  const schema::Subject& s = d.subject;
  if (set.subject.starts_with("step.")) return s.step >= 0 && std::to_string(s.step) == name;
  return std::ranges::find(s.nodes, name) != s.nodes.end() ||
         std::ranges::find(s.into, name) != s.into.end();
}

// A kernel may be named by a part of its key that fits one choice only.
std::string WholeChoice(const Decision& d, std::string_view part) {
  if (d.kind != DecisionKind::kKernel || Lists(d, part)) return std::string(part);
  std::vector<std::string> fitting;
  const auto add = [&](const std::string& choice) {
    if (choice.find(part) != std::string::npos) fitting.push_back(choice);
  };
  add(d.choice);
  for (const Alternative& a : d.alternatives) add(a.choice);
  return fitting.size() == 1 ? fitting[0] : std::string(part);
}

}  // namespace

Result<Wish> ParseSet(std::string_view text, const DecisionLog& decided) {
  AICF_ASSIGN_OR_RETURN(const SetText set, SplitSet(text));
  const std::string origin = StrCat("--set ", text);
  std::vector<LogPlace> found;
  Occurrences occurrences;
  for (const Decision& d : decided.decisions()) {
    const int occurrence = occurrences.Next(IdentityOf(d));
    if (SpeaksOf(d, set)) found.push_back({&d, occurrence});
  }
  if (found.empty()) {
    return Error(Code::kInvalidArgument, origin, ": the plan has no ", KindName(set.kind),
                 " decision of ", set.subject);
  }
  // Of a node that was, say, folded and then fused, what can be edited is meant.
  const auto fixed = [](const LogPlace& p) { return !IsEditable(*p.decision); };
  if (!std::ranges::all_of(found, fixed)) std::erase_if(found, fixed);
  // Two passes may look at one copy: meant is the one that could choose otherwise.
  const auto as_first = [&](const LogPlace& p) {
    return IdentityOf(*p.decision) == IdentityOf(*found[0].decision);
  };
  if (found.size() > 1 && std::ranges::all_of(found, as_first)) {
    const auto changes = [&](const LogPlace& p) {
      const std::string choice = WholeChoice(*p.decision, set.choice);
      return choice != p.decision->choice && Lists(*p.decision, choice);
    };
    if (std::ranges::count_if(found, changes) == 1) {
      std::erase_if(found, [&](const LogPlace& p) { return !changes(p); });
    }
  }
  if (found.size() > 1) {
    std::string list;
    for (const LogPlace& p : found)
      list += StrCat(list.empty() ? "" : "; ", ToString(p.decision->subject));
    return Error(Code::kInvalidArgument, origin, ": ", found.size(), " ", KindName(set.kind),
                 " decisions speak of ", set.subject, ": ", list);
  }
  const Decision& d = *found[0].decision;
  return MakeWish(d, found[0].occurrence, WholeChoice(d, set.choice), origin);
}

namespace {

bool SomeStepHolds(const std::vector<StepSources>& steps, const Decision& edge) {
  return std::ranges::any_of(steps, [&](const StepSources& s) {
    return s.entry == edge.subject.entry && IsSubset(edge.subject.nodes, s.nodes) &&
           IsSubset(edge.subject.into, s.nodes);
  });
}

}  // namespace

Status CheckHonoured(const Wishes& wishes, const DecisionLog& log,
                     const std::vector<StepSources>& steps) {
  for (const Wish& w : wishes.all()) {
    const Decision& d = w.decision;
    if (IsFusion(d.kind)) {
      if (SomeStepHolds(steps, d) != (d.choice == kSeparate)) continue;
    } else {
      const std::string identity = IdentityOf(d);
      Occurrences occurrences;
      const auto honoured = [&](const Decision& made) {
        return IdentityOf(made) == identity && occurrences.Next(identity) == w.occurrence &&
               made.choice == d.choice;
      };
      if (std::ranges::any_of(log.decisions(), honoured)) continue;
    }
    return Error(Code::kInvalidArgument, w.origin, ": there is no decision ", Label(d), " to be '",
                 d.choice, "' in this compilation");
  }
  return OkStatus();
}

Status CheckRefusals(const Wishes* wishes, const Decision& decision, int occurrence) {
  const Wish* wish = wishes == nullptr ? nullptr : wishes->Find(IdentityOf(decision), occurrence);
  if (wish == nullptr || wish->decision.choice == decision.choice) return OkStatus();
  for (const Alternative& a : decision.alternatives) {
    if (a.choice != wish->decision.choice || a.refusal.empty()) continue;
    return Error(Code::kUnsupported, wish->origin, ": ", ToString(decision.subject), ": ", a.choice,
                 ": ", a.refusal);
  }
  return OkStatus();
}

}  // namespace aicf
