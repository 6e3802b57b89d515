#include "core/interop/machines/infragraph/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/io/spelling.hpp"
#include "core/io/yaml.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 8> kChoices{"cpu", "xpu", "nic", "memory", "port", "switch", "custom", "device"};

class InfrastructureReader {
 public:
  explicit InfrastructureReader(SourceText const& source) : source_(source) {}

  Infrastructure read() {
    auto const root = parse_yaml(source_);
    // Some files hold the object below this key.
    auto const* top = root.find("infrastructure") != nullptr ? root.find("infrastructure") : &root;
    auto const* devices = top->find("devices");
    // A file may hold one device alone; older files also have a list of them below this key.
    auto const* single = top->find("device") != nullptr ? top->find("device") : top;
    if (devices == nullptr && single->kind == YamlKind::Sequence) devices = single;
    if (root.find("connections") != nullptr || top->find("connections") != nullptr) fail_older(*top);
    Infrastructure all;
    all.name = text(*top, "name");
    all.description = text(*top, "description");
    if (devices == nullptr && single->find("components") != nullptr)
      all.devices.push_back(device(*single));
    else if (devices == nullptr || devices->kind != YamlKind::Sequence)
      fail(*top, "an Infrastructure has a list 'devices'");
    else
      for (auto const& node : devices->items) all.devices.push_back(device(node));
    for (auto const* node : items(*top, "instances")) {
      auto const of = text(*node, "device");
      auto const number = count(*node);
      all.instances[of] = std::min(kMaxInfraCount, all.instances[of] + number);
    }
    all.network_edges = items(*top, "edges").size();
    diagnostics_.throw_if_any();
    return all;
  }

 private:
  void fail(YamlNode const& at, std::string message) {
    diagnostics_.add({source_.name(), at.line, at.column}, std::move(message), source_.line(at.line));
  }
  // The schema before API 2.
  void fail_older(YamlNode const& at) {
    fail(at,
         "this is the older schema of InfraGraph ('connections' of a device, 'type' of a component); write it with API "
         "2.x: components with 'choice' and 'count', 'edges' with ep1 and ep2");
    diagnostics_.throw_if_any();
  }

  static std::string text(YamlNode const& node, std::string_view key) {
    auto const* found = node.find(key);
    return found != nullptr && found->kind == YamlKind::Scalar ? found->text : std::string();
  }
  std::string required(YamlNode const& node, std::string_view key, std::string_view what) {
    auto found = text(node, key);
    if (found.empty()) fail(node, fmt::format("{} needs the key '{}'", what, key));
    return found;
  }
  std::vector<YamlNode const*> items(YamlNode const& node, std::string_view key) {
    std::vector<YamlNode const*> list;
    auto const* found = node.find(key);
    if (found == nullptr || found->kind == YamlKind::Null) return list;
    if (found->kind != YamlKind::Sequence) fail(*found, fmt::format("'{}' must be a list", key));
    for (auto const& item : found->items) list.push_back(&item);
    return list;
  }
  int count(YamlNode const& node) {
    auto const* found = node.find("count");
    if (found == nullptr) return 1;
    int number = 0;
    auto const& digits = found->text;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0 || number > kMaxInfraCount)
      fail(*found, fmt::format("'count' must be a whole number from 0 to {}", kMaxInfraCount));
    return number;
  }
  std::optional<double> number(YamlNode const& node, std::string_view key) {
    auto const* found = node.find(key);
    if (found == nullptr) return std::nullopt;
    double value = 0;
    auto const& digits = found->text;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size() && value >= 0 && value < 1e9) return value;
    fail(*found, fmt::format("'{}' must be a number from 0", key));
    return std::nullopt;
  }

  InfraDevice device(YamlNode const& node) {
    InfraDevice device;
    device.name = required(node, "name", "a device");
    device.description = text(node, "description");
    if (node.find("connections") != nullptr) fail_older(*node.find("connections"));
    std::set<std::string> names;
    for (auto const* item : items(node, "components")) {
      device.components.push_back(component(*item));
      auto const& name = device.components.back().name;
      if (!name.empty() && !names.insert(name).second)
        fail(*item, fmt::format("device '{}' has two components '{}'", device.name, name));
    }
    for (auto const* item : items(node, "links")) {
      auto link = read_link(*item);
      device.links[link.name] = std::move(link);
    }
    for (auto const* item : items(node, "edges")) device.edges.push_back(edge(*item));
    return device;
  }

  InfraComponent component(YamlNode const& node) {
    InfraComponent component;
    component.name = required(node, "name", "a component");
    component.description = text(node, "description");
    if (node.find("choice") == nullptr && node.find("type") != nullptr) fail_older(*node.find("type"));
    auto const choice = required(node, "choice", "a component");
    auto const* const found = std::find(kChoices.begin(), kChoices.end(), choice);
    std::vector<std::string> const allowed(kChoices.begin(), kChoices.end());
    if (found != kChoices.end())
      component.kind = static_cast<InfraKind>(found - kChoices.begin());
    else if (!choice.empty())
      fail(*node.find("choice"), fmt::format("'choice': there is no '{}'{} allowed: {}", choice,
                                             did_you_mean_first(choice, allowed), fmt::join(allowed, ", ")));
    if (auto const* custom = node.find("custom")) component.custom_type = text(*custom, "type");
    component.count = count(node);
    return component;
  }

  InfraLink read_link(YamlNode const& node) {
    InfraLink link;
    link.name = required(node, "name", "a link");
    link.description = text(node, "description");
    auto const* physical = node.find("physical");
    auto const* bandwidth = physical == nullptr ? nullptr : physical->find("bandwidth");
    if (bandwidth == nullptr) return link;
    link.gigabytes_per_second = number(*bandwidth, "gigabytes_per_second");
    link.gigatransfers_per_second = number(*bandwidth, "gigatransfers_per_second");
    if (auto const bits = number(*bandwidth, "gigabits_per_second")) link.gigabytes_per_second = *bits / 8;
    return link;
  }

  InfraEdge edge(YamlNode const& node) {
    InfraEdge edge;
    edge.line = node.line;
    edge.column = node.column;
    for (auto const* key : {"ep1", "ep2"}) {
      auto const* end = node.find(key);
      if (end == nullptr) {
        fail(node, fmt::format("an edge needs the key '{}'", key));
        continue;
      }
      auto& device = key[2] == '1' ? edge.device_a : edge.device_b;
      auto& component = key[2] == '1' ? edge.component_a : edge.component_b;
      device = text(*end, "device");
      component = required(*end, "component", "an endpoint");
    }
    if (auto scheme = text(node, "scheme"); !scheme.empty()) edge.scheme = std::move(scheme);
    if (edge.scheme != "one2one" && edge.scheme != "many2many" && edge.scheme != "ring")
      fail(node, fmt::format("'scheme': there is no '{}'; allowed: one2one, many2many, ring", edge.scheme));
    edge.link = text(node, "link");
    return edge;
  }

  SourceText const& source_;
  Diagnostics diagnostics_;
};

}  // namespace

InfraComponent const* InfraDevice::find(std::string_view component) const {
  for (auto const& entry : components)
    if (entry.name == component) return &entry;
  return nullptr;
}

InfraDevice const* Infrastructure::find(std::string_view device) const {
  for (auto const& entry : devices)
    if (entry.name == device) return &entry;
  return nullptr;
}

Infrastructure read_infrastructure(SourceText const& source) { return InfrastructureReader(source).read(); }

}  // namespace lanewise
