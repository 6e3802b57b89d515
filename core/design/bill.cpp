#include "core/design/bill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

class BillBuilder {
 public:
  BillBuilder(Machine const& machine, PriceList const* prices) : machine_(machine), prices_(prices) {}

  Bill build(std::string const& name) {
    for (auto const& socket : machine_.sockets) count(socket.part, 1);
    std::set<std::string> chips;  // virtual switches of one chip are one part
    for (auto const& function : machine_.functions) {
      if (function.kind == PciKind::RootPort || !function.port_of.empty()) continue;
      if (function.kind == PciKind::Switch &&
          !chips.insert(function.chip.empty() ? function.name : host_of(function) + function.chip).second)
        continue;
      count(function.part, 1);
    }
    for (auto const& nvswitch : machine_.nvswitches) count(nvswitch.part, std::max(1, nvswitch.chips));
    if (machine_.fabric) {
      for (auto const& one : machine_.fabric->switches)
        count(one.part, std::max(1, one.count) * machine_.fabric->networks[one.network].planes);
      add_cables(*machine_.fabric);
    }
    add_lanes();
    add_up(name);
    return std::move(bill_);
  }

 private:
  [[nodiscard]] std::string host_of(PciFunction const& function) const {
    return machine_.at(machine_.at(machine_.at(function.host_bridge).socket).host).name;
  }

  void count(std::optional<PartId> id, int number) {
    if (!id) return;
    auto const& part = machine_.at(*id);
    auto found =
        std::find_if(bill_.lines.begin(), bill_.lines.end(), [&](auto const& line) { return line.part == part.name; });
    if (found == bill_.lines.end())
      found = bill_.lines.insert(found, {part.name, part.title, std::string(to_string(part.kind)), 0, part.power, {}});
    found->count += number;
  }

  void add_cables(Fabric const& fabric) {
    std::map<std::pair<std::string, double>, int> cables;
    for (auto const& attachment : fabric.attachments) {
      auto const rate = attachment.rate ? attachment.rate : nic_rate(machine_, attachment.nic);
      ++cables[{"NIC to switch", rate.value_or(BytesPerSecond(0)).value()}];
    }
    for (auto const& trunk : fabric.trunks)
      if (trunk.cables > 0) {
        auto const planes = fabric.network_of(trunk.lower).planes;
        cables[{"switch to switch", trunk.rate.value() / trunk.cables}] += trunk.cables * planes;
      }
    for (auto const& [what, number] : cables)
      bill_.cables.push_back({what.first, what.first == "NIC to switch" ? "nic-cable" : "switch-cable", number,
                              BytesPerSecond(what.second), std::nullopt});
  }

  void add_lanes() {
    for (auto const& kind : node_kinds(machine_))
      for (auto const& use : lane_uses(kind.machine)) bill_.lanes.push_back(use);
  }

  void add_up(std::string const& name) {
    std::stable_sort(bill_.lines.begin(), bill_.lines.end(),
                     [](auto const& a, auto const& b) { return rank_of(a.kind) < rank_of(b.kind); });
    auto const* own = price_of(name);
    std::optional<Money> sum;
    auto const add = [&](Money const& each, int count) {
      if (sum && sum->currency != each.currency && own == nullptr)
        throw InputError(fmt::format("{} has parts priced in {} and in {}; currencies are not converted", name,
                                     sum->currency, each.currency));
      if (!sum) sum = Money{0, each.currency};
      sum->amount += each.amount * count;
    };
    for (auto& line : bill_.lines) {
      if (line.power)
        bill_.power += *line.power * line.count;
      else
        bill_.without_power.push_back(line.part);
      if (auto const* price = price_of(line.part))
        add(*(line.price = price->each), line.count);
      else
        bill_.without_price.push_back(line.part);
    }
    for (auto& cable : bill_.cables) {
      auto const* price = price_of(cable.name);
      if (price == nullptr) {
        bill_.without_price.push_back(cable.name);
        continue;
      }
      cable.price = price->each;
      if (auto const* optic = price_of("optic")) {
        add(optic->each, 0);  // refuses another currency
        cable.price->amount += 2 * optic->each.amount;
      }
      add(*cable.price, cable.count);
    }
    if (own != nullptr) {
      bill_.price = own->each;
      bill_.price_source = fmt::format("{}, {}", own->source, own->date);
      bill_.without_price.clear();
    } else if (bill_.without_price.empty()) {
      bill_.price = sum;
    }
  }

  [[nodiscard]] Price const* price_of(std::string_view what) const {
    return prices_ == nullptr ? nullptr : prices_->of(what);
  }

  static int rank_of(std::string_view kind) {
    constexpr std::array<std::string_view, 7> kOrder{"gpu", "cpu", "nic", "switch", "nvswitch", "network_switch",
                                                     "nvme"};
    return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
  }

  Machine const& machine_;
  PriceList const* prices_;
  Bill bill_;
};

}  // namespace

Bill bill_of(Machine const& machine, std::string const& name, PriceList const* prices) {
  return BillBuilder(machine, prices).build(name);
}

}  // namespace lanewise
