#pragma once
// What this library offers the program, which loads it only when hardware is asked for:
//
//   auto const& hardware = *lanewise_hardware();
//   auto const nodes = hardware.join(Completion::Polling);
//   auto const executor = hardware.make_executor(model, {}, *nodes);  // throws MissingError saying what is not here
#include <memory>
#include <string>

#include "core/measurement/meter.hpp"
#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "hw/discover/discovery.hpp"
#include "hw/network_options.hpp"
#include "hw/nodes/nodes.hpp"
#include "hw/repetition.hpp"

namespace lanewise::hw {

struct Hardware {
  // This process among those that a launcher started (mpirun, srun), or alone. Throws MissingError where several were
  // started and this build cannot serve them.
  std::unique_ptr<Nodes> (*join)(Completion completion);
  // The executor on this machine's GPUs, or of a machine of several nodes on these. Throws MissingError when there is
  // no driver, no GPU, no NIC, or fewer than the machine has, InputError when the machine is another one.
  std::unique_ptr<Executor> (*make_executor)(Model const& model, Repetition repetition, Nodes& nodes);
  // What measures this machine's GPUs. Throws likewise.
  std::unique_ptr<Meter> (*make_meter)(Model const& model, Repetition repetition);
  // One line: what is built in, and what of it is here.
  std::string (*about)();
  // The machine that this is, and where its sources disagree; and all of that as JSON.
  Discovery (*discover)(DiscoverOptions const& options, Catalogue& catalogue);
  nlohmann::ordered_json (*discovery_json)(Discovery const& found);
};

}  // namespace lanewise::hw

extern "C" lanewise::hw::Hardware const* lanewise_hardware();
