#pragma once
// What this library offers the program, which loads it only when hardware is asked for:
//
//   auto const& hardware = *lanewise_hardware();
//   auto const executor = hardware.make_executor(model, {});   // throws MissingError saying what is not here
#include <memory>
#include <string>

#include "core/measurement/meter.hpp"
#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "hw/discover/discovery.hpp"
#include "hw/repetition.hpp"

namespace lanewise::hw {

struct Hardware {
  // The executor on this machine's GPUs. Throws MissingError when there is no driver, no GPU, or fewer than the machine
  // has, InputError when the machine is another one.
  std::unique_ptr<Executor> (*make_executor)(Model const& model, Repetition repetition);
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
