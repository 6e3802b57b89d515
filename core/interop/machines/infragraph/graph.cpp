#include "core/interop/machines/infragraph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "core/io/spelling.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxNodes = 4096, kMaxEdges = 100'000;

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
  slice.last = kMaxInfraCount;
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
  if (slice.first < 0 || slice.last > kMaxInfraCount || slice.step < 1 || (single && inside.empty()))
    return std::nullopt;
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

InfraGraph expand(InfraDevice const& device, Infrastructure const& all, SourceText const& source) {
  return Expander(device, all, source).expand();
}

}  // namespace lanewise
