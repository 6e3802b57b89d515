// Reads the links of a machine file: between sockets, NVLink, NVSwitch; and its measured overrides.
#include <fmt/format.h>

#include <utility>

#include "core/machine/files/key_values.hpp"
#include "core/machine/files/machine_reader.hpp"
#include "core/machine/machine_fields.hpp"
#include "core/machine/nvlink_ports.hpp"

namespace lanewise {

std::optional<std::array<std::string, 2>> MachineReader::read_two_ends(MapReader& reader) {
  auto ends = reader.texts("between");
  if (ends.size() == 2 && ends[0] != ends[1]) return std::array<std::string, 2>{ends[0], ends[1]};
  reader.fail_at_key("between", "'between' names two different ends, such as [gpu0, gpu1]");
  return std::nullopt;
}

void MachineReader::read_socket_link(MapReader& reader) {
  auto const ends = read_two_ends(reader);
  auto const part_id = referenced_part(reader, PartKind::Link);
  if (!ends) return;
  auto const a = socket_named((*ends)[0]);
  auto const b = socket_named((*ends)[1]);
  auto const count = positive_count(reader, "count");
  if (!a) report_dangling(reader, "between", (*ends)[0], "socket");
  if (!b) report_dangling(reader, "between", (*ends)[1], "socket");
  if (a && b && part_id) machine_.socket_links.push_back({*a, *b, *part_id, count.value_or(1)});
}

std::optional<PartId> MachineReader::read_nvlink_part(MapReader& reader) {
  if (reader.has("part")) return referenced_part(reader, PartKind::Link);
  auto const generation = reader.count("generation");
  if (!generation) {
    reader.fail(reader.self(), "an NVLink needs 'generation: 1..5' or 'part: NAME'");
    return std::nullopt;
  }
  if (*generation < 1 || *generation > 5) {
    reader.fail(*reader.node("generation"), fmt::format("NVLink generation {} is not known; 1 to 5 are", *generation));
    return std::nullopt;
  }
  return enter_part(reader, *reader.node("generation"), fmt::format("nvlink-{}", *generation), PartKind::Link);
}

void MachineReader::read_nvlink(MapReader& reader) {
  auto const link = read_nvlink_part(reader);
  auto const count = positive_count(reader, "count");
  if (reader.has("switch") == reader.has("between"))
    return reader.fail(reader.self(), "an NVLink has either 'between: [two ends]' or 'switch: NAME' with 'gpus'");
  if (reader.has("switch")) return read_nvswitch(reader, link, count);
  auto const ends = read_two_ends(reader);
  if (!ends) return;
  std::array<std::optional<NvlinkEnd>, 2> found;
  for (std::size_t i = 0; i < 2; ++i) {
    if (auto const gpu = gpu_named((*ends)[i]))
      found[i] = *gpu;
    else if (auto const socket = socket_named((*ends)[i]))
      found[i] = *socket;
    else
      report_dangling(reader, "between", (*ends)[i], "GPU or socket");
  }
  if (found[0] && found[1] && link && count) machine_.nvlinks.push_back({*found[0], *found[1], *link, *count});
}

NvSwitch* MachineReader::nvswitch_named(std::string_view name) {
  for (auto& domain : machine_.nvswitches)
    if (domain.name == name) return &domain;
  return nullptr;
}

void MachineReader::read_nvswitch(MapReader& reader, std::optional<PartId> link, std::optional<int> count) {
  auto const name = reader.text("switch");
  if (!name || (nvswitch_named(*name) == nullptr && !claim_name(reader, *reader.node("switch"), *name))) return;
  auto const part_name = reader.text("switch_part");
  if (!part_name) reader.fail_at_key("switch", fmt::format("the NVSwitch '{}' needs 'switch_part: NAME'", *name));
  auto const switch_part =
      part_name ? enter_part(reader, *reader.node("switch_part"), *part_name, PartKind::NvSwitch) : std::nullopt;
  std::vector<NvSwitch::Port> ports;
  for (auto const* item : reader.items("gpus")) {
    for (auto const& gpu_name : names_in(reader, *item)) {
      if (auto const gpu = gpu_named(gpu_name))
        ports.push_back({*gpu, count.value_or(0)});
      else
        report_dangling(reader, "gpus", gpu_name, "GPU");
    }
  }
  if (ports.empty())
    reader.fail(reader.self(), fmt::format("the NVSwitch '{}' has no GPUs; add 'gpus: [gpu0..gpu7]'", *name));
  if (!link || !switch_part) return;
  auto* domain = nvswitch_named(*name);
  if (domain == nullptr)
    domain = &machine_.nvswitches.emplace_back(NvSwitch{*name, HostId{0}, *switch_part, *link, {}});
  if (domain->part != *switch_part || domain->link_part != *link)
    return reader.fail_at_key("switch", fmt::format("the NVSwitch '{}' is described above with other parts", *name));
  domain->ports.insert(domain->ports.end(), ports.begin(), ports.end());
}

std::vector<std::string> MachineReader::names_in(MapReader const& reader, YamlNode const& item) {
  try {
    return expand_range(item.text);
  } catch (InputError const& error) {
    reader.fail(item, error.what());
    return {};
  }
}

void MachineReader::check_nvlink_ports(MapReader const& top) {
  for (auto const& [gpu, links] : exceeded_nvlink_ports(machine_)) {
    auto const* part = machine_.part_of(gpu);
    top.fail_at_key("nvlinks", fmt::format("'{}' has {} NVLinks here, but its part '{}' has {} ports",
                                           machine_.at(gpu).name, links, part->name, part->gpu.nvlink_ports));
  }
}

void MachineReader::read_override(MapReader& reader) {
  Override entry;
  bool good = true;
  for (auto const* key : {"from", "to"}) {
    auto const name = reader.text(key);
    auto const place = name ? machine_.find_place(*name) : std::nullopt;
    if (place)
      (std::string_view(key) == "from" ? entry.from : entry.to) = *place;
    else if (name)
      report_dangling(reader, key, *name, "GPU, NIC, drive, socket or NUMA node");
    good = good && place;
  }
  for (auto const& field : override_fields()) field.read(entry, reader);
  if (!reader.has("bandwidth") && !reader.has("latency"))
    reader.fail(reader.self(), "an override gives 'bandwidth', 'latency' or both");
  if (good) machine_.overrides.push_back(std::move(entry));
}

}  // namespace lanewise
