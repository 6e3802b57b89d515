#include "lanewise/machine/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "core/io/digest.hpp"
#include "core/machine/machine_fields.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Recorded plans and runs contain fingerprints, so the texts below and their order must not change. A key that is added
// to one of the tables counts by name, and only in a machine that sets it: all other machines keep their fingerprint.
class MachineDigest {
 public:
  explicit MachineDigest(Machine const& machine) : machine_(machine) {}

  std::string text() {
    add(machine_.name);
    for (auto const& host : machine_.hosts) add_host(host);
    for (auto const& part : machine_.parts) {
      add(part.name);
      add_set_fields(part_fields(part.kind), part, {});
    }
    add_places();
    for (auto const& function : machine_.functions) add_function(function);
    add_links();
    add_fabric();
    for (auto const& entry : machine_.overrides) add_override(entry);
    return digest_.text();
  }

 private:
  using Names = std::span<std::string_view const>;

  void add(std::string_view text) { digest_.add(text); }
  void add_number(std::int64_t number) { add(std::to_string(number)); }
  template <class Quantity>
  void add_quantity(std::optional<Quantity> const& quantity) {
    add(quantity ? exact_text(*quantity) : std::string("-"));
  }
  template <class Id>
  void add_id(Id id) {
    add_number(static_cast<std::int64_t>(index(id)));
  }
  template <class Id>
  void add_id(std::optional<Id> id) {
    add_number(id ? static_cast<std::int64_t>(index(*id)) : -1);
  }

  static bool contains(Names names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // Name and value of every field that is set, except those that are added elsewhere.
  template <class Fields, class Object>
  void add_set_fields(Fields const& fields, Object const& object, Names with_own_place) {
    for (auto const& field : fields) {
      if (!field.not_in_fingerprint.empty() || contains(with_own_place, field.spec.name)) continue;
      auto const texts = field.write(object);
      if (texts.empty()) continue;
      add(field.spec.name);
      for (auto const& text : texts) add(text);
    }
  }

  void add_host(Host const& host) {
    constexpr std::array<std::string_view, 3> kSettings{"acs", "iommu", "iommu_page"};
    constexpr std::array<std::string_view, 3> kVirtualization{"kind", "approval", "ats"};
    auto const& settings = host.settings;
    auto const& v = settings.virtualization;
    add(to_string(settings.acs));
    add(to_string(settings.iommu));
    add_number(settings.iommu_page.value());
    add_set_fields(settings_fields(), settings, kSettings);
    add_number(v.passthrough + 2 * v.approval + 4 * v.ats);
    add_set_fields(virtualization_fields(), v, kVirtualization);
    for (auto const& clique : v.cliques)
      for (auto const& name : clique) add(name);
    if (host.off) add("off");
    if (v.cliques.size() > 1)  // the borders between cliques
      for (auto const& clique : v.cliques) add(fmt::format("clique of {}", clique.size()));
    add_software(host.software);
  }

  // The eight oldest flags are the bits of one number.
  void add_software(Software const& software) {
    constexpr std::array<std::string_view, 8> kBits{"cuda",         "peermem",           "dma_buf",
                                                    "gdrcopy",      "gpudirect_storage", "fabric_manager",
                                                    "geforce_peer", "gpudirect_async"};
    std::int64_t bits = 0;
    for (auto const& field : software_fields()) {
      auto const* const found = std::find(kBits.begin(), kBits.end(), field.spec.name);
      if (found != kBits.end() && software.*field.flag) bits |= std::int64_t{1} << (found - kBits.begin());
    }
    add_number(bits);
    add_set_fields(software_fields(), software, kBits);
  }

  void add_places() {
    for (auto const& socket : machine_.sockets) {
      add(socket.name);
      add_id(socket.host);
      add_id(socket.part);
    }
    for (auto const& numa : machine_.numa_nodes) {
      add(numa.name);
      add_id(numa.socket);
      add_set_fields(numa_fields(), numa, {});
    }
    for (auto const& bridge : machine_.host_bridges) {
      add_id(bridge.socket);
      add_id(bridge.numa);
    }
  }

  void add_function(PciFunction const& function) {
    constexpr std::array<std::string_view, 7> kFields{"link", "max", "acs", "chip", "mig", "rate", "rail"};
    add(function.name);
    add(to_string(function.kind));
    add_id(function.parent);
    add_id(function.host_bridge);
    add_id(function.part);
    for (auto const& link : {function.link, function.max_link}) add(link ? to_string(*link) : std::string("-"));
    add(function.acs ? to_string(*function.acs) : std::string("-"));
    add(function.chip);
    add_number(function.mig ? 1 : 0);
    add_quantity(function.rate);
    add_number(function.rail.value_or(-1));
    add_set_fields(function_fields(), function, kFields);
  }

  void add_links() {
    for (auto const& link : machine_.socket_links) {
      add_id(link.a);
      add_id(link.b);
      add_id(link.part);
      add_number(link.count);
    }
    for (auto const& bundle : machine_.nvlinks) {
      for (auto const& end : {bundle.a, bundle.b}) {
        add_number(static_cast<std::int64_t>(end.index()));
        std::visit([&](auto id) { add_id(id); }, end);
      }
      add_id(bundle.part);
      add_number(bundle.count);
    }
    for (auto const& domain : machine_.nvswitches) {
      if (!domain.host) add(domain.name);
      add_id(domain.part);
      add_id(domain.link_part);
      for (auto const& port : domain.ports) {
        add_id(port.gpu);
        add_number(port.count);
      }
    }
  }

  void add_fabric() {
    if (!machine_.fabric) return add("no fabric");
    auto const& fabric = *machine_.fabric;
    add(fabric.networks.front().kind);
    add_id(fabric.switches.empty() ? std::nullopt : fabric.switches.front().part);
    for (std::size_t i = 0; i < fabric.switches.size(); ++i) {
      if (fabric.switches[i].tier > 0) continue;
      add(fabric.switches[i].name);
      add_quantity(fabric.uplink(static_cast<std::uint32_t>(i)));
    }
    for (auto const& attachment : fabric.attachments) {
      add_id(attachment.nic);
      add_number(attachment.at);
      add_quantity(attachment.rate);
    }
    if (!is_of_two_tiers(fabric)) add_switch_graph(fabric);
  }

  // What older versions could describe: leaves of one part, and spines as one.
  static bool is_of_two_tiers(Fabric const& fabric) {
    auto const leaves = std::count_if(fabric.switches.begin(), fabric.switches.end(),
                                      [](Fabric::Switch const& one) { return one.tier == 0; });
    auto const& network = fabric.networks.front();
    bool const is_old_kind = network.kind == "direct" || network.kind == "single_switch" ||
                             network.kind == "leaf_spine" || network.kind == "rail_optimised";
    return fabric.networks.size() == 1 && is_old_kind &&
           fabric.switches.size() - static_cast<std::size_t>(leaves) <= 1 && network.routing == Routing::Adaptive;
  }
  void add_switch_graph(Fabric const& fabric) {
    for (auto const& one : fabric.switches) {
      add(one.name);
      add_number(one.tier);
      add_number(one.count);
      add_id(one.part);
    }
    for (auto const& trunk : fabric.trunks) {
      add_number(trunk.lower);
      add_number(trunk.upper);
      add_number(trunk.cables);
      add(exact_text(trunk.rate));
    }
    for (auto const& network : fabric.networks) {
      if (fabric.networks.size() > 1) {
        add(network.name);
        add(network.kind);
      }
      add(to_string(network.routing));
      add_number(network.flows_per_pair);
    }
  }

  void add_override(Override const& entry) {
    constexpr std::array<std::string_view, 3> kFields{"op", "bandwidth", "latency"};
    add(machine_.name_of(entry.from));
    add(machine_.name_of(entry.to));
    add(entry.op ? to_string(*entry.op) : "-");
    add_quantity(entry.bandwidth);
    add_quantity(entry.latency);
    add_set_fields(override_fields(), entry, kFields);
  }

  Machine const& machine_;
  Digest digest_;
};

}  // namespace

std::string fingerprint(Machine const& machine) { return MachineDigest(machine).text(); }

}  // namespace lanewise
