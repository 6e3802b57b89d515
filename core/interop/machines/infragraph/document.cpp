#include "core/interop/machines/infragraph/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/io/error.hpp"
#include "core/io/spelling.hpp"
#include "core/io/yaml.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 8> kChoices{"cpu", "xpu", "nic", "memory", "port", "switch", "custom", "device"};
constexpr int kMaxCount = 65'536;
constexpr std::size_t kMaxNodes = 4096, kMaxEdges = 100'000;

class InfrastructureReader {
 public:
  explicit InfrastructureReader(SourceText const& source) : source_(source) {}

  Infrastructure read() {
    auto const root = parse_yaml(source_);
    // Some files hold the object below this key.
    auto const* top = root.find("infrastructure") != nullptr ? root.find("infrastructure") : &root;
    auto const* devices = top->find("devices");
    // A file may hold one device alone.
    auto const* single = top->find("device") != nullptr ? top->find("device") : top;
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
      all.instances[of] = std::min(kMaxCount, all.instances[of] + number);
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
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0 || number > kMaxCount)
      fail(*found, fmt::format("'count' must be a whole number from 0 to {}", kMaxCount));
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

// "xpu[0:4]": a name and the numbers of a Python slice of `count` things. Without brackets all of them.
struct Slice {
  std::string_view name;
  int first = 0, last = 0, step = 1;  // last is not included
  bool whole = true;
};
std::optional<Slice> parse_slice(std::string_view text) {
  Slice slice;
  auto const open = text.find('[');
  slice.name = text.substr(0, open);
  if (open == std::string_view::npos) return slice;
  auto inside = text.substr(open + 1);
  if (!inside.ends_with(']')) return std::nullopt;
  inside.remove_suffix(1);
  slice.whole = false;
  slice.last = kMaxCount;
  std::array<int*, 3> const targets{&slice.first, &slice.last, &slice.step};
  std::size_t field = 0;
  bool const single = inside.find(':') == std::string_view::npos;
  while (field < targets.size()) {
    auto const colon = inside.find(':');
    auto const digits = inside.substr(0, colon);
    if (!digits.empty()) {
      auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *targets.at(field));
      if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    }
    if (colon == std::string_view::npos) break;
    inside.remove_prefix(colon + 1);
    ++field;
  }
  if (single) slice.last = slice.first + 1;
  if (slice.first < 0 || slice.last > kMaxCount || slice.step < 1 || (single && inside.empty())) return std::nullopt;
  return slice;
}

class Expander {
 public:
  Expander(InfraDevice const& device, Infrastructure const& all, SourceText const& source)
      : device_(device), all_(all), source_(source) {}

  InfraGraph expand() {
    for (auto const& component : device_.components) {
      first_[component.name] = graph_.nodes.size();
      if (graph_.nodes.size() + static_cast<std::size_t>(component.count) > kMaxNodes)
        throw InputError(
            fmt::format("{}: device '{}' has more than {} components", source_.name(), device_.name, kMaxNodes));
      for (int i = 0; i < component.count; ++i) graph_.nodes.push_back(node(component, i));
    }
    for (auto const& edge : device_.edges) add(edge);
    return std::move(graph_);
  }

 private:
  InfraNode node(InfraComponent const& component, int number) const {
    InfraNode node{fmt::format("{}.{}", component.name, number), component.kind, component.description,
                   component.custom_type};
    if (component.kind != InfraKind::Device) return node;
    // A device inside this one is what its main component is.
    auto const* inner = all_.find(component.name);
    if (inner == nullptr) return node;
    if (node.description.empty()) node.description = inner->description;
    auto const has = [&](InfraKind kind) {
      return std::any_of(inner->components.begin(), inner->components.end(),
                         [&](InfraComponent const& c) { return c.kind == kind; });
    };
    node.kind = has(InfraKind::Xpu)                               ? InfraKind::Xpu
                : has(InfraKind::Nic)                             ? InfraKind::Nic
                : has(InfraKind::Cpu)                             ? InfraKind::Cpu
                : has(InfraKind::Port) && !has(InfraKind::Switch) ? InfraKind::Nic
                : has(InfraKind::Switch)                          ? InfraKind::Switch
                                                                  : InfraKind::Custom;
    return node;
  }

  [[noreturn]] void fail(InfraEdge const& edge, std::string const& message) const {
    Diagnostics diagnostics;
    diagnostics.add({source_.name(), edge.line, edge.column}, message, source_.line(edge.line));
    diagnostics.throw_if_any();
    throw InputError(message);
  }

  std::vector<std::size_t> ends(InfraEdge const& edge, std::string const& device, std::string const& component) const {
    // Of a device inside this one, its components are not told apart; "cx5.port[0]" means the same.
    auto text = device.empty() ? std::string_view(component) : std::string_view(device);
    if (auto const dot = text.find('.'); dot != std::string_view::npos) text = text.substr(0, dot);
    auto const slice = parse_slice(text);
    if (!slice) fail(edge, fmt::format("'{}' is no component with a slice, such as xpu[0:4]", text));
    auto const* found = device_.find(slice->name);
    if (found == nullptr && device.empty()) {
      std::vector<std::string> names;
      for (auto const& c : device_.components) names.push_back(c.name);
      fail(edge, fmt::format("device '{}' has no component '{}'{}", device_.name, slice->name,
                             did_you_mean(std::string(slice->name), names)));
    }
    if (found == nullptr) {
      // The device itself is named: then the component is its own.
      if (slice->name != device_.name)
        fail(edge, fmt::format("device '{}' has no device '{}' inside", device_.name, slice->name));
      return ends(edge, {}, component);
    }
    std::vector<std::size_t> list;
    auto const last = slice->whole ? found->count : std::min(slice->last, found->count);
    if (!slice->whole && slice->first >= found->count)
      fail(edge, fmt::format("'{}': there are only {} of '{}'", text, found->count, found->name));
    auto const start = first_.find(found->name)->second;
    for (int i = slice->first; i < last; i += slice->step) list.push_back(start + static_cast<std::size_t>(i));
    return list;
  }

  void add(InfraEdge const& edge) {
    auto const a = ends(edge, edge.device_a, edge.component_a);
    auto const b = ends(edge, edge.device_b, edge.component_b);
    auto const link = device_.links.find(edge.link);
    auto const* of = link == device_.links.end() ? nullptr : &link->second;
    auto const join = [&](std::size_t x, std::size_t y) {
      if (x == y) return;
      if (graph_.edges.size() >= kMaxEdges) fail(edge, fmt::format("more than {} edges", kMaxEdges));
      graph_.edges.push_back({x, y, of});
    };
    if (edge.scheme == "many2many") {
      std::set<std::pair<std::size_t, std::size_t>> seen;  // of a group with itself, every pair once
      for (auto const x : a)
        for (auto const y : b)
          if (seen.insert(std::minmax(x, y)).second) join(x, y);
    } else if (edge.scheme == "ring") {
      auto all = a;
      for (auto const y : b)
        if (std::find(all.begin(), all.end(), y) == all.end()) all.push_back(y);
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all.size() > 2 || i == 0) join(all[i], all[(i + 1) % all.size()]);
    } else {
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) join(a[i], b[i]);
    }
  }

  InfraDevice const& device_;
  Infrastructure const& all_;
  SourceText const& source_;
  std::map<std::string, std::size_t, std::less<>> first_;
  InfraGraph graph_;
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

InfraGraph expand(InfraDevice const& device, Infrastructure const& all, SourceText const& source) {
  return Expander(device, all, source).expand();
}

}  // namespace lanewise
