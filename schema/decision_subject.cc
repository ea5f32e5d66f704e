// A subject's text and back. Both follow the templates of decision_subjects.def: literal text, and
// in braces the name of a field.
#include <charconv>

#include "base/scanner.h"
#include "schema/decision.h"

namespace aicf::schema {
namespace {

constexpr std::string_view kTemplates[] = {
#define AICF_DECISION_SUBJECT(id, text) text,
#include "schema/decision_subjects.def"
#undef AICF_DECISION_SUBJECT
};

std::string_view TemplateOf(SubjectForm form) { return kTemplates[static_cast<size_t>(form)]; }

// The next piece of a template: literal text, or a field's name without its braces.
struct Piece {
  std::string_view text;
  bool is_field;
};

Piece TakePiece(std::string_view& rest) {
  const bool is_field = rest[0] == '{';
  const size_t end = std::min(rest.find(is_field ? '}' : '{'), rest.size());
  const Piece piece{is_field ? rest.substr(1, end - 1) : rest.substr(0, end), is_field};
  rest.remove_prefix(is_field ? end + 1 : end);
  return piece;
}

std::string Join(const NodeNames& names, std::string_view separator, bool quoted) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += separator;
    out += quoted ? Quote(names[i]) : names[i];
  }
  return out;
}

std::string Positions(int64_t n) { return StrCat(n, n == 1 ? " position" : " positions"); }

std::string FieldText(std::string_view field, const Subject& s) {
  if (field == "step") return s.step < 0 ? "" : std::to_string(s.step);
  if (field == "nodes") return Join(s.nodes, ", ", false);
  if (field == "into") return Join(s.into, ", ", false);
  if (field == "quoted") return Join(s.nodes, ", ", true);
  if (field == "quoted-and") return Join(s.nodes, " and ", true);
  if (field == "next") return s.next;
  if (field == "op") return s.op;
  if (field == "positions") return Positions(s.extent);
  return s.value;
}

// How many bytes at the start of `text` are the field when `follows` comes after it.
size_t FieldEnd(std::string_view text, std::string_view follows, bool is_last) {
  if (!is_last) return std::min(text.find(follows), text.size());
  return text.ends_with(follows) ? text.size() - follows.size() : text.size();
}

NodeNames SplitNames(std::string_view list) {
  NodeNames names;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(", "), list.size());
    names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  return names;
}

NodeNames QuotedNames(std::string_view list, std::string_view separator) {
  NodeNames names;
  Scanner scanner(list);
  do {
    Result<std::string> name = scanner.Quoted();
    if (!name.ok()) return {};
    names.push_back(*std::move(name));
  } while (scanner.Accept(separator));
  return names;
}

template <class Int>
void ReadInt(std::string_view text, Int& out) {
  std::from_chars(text.data(), text.data() + text.size(), out);
}

void SetField(std::string_view field, std::string_view text, Subject& s) {
  if (field == "step") ReadInt(text, s.step);
  if (field == "nodes") s.nodes = SplitNames(text);
  if (field == "into") s.into = SplitNames(text);
  if (field == "quoted") s.nodes = QuotedNames(text, ",");
  if (field == "quoted-and") s.nodes = QuotedNames(text, "and");
  if (field == "next") s.next = text;
  if (field == "op") s.op = text;
  if (field == "positions") ReadInt(text, s.extent);
  if (field == "value") s.value = text;
}

bool IsKnown(std::string_view field, const Subject& keys) {
  if (field == "step") return keys.step >= 0;
  if (field == "into") return !keys.into.empty();
  return (field == "nodes" || field.starts_with("quoted")) && !keys.nodes.empty();
}

// The subject of this form whose text this is.
std::optional<Subject> Match(SubjectForm form, std::string_view text, const Subject& keys) {
  Subject out = keys;
  out.form = form;
  std::string_view rest = TemplateOf(form);
  for (std::string_view left = text; !rest.empty();) {
    const Piece piece = TakePiece(rest);
    if (!piece.is_field || IsKnown(piece.text, keys)) {
      const std::string known =
          piece.is_field ? FieldText(piece.text, keys) : std::string(piece.text);
      if (!left.starts_with(known)) return std::nullopt;
      left.remove_prefix(known.size());
      continue;
    }
    std::string_view after = rest;
    std::string_view follows;
    if (!rest.empty()) follows = TakePiece(after).text;
    const std::string_view value = left.substr(0, FieldEnd(left, follows, after.empty()));
    SetField(piece.text, value, out);
    if (piece.text.starts_with("quoted") && out.nodes.empty()) return std::nullopt;
    left.remove_prefix(value.size());
  }
  // Numbers out of range, quotes that do not close, and whatever else reads back as another text.
  if (ToString(out) != text) return std::nullopt;
  return out;
}

Subject FirstMatch(std::string_view text, const Subject& keys) {
  for (size_t form = 0; form < std::size(kTemplates); ++form) {
    std::optional<Subject> found = Match(static_cast<SubjectForm>(form), text, keys);
    if (found) return *std::move(found);
  }
  return keys;  // not reached: kOther takes any text
}

}  // namespace

std::string ToString(const NodeNames& nodes) { return StrCat("[", Join(nodes, ", ", false), "]"); }

std::string ToString(const Subject& subject) {
  std::string out;
  for (std::string_view rest = TemplateOf(subject.form); !rest.empty();) {
    const Piece piece = TakePiece(rest);
    out += piece.is_field ? FieldText(piece.text, subject) : std::string(piece.text);
  }
  return out;
}

Result<Subject> ParseSubject(std::string_view text, Subject keys) {
  Subject found = FirstMatch(text, keys);
  if (found.form != SubjectForm::kOther) return found;
  // Nothing fits what is known. Where something fits the text alone, the two contradict each other.
  Subject alone;
  alone.entry = keys.entry;
  if (FirstMatch(text, alone).form == SubjectForm::kOther) return found;
  return Error(Code::kInvalidArgument, "'subject' is ", Quote(text),
               ", which names another step or other nodes than 'step', 'nodes' and 'into'");
}

}  // namespace aicf::schema
