#include "core/interop/exports/simgrid.hpp"

#include <fmt/format.h>

#include <set>

#include "core/io/json.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxPlaces = 512;
constexpr Bytes kLarge{std::int64_t{256} << 20U};

// Attribute values: names of machine files have no other special characters.
std::string escaped(std::string_view text) {
  std::string result;
  for (char const c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

class PlatformWriter {
 public:
  explicit PlatformWriter(Model const& model) : model_(model), machine_(model.machine()), planner_(model) {
    for (auto const gpu : machine_.all(PciKind::Gpu)) places_.emplace_back(gpu);
    for (std::size_t i = 0; i < machine_.numa_nodes.size(); ++i) places_.emplace_back(NumaId(i));
    if (places_.size() > kMaxPlaces)
      throw PlanError(fmt::format("'{}' has {} GPUs and NUMA nodes; a SimGrid platform is written of at most {}",
                                  machine_.name, places_.size(), kMaxPlaces));
  }

  std::string write() {
    for (auto const& from : places_)
      for (auto const& to : places_)
        if (from != to) add_route(from, to);
    std::string text =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<!-- Rates are those of large copies by the fastest legal way. Of one copy they are exact; copies share each "
        "link equally.\n     SimGrid's own models bend latency and bandwidth for TCP: keep the configuration below. "
        "-->\n"
        "<platform version=\"4.1\">\n  <config>\n    <prop id=\"network/model\" value=\"CM02\"/>\n"
        "    <prop id=\"network/crosstraffic\" value=\"0\"/>\n    <prop id=\"network/TCP-gamma\" value=\"1e30\"/>\n"
        "  </config>\n";
    text += fmt::format("  <zone id=\"{}\" routing=\"Full\">\n", escaped(machine_.name));
    for (auto const& place : places_) text += host(place);
    text += links_ + routes_;
    for (auto const& pair : missing_) text += fmt::format("    <!-- no way of known cost: {} -->\n", escaped(pair));
    return text + "  </zone>\n</platform>\n";
  }

 private:
  std::string host(Place const& place) const {
    double speed = 1;
    if (auto const* gpu = std::get_if<PciId>(&place))
      if (auto const* part = machine_.part_of(*gpu); part != nullptr && part->gpu.fp32_rate)
        speed = part->gpu.fp32_rate->value();
    return fmt::format("    <host id=\"{}\" speed=\"{}f\"/>\n", escaped(machine_.name_of(place)), speed);
  }

  std::string shared_link(ResourceId id) {
    auto const& resource = model_.resources().at(id);
    auto const capacity = model_.capacity(id);
    if (written_.insert(resource.name).second)
      links_ += fmt::format("    <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"0us\"/>\n", escaped(resource.name),
                            capacity ? capacity->value() : 0.0);
    return resource.name;
  }

  void add_route(Place const& from, Place const& to) {
    auto const name = fmt::format("{}..{}", machine_.name_of(from), machine_.name_of(to));
    Request const request{.id = "there", .from = from, .to = to, .bytes = kLarge, .op = Op::Copy};
    if (possible_ways(machine_, request).empty()) return missing_.push_back(name);
    auto const choice = planner_.choose(request);
    if (!choice.chosen || !choice.evaluated[*choice.chosen].cost) return missing_.push_back(name);
    auto const& chosen = choice.evaluated[*choice.chosen];
    auto const demand = model_.lower(from, to, kLarge, Op::Copy, chosen.way);
    links_ += fmt::format("    <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}us\" sharing_policy=\"FATPIPE\"/>\n",
                          escaped(name), chosen.cost->rate.value(), microseconds(demand.latency()));
    routes_ += fmt::format("    <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"{}\"/>",
                           escaped(machine_.name_of(from)), escaped(machine_.name_of(to)), escaped(name));
    // What takes less than half of a payload byte is left to the others; the rate of one copy stands in its own link.
    for (auto const& use : demand.uses)
      if (use.weight.ratio() >= 0.5 && model_.capacity(use.resource) &&
          model_.capacity(use.resource)->value() >= chosen.cost->rate.value())
        routes_ += fmt::format("<link_ctn id=\"{}\"/>", escaped(shared_link(use.resource)));
    routes_ += "</route>\n";
  }

  Model const& model_;
  Machine const& machine_;
  Planner planner_;
  std::vector<Place> places_;
  std::set<std::string> written_;
  std::vector<std::string> missing_;
  std::string links_, routes_;
};

}  // namespace

std::string simgrid_platform(Model const& model) { return PlatformWriter(model).write(); }

}  // namespace lanewise
