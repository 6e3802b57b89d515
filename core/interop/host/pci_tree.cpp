#include "core/interop/host/pci_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lanewise {
namespace {

class TreeMaker {
 public:
  TreeMaker(HostFacts const& facts, std::optional<std::vector<Role>> const& roles, Catalogue& catalogue)
      : facts_(facts), roles_(roles), catalogue_(catalogue) {}

  PciTree make() {
    for (auto const& function : facts_.pci) by_address_.emplace(function.bdf, &function);
    for (auto const& function : facts_.pci) add(function);
    add_hidden_gpus();
    join();
    for (auto const top : tree_.tops) mark(top, PortType::Unknown, 0);
    if (virtual_functions_ > 0)
      tree_.notes.push_back(fmt::format("{} virtual functions of SR-IOV are left out", virtual_functions_));
    if (idle_nics_ > 0)
      tree_.notes.push_back(
          fmt::format("{} network adapters without RDMA that are down or unused are left out", idle_nics_));
    for (auto const& role : roles_.value_or(std::vector<Role>()))
      if (std::none_of(tree_.nodes.begin(), tree_.nodes.end(), [&](auto const& n) { return n.role == find(role.bdf); }))
        tree_.notes.push_back(
            fmt::format("the roles file has '{}' at {}, where there is no PCI function", role.name, role.bdf));
    return std::move(tree_);
  }

 private:
  [[nodiscard]] Role const* find(std::string_view bdf) const { return roles_ ? find_role(*roles_, bdf) : nullptr; }

  void add(PciFacts const& function) {
    if (function.virtual_function) {
      ++virtual_functions_;
      return;
    }
    PciTree::Node node;
    node.facts = function;
    node.role = find(function.bdf);
    if (!function.is_bridge()) node.kind = roles_ ? kind_by_role(node.role) : kind_of(function);
    tree_.nodes.push_back(std::move(node));
  }

  static std::optional<PciKind> kind_by_role(Role const* role) {
    if (role == nullptr) return std::nullopt;
    switch (role->kind) {
      case RoleKind::Gpu: return PciKind::Gpu;
      case RoleKind::Nic: return PciKind::Nic;
      case RoleKind::Nvme: return PciKind::Nvme;
      case RoleKind::Device: return PciKind::Device;
      case RoleKind::RootPort:
      case RoleKind::Switch:
      case RoleKind::Platform: break;
    }
    return std::nullopt;
  }

  std::optional<PciKind> kind_of(PciFacts const& function) {
    if (is_gpu(function)) return PciKind::Gpu;
    if (is_nic(function)) return PciKind::Nic;
    if (function.is_nvme()) return PciKind::Nvme;
    auto const* part = catalogue_.part_by_pci_id(function.id);
    if (part != nullptr && part->kind == PartKind::Device) return PciKind::Device;
    return std::nullopt;
  }

  [[nodiscard]] bool driver_has_gpu(std::string_view bdf) const {
    auto const here = [&](auto const& gpu) { return gpu.bdf == bdf; };
    return std::any_of(facts_.nvml.gpus.begin(), facts_.nvml.gpus.end(), here) ||
           std::any_of(facts_.cuda.gpus.begin(), facts_.cuda.gpus.end(), here);
  }

  // A display controller may also be a server's management chip or a part of the CPU. So a device that is not NVIDIA's
  // counts as a GPU only if the catalogue knows it or it cannot drive a display.
  bool is_gpu(PciFacts const& function) {
    if (function.is_accelerator || driver_has_gpu(function.bdf)) return true;
    auto const kind = function.class_code >> 8U;
    if (kind >> 8U != 0x03 && kind != 0x1200) return false;
    auto const* part = catalogue_.part_by_pci_id(function.id);
    if (part != nullptr) return part->kind == PartKind::Gpu;
    if (function.id.starts_with("10de:")) return kind == 0x0300 || kind == 0x0302;
    bool const known_maker = function.id.starts_with("1002:") || function.id.starts_with("8086:");
    if (known_maker && is_on_card(function)) return true;
    if (kind == 0x0300 && known_maker)
      tree_.notes.push_back(
          fmt::format("{} ({}) is a display controller that the catalogue does not know as a GPU; left out",
                      function.bdf, function.id));
    return known_maker && kind != 0x0300;
  }

  // A display controller below a switch of its own maker, or named as a product of its own, is on a card.
  [[nodiscard]] bool is_on_card(PciFacts const& function) const {
    auto const vendor = function.id.substr(0, function.id.find(':') + 1);
    auto const at = by_address_.find(function.above);
    if (at != by_address_.end() && vendor == "1002:" && at->second->id.starts_with(vendor)) return true;
    auto const has = [&](std::string_view word) { return function.product.find(word) != std::string::npos; };
    // Chips without a processor around them, as pci.ids names them where it names no product.
    for (auto const* chip : {"Vega 10", "Vega 20", "Navi ", "Polaris", "Ellesmere", "Fiji", "Arcturus", "Aldebaran"})
      if (has(chip)) return true;
    return has("Radeon RX") || has("Radeon PRO") || has("Radeon Pro") || has("Instinct") || has("[Arc ");
  }

  bool is_nic(PciFacts const& function) {
    bool rdma = false;
    bool up = false;
    for (auto const& nic : facts_.nics) {
      bool const over =
          !nic.below.empty() && std::any_of(facts_.nics.begin(), facts_.nics.end(), [&](auto const& base) {
            return base.name == nic.below && base.bdf == function.bdf && !base.rdma;
          });
      if (nic.bdf != function.bdf && !over) continue;
      rdma = rdma || nic.rdma;
      up = up || nic.up;
    }
    if (rdma) return true;
    if (!function.is_nic()) return false;
    if (!facts_.lists_nics && is_rdma_adapter(function)) return true;
    auto const* part = catalogue_.part_by_pci_id(function.id);
    if (up || (part != nullptr && part->kind == PartKind::Nic)) return true;
    ++idle_nics_;
    return false;
  }

  void add_hidden_gpus() {
    if (roles_) return;
    for (auto const& gpu : facts_.nvml.gpus) add_hidden_gpu(gpu.bdf, gpu.id, "NVML");
    for (auto const& gpu : facts_.cuda.gpus) add_hidden_gpu(gpu.bdf, {}, "CUDA");
  }
  void add_hidden_gpu(std::string const& bdf, std::string const& id, std::string_view source) {
    if (!is_pci_address(bdf)) return;
    auto const here = [&](PciTree::Node const& node) { return node.facts.bdf == bdf; };
    if (std::any_of(tree_.nodes.begin(), tree_.nodes.end(), here)) return;
    PciTree::Node node;
    node.facts.bdf = bdf;
    node.facts.root_bus = bdf.substr(0, bdf.rfind(':'));
    node.facts.id = id;
    node.kind = PciKind::Gpu;
    tree_.nodes.push_back(std::move(node));
    tree_.notes.push_back(
        fmt::format("{} has a GPU at {} which is no PCI function of the system; put on the root bus", source, bdf));
  }

  void join() {
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) at.emplace(tree_.nodes[i].facts.bdf, i);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      auto const above = at.find(tree_.nodes[i].facts.above);
      // No bridge can be its own ancestor: an address is above another only if the other's path is longer.
      if (above != at.end() && above->second != i && tree_.nodes[above->second].facts.is_bridge())
        tree_.nodes[above->second].below.push_back(i);
      else
        tree_.tops.push_back(i);
    }
    std::stable_sort(tree_.tops.begin(), tree_.tops.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(tree_.nodes[a].facts.root_bus, tree_.nodes[a].facts.bdf) <
             std::tie(tree_.nodes[b].facts.root_bus, tree_.nodes[b].facts.bdf);
    });
  }

  // Bridges alternate on the way down: root port, upstream port, downstream port, upstream port.
  bool mark(std::size_t i, PortType above, int depth) {
    constexpr int kDeepest = 64;  // deeper than any real system; ends a forged tree with a cycle
    auto& node = tree_.nodes[i];
    if (node.facts.is_bridge()) {
      node.port = node.facts.config.port_type;
      if (node.port == PortType::Unknown || node.port == PortType::Other)
        node.port = above == PortType::Unknown          ? PortType::RootPort
                    : above == PortType::SwitchUpstream ? PortType::SwitchDownstream
                                                        : PortType::SwitchUpstream;
    }
    bool const named = node.role != nullptr && node.facts.is_bridge() && node.role->kind != RoleKind::Platform;
    node.wanted = node.kind.has_value() || named;  // an empty port counts if the roles file names it
    if (depth < kDeepest)
      for (auto const child : node.below) node.wanted = mark(child, node.port, depth + 1) || node.wanted;
    return tree_.nodes[i].wanted;
  }

  HostFacts const& facts_;
  std::optional<std::vector<Role>> const& roles_;
  Catalogue& catalogue_;
  PciTree tree_;
  std::map<std::string, PciFacts const*> by_address_;
  int virtual_functions_ = 0;
  int idle_nics_ = 0;
};

}  // namespace

PciTree make_pci_tree(HostFacts const& facts, std::optional<std::vector<Role>> const& roles, Catalogue& catalogue) {
  return TreeMaker(facts, roles, catalogue).make();
}

}  // namespace lanewise
