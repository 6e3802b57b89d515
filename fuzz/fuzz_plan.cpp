// Fuzzes the reader of plan files, plan/1 and plan/2. The property: any text is a plan that reads back equal, can be
// explained and estimated, or a lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/io/json.hpp"
#include "core/view/plan_text.hpp"
#include "fuzz/plan_machine.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({});
  static Model const model(catalogue.machine_from(SourceText::from_memory("machine.yaml", kPlanMachine)));
  static auto const fingerprint_here = fingerprint(model.machine());
  constexpr std::size_t kMaxSteps = 200;  // the time of a run is no matter of reading
  auto const& machine = model.machine();
  Plan plan;
  try {
    auto json = parse_json(SourceText::from_memory("fuzz.json", std::string(data, data + size)), kPlanSchemas);
    json["fingerprint"] = fingerprint_here;  // of this machine, whatever the text says
    plan = plan_from_json(json, machine);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
    return 0;
  }
  try {
    auto const written = to_json(plan, machine);
    if (to_json(plan_from_json(written, machine), machine) != written)
      throw std::logic_error("a plan does not read back equal:\n" + written.dump(1));
  } catch (Error const& error) {
    throw std::logic_error("a written plan is refused: " + std::string(error.what()));
  }
  try {
    static_cast<void>(plan_text(plan, machine));
    if (plan.steps.size() > kMaxSteps) return 0;
    static_cast<void>(estimate(model, plan.steps, plan.folding));
    static_cast<void>(lower_bound(plan, model));
  } catch (Error const&) {  // a figure may be unknown, a step impossible
  }
  return 0;
}
