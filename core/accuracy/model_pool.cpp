#include "core/accuracy/model_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/part_fields.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// Sets the value that the measurement gives instead, in the notation of part files.
void substitute(Part& part, PartField const& field, Withheld const& withheld) {
  if (withheld.instead.empty()) return;
  auto const source = SourceText::from_memory("withhold", fmt::format("{}: {}", withheld.key, withheld.instead));
  MapSpec const only{"withhold", {field.spec}};
  Diagnostics diagnostics;
  try {
    auto const root = parse_yaml(source);
    MapReader reader(root, only, source, diagnostics);
    field.read(part, reader);
    diagnostics.throw_if_any();
  } catch (InputError const&) {
    refuse_at(withheld.pos,
              fmt::format("'withhold': '{}' is no {} ({})", withheld.instead, withheld.key, field.spec.doc));
  }
}

// Removes a part's figure. Throws InputError if there is no such part or key, because the file would then have no
// effect.
void withhold(Machine& machine, Withheld const& withheld) {
  for (auto& part : machine.parts) {
    if (part.name != withheld.part) continue;
    for (auto const& field : part_fields(part.kind)) {
      if (field.spec.name != withheld.key) continue;
      field.clear(part);
      part.forget_source(withheld.key);
      return substitute(part, field, withheld);
    }
    refuse_at(withheld.pos, fmt::format("'withhold': the part '{}' has no key '{}'", withheld.part, withheld.key));
  }
  refuse_at(withheld.pos, fmt::format("'withhold': '{}' is not a part of '{}'", withheld.part, machine.name));
}

// Another machine than the measured one may lack it.
bool has_part(Machine const& machine, std::string const& name) {
  return std::any_of(machine.parts.begin(), machine.parts.end(), [&](Part const& part) { return part.name == name; });
}

}  // namespace

ModelPool::Entry& ModelPool::with(std::vector<Setting> const& settings, SourcePos const& pos) {
  for (auto& [known, entry] : entries_)
    if (known == settings) return *entry;
  auto machine = context_.machine(measurement_);
  if (context_.calibration != nullptr) apply(*context_.calibration, machine);
  try {
    for (auto const& setting : measurement_.settings) apply_setting(machine, setting, context_.catalogue);
    for (auto const& setting : settings) apply_setting(machine, setting, context_.catalogue);
  } catch (InputError const& error) {
    refuse_at(pos, error.what());
  }
  context_.override_machine(machine);
  for (auto const& withheld : measurement_.withheld)
    if (!calibrated(withheld) && (machine.name == measurement_.machine || has_part(machine, withheld.part)))
      withhold(machine, withheld);
  entries_.emplace_back(settings, std::make_unique<Entry>(std::move(machine)));
  return *entries_.back().second;
}

Executor* ModelPool::executor(Entry& entry, Model const& model) {
  auto const [found, fresh] = entry.executors.try_emplace(&model);
  if (fresh) found->second = context_.executor(model);
  return found->second.get();
}

bool ModelPool::calibrated(Withheld const& withheld) const {
  if (context_.calibration == nullptr) return false;
  auto const& values = context_.calibration->values;
  return std::any_of(values.begin(), values.end(), [&](CalibratedValue const& value) {
    return value.part == withheld.part && value.key == withheld.key;
  });
}

}  // namespace lanewise
