#include "tools/aicf-inspect/views.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tools/aicf-inspect/language.h"
#include "tools/common/process.h"
#include "tools/common/text.h"
#include "tools/inspect/arena.h"
#include "tools/inspect/diff.h"
#include "tools/inspect/story.h"
#include "tools/inspect/wrap.h"

namespace aicf::tools {
namespace {

void PrintJson(const Json& json) {
  Print(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

size_t TerminalWidth() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::clamp<size_t>(size.ws_col, 40, 400) : kTextWidth;
}

// Whether the environment says that text is UTF-8. The first of the three variables that is set
// decides.
bool SpeaksUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale = value;
    std::ranges::transform(locale, locale.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

Result<std::vector<size_t>> ChosenEntries(const schema::Program& program, const std::string& name) {
  std::vector<size_t> entries;
  std::vector<std::string> names;
  for (size_t e = 0; e < program.entry_points.size(); ++e) {
    names.push_back(program.entry_points[e].name);
    if (name.empty() || names.back() == name) entries.push_back(e);
  }
  if (!entries.empty() || name.empty()) return entries;
  return Error(Code::kInvalidArgument, "--entry: no entry point '", name, "'; there are ",
               Join(names, ", "));
}

// The memory for states that a session needs beside the arena and the weights; empty without
// states.
std::string StateText(const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  if (program.state_bytes == 0) return "";
  const std::string cache = CacheText(artifact);
  return StrCat("\nBeside the arena: ", FormatBytes(program.state_bytes),
                " of state: ", ShortList(schema::StateNames(program), 5), "\n",
                cache.empty() ? "" : StrCat("  the cache is ", cache, "\n"));
}

}  // namespace

Result<std::shared_ptr<const schema::Artifact>> LoadForInspection(
    const std::string& path, const schema::TrustedKeys* required) {
  auto loaded = schema::Artifact::Load(path, /*with_optional=*/true, required);
  if (loaded.ok()) return loaded;
  const bool named = loaded.status().message().find(path) != std::string::npos;
  return named ? loaded.status() : loaded.status().WithContext(path);
}

Status Explain(const schema::Artifact& artifact, const ViewOptions& options) {
  const Evidence evidence = GatherEvidence(artifact);
  AICF_ASSIGN_OR_RETURN(const std::vector<Story> stories,
                        FindStories(evidence, options.explain, options.entry));
  if (options.json) {
    Json out = Json::array();
    for (const Story& story : stories) out.push_back(StoryJson(evidence, story));
    PrintJson(stories.size() == 1 ? out[0] : out);
  } else if (stories.size() == 1) {
    Print(StoryText(evidence, stories[0]));
  } else {
    Print(StoryListText(evidence, stories));
  }
  return OkStatus();
}

Status ShowMemory(const schema::Artifact& artifact, const ViewOptions& options) {
  const schema::Program& program = artifact.program();
  AICF_ASSIGN_OR_RETURN(const std::vector<size_t> entries, ChosenEntries(program, options.entry));
  Json all{{"arena_bytes", program.arena_bytes},
           {"arena_lower_bound", program.arena_lower_bound},
           {"weights_bytes", program.weights_bytes},
           {"state_bytes", program.state_bytes},
           {"entry_points", Json::array()}};
  std::string text;
  ChartStyle style;
  style.width = TerminalWidth();
  style.ascii = options.ascii || !SpeaksUtf8();
  for (size_t e : entries) {
    AICF_ASSIGN_OR_RETURN(const ArenaView view, ViewArena(program, e));
    if (options.json) {
      all["entry_points"].push_back(ArenaJson(program, e, view));
    } else {
      text += (text.empty() ? "" : "\n") + ArenaText(program, e, view, style);
    }
  }
  if (!options.json) {
    Print(text + StateText(artifact));
  } else {
    PrintJson(all);
  }
  return OkStatus();
}

Status Diff(const std::string& path, const ViewOptions& options) {
  std::string first = path, second = options.diff;
  if (options.diff_first) std::swap(first, second);
  AICF_ASSIGN_OR_RETURN(const auto a, LoadForInspection(first, options.required));
  AICF_ASSIGN_OR_RETURN(const auto b, LoadForInspection(second, options.required));
  const Evidence left = GatherEvidence(*a), right = GatherEvidence(*b);
  const DiffSide side_a{a.get(), &left, first}, side_b{b.get(), &right, second};
  const Differences differences = Compare(side_a, side_b);
  if (options.json) {
    PrintJson(DiffJson(side_a, side_b, differences));
  } else {
    Print(DiffText(side_a, side_b, differences));
  }
  if (differences.empty()) return OkStatus();
  return Error(Code::kCheckFailed, "the artifacts differ: ", DiffSummary(differences));
}

}  // namespace aicf::tools
