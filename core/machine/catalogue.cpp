#include "lanewise/machine/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/spelling.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace fs = std::filesystem;

namespace {

// Whether the schema word ("lanewise: cluster/1") is a cluster's; read_* reports a file that has none.
bool says_cluster(SourceText const& source) {
  for (int number = 1; number <= source.line_count(); ++number) {
    auto line = source.line(number);
    line.remove_prefix(std::min(line.find_first_not_of(" \t{\""), line.size()));
    if (line.starts_with("lanewise")) return line.find("cluster/1") != std::string_view::npos;
  }
  return false;
}

// The name that a machine or cluster file gives itself, also where the rest of it is wrong; empty if it has none.
std::string name_in(SourceText const& source) {
  try {
    auto const root = parse_yaml(source);
    auto const* name = root.find(says_cluster(source) ? "cluster" : "machine");
    return name == nullptr ? "" : name->text;
  } catch (InputError const&) {
    return {};
  }
}

// Names that hold the wrong one or one of its words: "; with 'b300': dgx-b300, hgx-b300". Empty if none does.
std::string alike(std::string const& wrong, std::vector<std::string> const& names) {
  constexpr std::size_t kMost = 8;
  std::string word;
  for (std::size_t start = 0; start < wrong.size(); start += word.size() + 1) {
    word = wrong.substr(start, wrong.find('-', start) - start);
    bool const says_something = word.size() > 2 && word.find_first_of("0123456789") != std::string::npos;
    if (!says_something) continue;
    std::vector<std::string> found;
    std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                 [&](std::string const& name) { return name.find(word) != std::string::npos; });
    if (found.empty()) continue;
    auto const more = found.size() > kMost ? ", ..." : "";
    found.resize(std::min(found.size(), kMost));
    return fmt::format("; with '{}': {}{}", word, fmt::join(found, ", "), more);
  }
  return {};
}

}  // namespace

std::vector<std::string> const& Catalogue::names_in(std::string_view folder) const {
  if (auto const known = names_.find(folder); known != names_.end()) return known->second;
  std::vector<fs::path> folders;
  for (auto const& root : folders_) folders.push_back(root / folder);
  return names_.emplace(folder, names_of_yaml_files(folders)).first->second;
}

std::optional<fs::path> Catalogue::file_of(std::string_view folder, std::string const& name) const {
  if (name.find('/') != std::string::npos) return std::nullopt;  // a name never leaves the folder
  for (auto const& root : folders_) {
    auto path = root / folder / (name + ".yaml");
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

Part const* Catalogue::part(std::string const& name) {
  if (auto const known = parts_.find(name); known != parts_.end()) return known->second ? &*known->second : nullptr;
  auto const path = file_of("parts", name);
  if (!path) return nullptr;
  auto const source = SourceText::load(*path);
  auto const root = parse_yaml(source);
  expect_schema(root, "part/1", source);
  Diagnostics diagnostics;
  auto part = read_part(name, root, source, diagnostics);
  auto const* said = root.find("part");
  if (said != nullptr && said->text != name)
    diagnostics.add({source.name(), said->line, said->column},
                    fmt::format("the part calls itself '{}', but its file is '{}.yaml'", said->text, name),
                    source.line(said->line));
  diagnostics.throw_if_any();
  return &*parts_.emplace(name, std::move(part)).first->second;
}

void Catalogue::load_all() {
  if (loaded_all_) return;
  for (auto const& name : part_names()) part(name);
  for (auto const& [name, part] : parts_) {
    for (auto const& id : part->pci_ids) by_pci_id_.emplace(id, name);
    for (auto const& id : part->cpu.cpuid) by_cpuid_.emplace(id, name);
  }
  loaded_all_ = true;
}

Part const* Catalogue::part_by_pci_id(std::string_view id) {
  load_all();
  auto const found = by_pci_id_.find(id);
  return found == by_pci_id_.end() ? nullptr : part(found->second);
}

Part const* Catalogue::part_by_cpuid(std::string_view id) {
  load_all();
  auto const found = by_cpuid_.find(id);
  return found == by_cpuid_.end() ? nullptr : part(found->second);
}

Machine const* Catalogue::machine_named(std::string const& name) {
  if (auto const known = machines_.find(name); known != machines_.end()) return &known->second;
  auto const path = file_of("machines", name);
  if (!path) return nullptr;
  return &machines_.emplace(name, read_machine(SourceText::load(*path), *this)).first->second;
}

Machine Catalogue::machine_from(SourceText const& source) {
  return says_cluster(source) ? read_cluster(source, *this) : read_machine(source, *this);
}

Machine Catalogue::node_machine(std::string const& name_or_file, fs::path const& cluster_file) {
  auto const refuse = [&] { throw InputError(fmt::format("'{}' is a cluster; nodes are machines", name_or_file)); };
  if (auto const* known = machine_named(name_or_file)) return *known;
  if (file_of("clusters", name_or_file)) refuse();
  auto beside = cluster_file.parent_path() / name_or_file;
  std::error_code error;
  if (!fs::is_regular_file(beside, error)) beside += ".yaml";
  if (!fs::is_regular_file(beside, error)) {
    throw InputError(fmt::format("no machine is called '{}'{} give a bundled one, or a file beside this one",
                                 name_or_file, did_you_mean_first(name_or_file, machine_names())));
  }
  auto const source = SourceText::load(beside);
  if (says_cluster(source)) refuse();
  return read_machine(source, *this);
}

std::optional<fs::path> Catalogue::file_named(std::string const& name) const {
  if (auto path = file_of("machines", name)) return path;
  return file_of("clusters", name);
}

void Catalogue::add(SourceText const& source) {
  wrong_files_.emplace(name_in(source), source.name());  // until it has been read
  auto machine = machine_from(source);
  wrong_files_.erase(machine.name);
  auto const name = machine.name;
  if (auto const& [other, is_new] = added_files_.emplace(name, source.name()); !is_new)
    refuse_at(source.whole(), fmt::format("the name '{}' is already that of {}", name, other->second.string()));
  (says_cluster(source) ? added_clusters_ : machines_).insert_or_assign(name, std::move(machine));
}

std::optional<fs::path> Catalogue::added_file(std::string const& name) const {
  auto const found = added_files_.find(name);
  return found == added_files_.end() ? std::nullopt : std::optional(found->second);
}

Machine Catalogue::machine(std::string const& name_or_file) {
  if (auto const wrong = wrong_files_.find(name_or_file); wrong != wrong_files_.end())
    throw InputError(fmt::format("'{}' is described in {}, which is wrong", name_or_file, wrong->second.string()));
  if (auto const known = added_clusters_.find(name_or_file); known != added_clusters_.end()) return known->second;
  if (auto const* known = machine_named(name_or_file)) return *known;
  if (auto const path = file_of("clusters", name_or_file)) return read_cluster(SourceText::load(*path), *this);
  std::error_code error;
  bool const is_path = fs::exists(name_or_file, error) || is_file_text(name_or_file);
  if (is_path) return machine_from(SourceText::load(name_or_file));
  std::vector<std::string> names;
  for (auto const& [name, file] : added_files_) names.push_back(name);
  auto const& machines = machine_names();
  names.insert(names.end(), machines.begin(), machines.end());
  auto const& clusters = cluster_names();
  names.insert(names.end(), clusters.begin(), clusters.end());
  throw InputError(
      fmt::format("no machine is called '{}'{} give a file, or a name of `lanewise list machines` or "
                  "`lanewise list clusters`{}",
                  name_or_file, did_you_mean_first(name_or_file, names), alike(name_or_file, names)));
}

}  // namespace lanewise
