#pragma once
// The bill of materials of a machine or cluster: parts and cables, what they draw and what they cost.
#include <optional>
#include <string>
#include <vector>

#include "core/design/prices.hpp"
#include "core/machine/files/budgets.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct BillLine {
  std::string part;  // its name
  std::string title;
  std::string kind;  // gpu, cpu, nic, switch, nvswitch, network_switch, nvme
  int count = 0;
  std::optional<Watts> power;  // of one
  std::optional<Money> price;  // of one
};

struct CableLine {
  std::string what;  // "NIC to switch", "switch to switch"
  std::string name;  // in a list of prices: "nic-cable", "switch-cable"
  int count = 0;
  BytesPerSecond rate{0};      // of one, one way
  std::optional<Money> price;  // of one, with the two optics at its ends where the list has a price of an "optic"
};

struct Bill {
  std::vector<BillLine> lines;  // by kind
  std::vector<CableLine> cables;
  std::vector<LaneUse> lanes;              // of the first node of each kind
  Watts power{0};                          // of the parts that say theirs
  std::vector<std::string> without_power;  // names of parts
  std::optional<Money> price;              // absent: nothing has a price, or not everything
  std::vector<std::string> without_price;  // names of parts, where the machine has no price of its own
  std::string price_source;                // of the machine's own price, with its date
};

// `prices`: nullptr: none. A price of the machine itself, by `name`, goes before those of its parts. Throws InputError
// where parts are priced in several currencies.
Bill bill_of(Machine const& machine, std::string const& name, PriceList const* prices);

}  // namespace lanewise
