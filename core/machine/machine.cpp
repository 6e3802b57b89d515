#include "lanewise/machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/io/spelling.hpp"
#include "core/io/word.hpp"
#include "core/machine/nic_port.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

struct AcsName {
  std::string_view name;
  std::uint16_t bit;
};
constexpr std::array<AcsName, 7> kAcsNames{{{"SV", AcsControl::kSourceValidation},
                                            {"TB", AcsControl::kTranslationBlocking},
                                            {"RR", AcsControl::kRequestRedirect},
                                            {"CR", AcsControl::kCompletionRedirect},
                                            {"UF", AcsControl::kUpstreamForwarding},
                                            {"EC", AcsControl::kEgressControl},
                                            {"DT", AcsControl::kDirectTranslated}}};
constexpr std::array<std::string_view, 6> kIommuNames{"unknown", "off", "pt", "lazy", "strict", "vfio"};
constexpr std::array<std::string_view, 6> kPciKindNames{"root_port", "switch", "gpu", "nic", "nvme", "device"};
constexpr int kMaxCores = 65'536;
constexpr std::array<std::string_view, 8> kOpNames{"copy",   "write",    "read",  "load_store",
                                                   "atomic", "prefetch", "fault", "send"};

std::optional<int> core_number(std::string_view text) {
  int value = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value >= 0 && value < kMaxCores ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<int> numbers_of_list(std::string_view list) {
  std::vector<int> numbers;
  while (!list.empty()) {
    auto const item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    auto const dash = item.find('-');
    auto const first = core_number(item.substr(0, dash));
    auto const last = dash == std::string_view::npos ? first : core_number(item.substr(dash + 1));
    if (!first || !last || *last < *first) return {};
    for (auto number = *first; number <= *last; ++number) numbers.push_back(number);
    if (numbers.size() > kMaxCores) return {};
  }
  return numbers;
}

std::string to_string(AcsControl control) {
  if (!control.known) return "unknown";
  if (control == AcsControl::off()) return "off";
  if (control == AcsControl::on()) return "on";
  std::string text;
  for (auto const& [name, bit] : kAcsNames)
    if (control.has(bit)) text += (text.empty() ? "" : ",") + std::string(name);
  return text;
}

Parsed<AcsControl> parse_acs(std::string_view text) {
  if (text == "off") return {AcsControl::off(), {}};
  if (text == "on") return {AcsControl::on(), {}};
  if (text == "unknown") return {AcsControl::unknown(), {}};
  AcsControl control;
  auto const whole = text;
  while (!text.empty()) {
    auto const end = text.find_first_of(",+ ");
    auto const word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (word.empty()) continue;
    auto const* const found =
        std::find_if(kAcsNames.begin(), kAcsNames.end(), [&](AcsName const& known) { return known.name == word; });
    if (found == kAcsNames.end())
      return {{},
              fmt::format(
                  "'{}' is not an ACS control bit; allowed: on, off, unknown, or a list of SV, TB, RR, CR, UF, EC, DT",
                  word)};
    control.bits |= found->bit;
  }
  if (control.bits == 0)
    return {
        {},
        fmt::format("'{}' names no ACS control bit; write off, on, unknown, or a list of SV, TB, RR, CR, UF, EC, DT",
                    whole)};
  return {control, {}};
}

std::string_view to_string(IommuMode mode) { return kIommuNames.at(static_cast<std::size_t>(mode)); }

Parsed<IommuMode> parse_iommu(std::string_view text) {
  if (text == "on" || text == "translated") return {IommuMode::Lazy, {}};
  if (text == "passthrough") return {IommuMode::Passthrough, {}};
  return parse_word<IommuMode>(text, kIommuNames, "an IOMMU mode");
}

std::string_view to_string(PciKind kind) { return kPciKindNames.at(static_cast<std::size_t>(kind)); }
std::string_view to_string(Op op) { return kOpNames.at(static_cast<std::size_t>(op)); }
std::vector<std::string> op_names() { return {kOpNames.begin(), kOpNames.end()}; }
Parsed<Op> parse_op(std::string_view text) { return parse_word<Op>(text, kOpNames, "an op"); }

std::span<Fabric::Attachment const> Fabric::attachments_of(PciId nic) const {
  auto const first = std::lower_bound(attachments.begin(), attachments.end(), nic,
                                      [](Attachment const& a, PciId id) { return a.nic < id; });
  auto const end = std::find_if(first, attachments.end(), [&](Attachment const& a) { return a.nic != nic; });
  return {first, end};
}

std::optional<BytesPerSecond> Fabric::uplink(std::uint32_t of) const {
  std::optional<BytesPerSecond> total;
  for (auto const& trunk : trunks)
    if (trunk.lower == of && trunk.cables > 0 && switches[trunk.upper].tier > switches[of].tier)
      total = total.value_or(BytesPerSecond(0)) + trunk.rate;
  return total;
}

std::string_view to_string(Routing routing) {
  constexpr std::array<std::string_view, 4> kNames{"adaptive", "static", "ecmp", "valiant"};
  return kNames.at(static_cast<std::size_t>(routing));
}

HostId Machine::host_of(Place const& place) const {
  if (auto const* id = std::get_if<PciId>(&place)) return host_of(*id);
  return at(at(std::get<NumaId>(place)).socket).host;
}

std::vector<PciId> Machine::all(PciKind kind) const {
  std::vector<PciId> ids;
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (functions[i].kind == kind) ids.push_back(PciId(i));
  return ids;
}

bool Machine::is_off(PciId id) const {
  for (std::optional<PciId> above = id; above; above = at(*above).parent)
    if (at(*above).off) return true;
  // A NIC whose port another function owns fails with that function; but an adapter of several nodes outlives one node.
  if (auto const owner = port_owner(*this, id);
      owner != id && (host_of(owner) == host_of(id) ? is_off(owner) : at(owner).off))
    return true;
  return at(host_of(id)).off;
}
bool Machine::is_off(Place const& place) const {
  if (auto const* id = std::get_if<PciId>(&place)) return is_off(*id);
  return at(host_of(place)).off;
}

std::optional<PciId> Machine::find_function(std::string_view wanted) const {
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == wanted) return PciId(i);
  return std::nullopt;
}

std::optional<Place> Machine::find_place(std::string_view wanted) const {
  if (auto const id = find_function(wanted)) {
    auto const kind = at(*id).kind;
    if (kind != PciKind::RootPort && kind != PciKind::Switch) return Place(*id);
  }
  for (std::size_t i = 0; i < numa_nodes.size(); ++i)
    if (numa_nodes[i].name == wanted || at(numa_nodes[i].socket).name == wanted) return Place(NumaId(i));
  return std::nullopt;
}

Place Machine::place(std::string_view wanted) const {
  if (auto const found = find_place(wanted)) return *found;
  std::vector<std::string> names;
  for (auto const& function : functions)
    if (find_place(function.name)) names.push_back(function.name);
  for (auto const& numa : numa_nodes) names.push_back(numa.name);
  constexpr std::size_t kMaxListed = 24;
  auto const listed = std::span(names).first(std::min(names.size(), kMaxListed));
  throw InputError(fmt::format("'{}' is not a place on {}{} places: {}{}", wanted, name,
                               did_you_mean_first(wanted, names), fmt::join(listed, ", "),
                               names.size() > kMaxListed ? ", ..." : ""));
}

std::string const& Machine::name_of(Place const& place) const {
  if (auto const* id = std::get_if<PciId>(&place)) return at(*id).name;
  return at(std::get<NumaId>(place)).name;
}

PartId add_part(Machine& machine, Part const& part) {
  for (std::size_t i = 0; i < machine.parts.size(); ++i)
    if (machine.parts[i].name == part.name) return PartId(i);
  machine.parts.push_back(part);
  return PartId(machine.parts.size() - 1);
}

namespace {

// "gpu0" and "gpu7", or "gpu0" and "7", give eight names; empty when the two are no range.
std::vector<std::string> numbered(std::string_view from, std::string_view to) {
  auto const split = [](std::string_view end) {
    auto digits = end.size();
    while (digits > 0 && end[digits - 1] >= '0' && end[digits - 1] <= '9') --digits;
    int number = -1;
    std::from_chars(end.data() + digits, end.data() + end.size(), number);
    return std::pair(end.substr(0, digits), number);
  };
  auto const [first_stem, first] = split(from);
  auto const [last_stem, last] = split(to);
  constexpr int kMaxRange = 65536;
  if (first < 0 || last < first || last - first >= kMaxRange || (first_stem != last_stem && !last_stem.empty()))
    return {};
  std::vector<std::string> names;
  for (int i = first; i <= last; ++i) names.push_back(fmt::format("{}{}", first_stem, i));
  return names;
}

}  // namespace

std::vector<std::string> expand_range(std::string_view text) {
  auto const dots = text.find("..");
  if (dots == std::string_view::npos) return {std::string(text)};
  auto const first = text.substr(0, dots);
  auto const last = text.substr(dots + 2);
  auto const slash = first.find('/');
  auto const last_slash = last.find('/');
  std::vector<std::string> names;
  if (slash == std::string_view::npos) {
    names = numbered(first, last);
  } else {
    // "node0/gpu0..gpu7": the end may leave out the node of the beginning.
    auto const node = first.substr(0, slash);
    bool const same_node = last_slash == std::string_view::npos;
    auto const last_node = same_node ? node : last.substr(0, last_slash);
    auto const devices = numbered(first.substr(slash + 1), same_node ? last : last.substr(last_slash + 1));
    for (auto const& host : node == last_node ? std::vector{std::string(node)} : numbered(node, last_node))
      for (auto const& device : devices) names.push_back(fmt::format("{}/{}", host, device));
  }
  if (names.empty())
    throw InputError(
        fmt::format("'{}' is not a range; write it as 'gpu0..gpu7', over nodes as 'node0/gpu0..node3/gpu7'", text));
  return names;
}

}  // namespace lanewise
