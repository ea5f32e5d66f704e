#include "schema/decision_json.h"
#include "tools/inspect/diff.h"

namespace aicf::tools {
namespace {

Json TotalsJson(const PlanCost& c) {
  Json out{{"steps", c.steps}};
  if (c.predicted > 0) out["predicted_us"] = c.predicted_us;
  if (c.measured > 0) out["measured_us"] = c.measured_us;
  out["kernels_predicted"] = c.predicted;
  out["kernels_measured"] = c.measured;
  return out;
}

Json PairsJson(const DiffSide& a, const DiffSide& b,
               const std::vector<std::pair<size_t, size_t>>& pairs) {
  Json out = Json::array();
  for (const auto& [i, j] : pairs) {
    const Decision &x = a.evidence->decisions[i], &y = b.evidence->decisions[j];
    Json item{{"a", schema::ToJson(x)}, {"b", schema::ToJson(y)}};
    if (x.cost_us >= 0 && y.cost_us >= 0) item["cost_us_change"] = y.cost_us - x.cost_us;
    if (x.measured_us >= 0 && y.measured_us >= 0) {
      item["measured_us_change"] = y.measured_us - x.measured_us;
    }
    out.push_back(std::move(item));
  }
  return out;
}

Json OnlyJson(const DiffSide& side, const std::vector<size_t>& only) {
  Json out = Json::array();
  for (size_t i : only) out.push_back(schema::ToJson(side.evidence->decisions[i]));
  return out;
}

}  // namespace

Json DiffJson(const DiffSide& a, const DiffSide& b, const Differences& differences) {
  Json out{{"a", a.name}, {"b", b.name}, {"header", Json::array()}};
  for (const HeaderDifference& h : differences.header) {
    out["header"].push_back(Json{{"what", h.what}, {"a", h.a}, {"b", h.b}});
  }
  out["changed"] = PairsJson(a, b, differences.changed);
  out["restated"] = PairsJson(a, b, differences.restated);
  out["only_in_a"] = OnlyJson(a, differences.only_a);
  out["only_in_b"] = OnlyJson(b, differences.only_b);
  out["equal"] = differences.equal;
  out["totals"] =
      Json{{"a", TotalsJson(differences.cost_a)}, {"b", TotalsJson(differences.cost_b)}};
  return out;
}

}  // namespace aicf::tools
