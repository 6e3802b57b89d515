#pragma once
// The interface of this library. The program loads it only when hardware is asked for:
//
//   auto const& hardware = *lanewise_hardware();
//   auto const nodes = hardware.join(Completion::Polling);
//   auto const executor = hardware.make_executor(model, {}, *nodes);  // throws MissingError saying what is not here
#include <memory>
#include <string>

#include "core/measurement/meter.hpp"
#include "hw/discover/discovery.hpp"
#include "hw/nodes/nodes.hpp"
#include "hw/options/hardware_settings.hpp"
#include "hw/options/network_options.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

struct Hardware {
  // Joins the processes that a launcher (mpirun, srun) started; without a launcher this process is alone. Throws
  // MissingError where several processes were started and this build cannot serve them.
  std::unique_ptr<Nodes> (*join)(Completion completion);
  // The executor on this machine's GPUs, or, for a machine of several nodes, on `nodes`. Throws MissingError when a
  // driver, GPU or NIC that the machine has is missing here, InputError when the hardware is another one.
  std::unique_ptr<Executor> (*make_executor)(Model const& model, HardwareSettings const& settings, Nodes& nodes);
  // Measures this machine's GPUs or, for a machine of several nodes, transfers between `nodes`. Throws likewise.
  std::unique_ptr<Meter> (*make_meter)(Model const& model, HardwareSettings const& settings, Nodes& nodes);
  // One line: what this build contains and what of it this machine has.
  std::string (*about)();
  // Describes this machine, with the disagreements between sources; and the same as JSON.
  Discovery (*discover)(DiscoverOptions const& options, Catalogue& catalogue);
  nlohmann::ordered_json (*discovery_json)(Discovery const& found);
};

}  // namespace lanewise::hw

extern "C" lanewise::hw::Hardware const* lanewise_hardware();
