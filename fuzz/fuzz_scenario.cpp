// Fuzzes the reader of scenario files. The property: any text is a scenario or a lanewise::Error, and a scenario can be
// resolved on a machine.
#include <cstddef>
#include <cstdint>
#include <string>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace {

constexpr char kMachine[] =
    "{lanewise: machine/1, machine: m, sockets: [{socket: cpu0, part: unknown, pcie: ["
    "{gpu: gpu0, part: unknown}, {gpu: gpu1, part: unknown}, {nic: nic0, part: unknown}]}]}";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({});
  static Machine const machine = catalogue.machine_from(SourceText::from_memory("machine.yaml", kMachine));
  std::string const text(data, data + size);
  try {
    auto const scenario = read_scenario(SourceText::from_memory("fuzz.yaml", text));
    static_cast<void>(requests_of(scenario, machine));
    auto changed = machine;
    for (auto const& variant : scenario.variants)
      for (auto const& setting : variant.settings) apply_setting(changed, setting, catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
