#include "core/reference/file_kind.hpp"
#include "core/machine/files/machine_spec.hpp"
#include "core/machine/part_fields.hpp"
#include "core/scenario/scenario_spec.hpp"

#include <algorithm>

#include "core/calibration/calibration.hpp"
#include "core/design/brief.hpp"
#include "core/design/prices.hpp"
#include "core/io/word.hpp"
#include "core/measurement/measurement.hpp"
#include "core/workload/language_model.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/machine/part.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 9> kFileKindNames{"machine",     "cluster", "part",   "scenario", "measurement",
                                                         "calibration", "model",   "design", "prices"};

}  // namespace

std::string_view to_string(FileKind kind) { return kFileKindNames.at(static_cast<std::size_t>(kind)); }

Parsed<FileKind> parse_file_kind(std::string_view text) {
  return parse_word<FileKind>(text, kFileKindNames, "a kind of file");
}

std::optional<FileKind> file_kind(SourceText const& source) {
  constexpr std::string_view kKey = "lanewise";
  for (int number = 1; number <= source.line_count(); ++number) {
    auto line = source.line(number);
    line.remove_prefix(std::min(line.find_first_not_of(" \t{\"'"), line.size()));
    if (line.empty() || line.front() == '#' || line.starts_with("---")) continue;
    if (!line.starts_with(kKey)) return std::nullopt;
    line.remove_prefix(kKey.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t\"':"), line.size()));
    return parse_file_kind(line.substr(0, line.find('/'))).value;
  }
  return std::nullopt;
}

std::vector<MapSpec const*> part_specs() {
  std::vector<MapSpec const*> specs;
  for (auto const kind : {PartKind::Cpu, PartKind::Gpu, PartKind::Nic, PartKind::Switch, PartKind::Nvme,
                          PartKind::Device, PartKind::Link, PartKind::NvSwitch, PartKind::NetworkSwitch})
    specs.push_back(&part_spec(kind));
  return specs;
}

std::vector<MapSpec const*> file_specs(FileKind kind) {
  switch (kind) {
    case FileKind::Machine: return {&machine_spec()};
    case FileKind::Cluster: return {&cluster_spec()};
    case FileKind::Part: return part_specs();
    case FileKind::Scenario: return {&scenario_spec()};
    case FileKind::Measurement: return {&measurement_spec()};
    case FileKind::Calibration: return {&calibration_spec()};
    case FileKind::Model: return {&language_model_spec()};
    case FileKind::Design: return {&design_brief_spec()};
    case FileKind::Prices: return {&price_list_spec()};
  }
  return {};
}

}  // namespace lanewise
