#pragma once
// The bundled and the user's own facts: parts, machines and clusters, each a YAML file in a folder of its kind.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/machine/part.hpp"

namespace lanewise {

// Folders that hold parts/, machines/ and clusters/; earlier ones win. Parts are read when first asked for.
class Catalogue {
 public:
  explicit Catalogue(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  // The part of this name, or nullptr. Throws InputError when its file is wrong.
  Part const* part(std::string const& name);
  // The part whose pci_ids hold "10de:20b5", or whose cpuid holds "GenuineIntel/6/85"; nullptr when there is none.
  // Reads the whole catalogue at the first call.
  Part const* part_by_pci_id(std::string_view id);
  Part const* part_by_cpuid(std::string_view id);
  [[nodiscard]] std::vector<std::string> part_names() const { return names_in("parts"); }
  [[nodiscard]] std::vector<std::string> machine_names() const { return names_in("machines"); }
  [[nodiscard]] std::vector<std::string> cluster_names() const { return names_in("clusters"); }

  // A machine or a cluster: the name of a bundled one, or a file. Throws InputError when there is neither.
  Machine machine(std::string const& name_or_file);
  // The machine that a cluster's file names as its node: a bundled one, or a file beside that file. Throws InputError
  // when there is neither, or when it is a cluster itself.
  Machine node_machine(std::string const& name_or_file, std::filesystem::path const& cluster_file);
  // A machine from a text in memory, with this catalogue's parts.
  Machine machine_from(SourceText const& source);

 private:
  [[nodiscard]] std::vector<std::string> names_in(std::string_view folder) const;
  [[nodiscard]] std::optional<std::filesystem::path> file_of(std::string_view folder, std::string const& name) const;
  void load_all();

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::optional<Part>> parts_;
  bool loaded_all_ = false;
};

}  // namespace lanewise
