#include "core/interop/host/files/lspci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/interop/host/files/lspci_document.hpp"
#include "core/interop/host/pci_names.hpp"
#include "core/interop/host/platform_hints.hpp"

namespace lanewise {
namespace {

constexpr int kMaxDepth = 64;

std::string bus_of(std::string const& bdf) { return bdf.substr(0, bdf.rfind(':')); }

// Makes facts of what lspci printed: what each function hangs from, and what config space says.
class LspciFacts {
 public:
  explicit LspciFacts(LspciDocument document) : document_(std::move(document)) {}

  HostFacts make() {
    facts_.source = "lspci";
    facts_.lists_nics = false;
    facts_.says_software = false;
    facts_.links_may_sleep = true;
    facts_.lists_nvlinks = false;
    facts_.notes = document_.notes;
    for (auto& [bdf, function] : document_.functions) complete(function);
    note_bridges();
    for (auto& [bdf, function] : document_.functions) place(function);
    note_what_is_missing();
    for (auto& [bdf, function] : document_.functions) facts_.pci.push_back(std::move(function.facts));
    infer_hypervisor(facts_);
    if (facts_.cpu.hypervisor)
      for (auto& function : facts_.pci) function.virtual_function = false;  // all that a guest has of an adapter
    infer_sockets(facts_);
    infer_cpu_family(facts_);
    return std::move(facts_);
  }

 private:
  // Fills from the bytes of -x what the text does not say, and ids from names.
  void complete(LspciFunction& function) {
    constexpr std::size_t kHeaderBytes = 64;
    constexpr std::size_t kLegacyBytes = 256;
    constexpr unsigned kIsBridge = 1;
    auto& facts = function.facts;
    auto const& bytes = function.config;
    if (bytes.size() >= kHeaderBytes) {
      auto const word = [&](std::size_t at) { return bytes[at] | static_cast<unsigned>(bytes[at + 1]) << 8U; };
      if (facts.id.empty()) facts.id = fmt::format("{:04x}:{:04x}", word(0), word(2));
      facts.class_code = word(0x0a) << 8U | bytes[0x09];
      if (!function.secondary && (bytes[0x0e] & 0x7fU) == kIsBridge) function.secondary = bytes[0x19];
    }
    if (bytes.size() >= kLegacyBytes && !facts.config.has_capabilities) facts.config = read_pci_config(bytes);
    if (facts.id.empty()) facts.id = pci_id_of(facts.product);
  }

  void note_bridges() {
    for (auto const& [bdf, function] : document_.functions)
      if (function.secondary && *function.secondary > 0)
        bridge_of_.emplace(fmt::format("{}:{:02x}", bdf.substr(0, bdf.find(':')), *function.secondary), bdf);
  }

  // Whether a bus without a bridge above it is a root bus: a host bridge, or what else only a CPU has, is on it.
  [[nodiscard]] bool is_root_bus(std::string const& bus) const {
    if (bus.ends_with(":00")) return true;
    for (auto at = document_.functions.lower_bound(bus + ":");
         at != document_.functions.end() && bus_of(at->first) == bus; ++at) {
      auto const kind = at->second.facts.class_code >> 8U;
      bool const of_cpu = kind == 0x0600 || kind == 0x0880 || kind == 0x0806 || kind == 0x1101;
      if (of_cpu || at->second.facts.config.port_type == PortType::RootPort) return true;
      if (at->second.facts.config.port_type == PortType::Integrated) return true;
    }
    return false;
  }

  void place(LspciFunction& function) {
    auto& facts = function.facts;
    if (function.in_tree) return;
    auto const bus = bus_of(facts.bdf);
    auto const bridge = bridge_of_.find(bus);
    if (bridge != bridge_of_.end() && bridge->second != facts.bdf) {
      facts.above = bridge->second;
      facts.root_bus = root_of(bus);
      return;
    }
    facts.root_bus = bus;
    facts.above_unknown = !is_root_bus(bus);
  }

  [[nodiscard]] std::string root_of(std::string bus) const {
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      auto const bridge = bridge_of_.find(bus);
      if (bridge == bridge_of_.end() || bus_of(bridge->second) == bus) break;
      bus = bus_of(bridge->second);
    }
    return bus;
  }

  void note_what_is_missing() {
    bool any_link = false;
    bool any_extended = false;
    bool denied = false;
    for (auto const& [bdf, function] : document_.functions) {
      any_link = any_link || function.facts.config.max_link || function.facts.config.link;
      any_extended = any_extended || function.lists_extended;
      denied = denied || function.denied;
    }
    // A port whose extended capabilities are listed, or could have been, and which has no ACS, forwards directly.
    for (auto& [bdf, function] : document_.functions) {
      auto& config = function.facts.config;
      config.has_extended = config.has_extended || (any_extended && config.has_capabilities && !function.denied);
      if (config.has_extended && any_link && !config.acs.known && !function.has_acs && function.config.empty())
        config.acs = AcsControl::off();
    }
    if (denied)
      facts_.notes.emplace_back(
          "lspci was not run by root and shows no capabilities: links, ACS and kinds of ports are unknown; 'sudo lspci "
          "-vvv' shows them");
    else if (!any_link)
      facts_.notes.emplace_back("lspci was run without -vvv: links and ACS are unknown; 'sudo lspci -vvv' shows them");
    bool const any_bridge = std::any_of(document_.functions.begin(), document_.functions.end(), [](auto const& entry) {
      return entry.second.secondary || entry.second.in_tree;
    });
    if (!any_bridge)
      facts_.notes.emplace_back(
          "no bus numbers of bridges: what hangs from what is unknown; 'lspci -vvv' and 'lspci -tv' show it");
  }

  LspciDocument document_;
  HostFacts facts_;
  std::map<std::string, std::string> bridge_of_;  // by "0000:3b", the bus below it
};

}  // namespace

Likeness recognise_lspci(std::string_view text) {
  auto const has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  bool const has_class = has("Host bridge") || has("PCI bridge") || has("3D controller") || has("VGA compatible") ||
                         has("Ethernet controller") || has("Infiniband controller") || has("Processing accelerators");
  if (has_class && (has("LnkCap:") || has("Kernel driver in use:") || has("DevSel") || has("DEVSEL")))
    return Likeness::Certain;
  if (has("-[0000:00]-") || has("[0000:00]-+-")) return Likeness::Certain;
  bool const has_address = has(":00.0 ");
  return has_class && has_address ? Likeness::Likely : Likeness::None;
}

HostFacts read_lspci(SourceText const& source) { return LspciFacts(read_lspci_document(source)).make(); }

}  // namespace lanewise
