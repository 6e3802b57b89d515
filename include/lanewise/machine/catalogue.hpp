#pragma once
// Finds parts, machines and clusters by name, bundled ones and the user's own. Each is a YAML file.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/machine/part.hpp"

namespace lanewise {

// Searches folders that hold parts/, machines/ and clusters/; the first folder that has a name wins. Reads a part or a
// machine when it is first asked for by name, and keeps it.
class Catalogue {
 public:
  explicit Catalogue(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  // The part of this name, or nullptr. It lives as long as the catalogue. Throws InputError when its file is wrong.
  Part const* part(std::string const& name);
  // The part that lists this PCI id ("10de:20b5") or this cpuid ("GenuineIntel/6/85"), or nullptr. The first call reads
  // the whole catalogue. Throws InputError when a file is wrong.
  Part const* part_by_pci_id(std::string_view id);
  Part const* part_by_cpuid(std::string_view id);
  [[nodiscard]] std::vector<std::string> const& part_names() const { return names_in("parts"); }
  [[nodiscard]] std::vector<std::string> const& machine_names() const { return names_in("machines"); }
  [[nodiscard]] std::vector<std::string> const& cluster_names() const { return names_in("clusters"); }

  // The file of the machine or cluster that a folder has under this name.
  [[nodiscard]] std::optional<std::filesystem::path> file_named(std::string const& name) const;
  // A machine or a cluster, by name or by file. Throws InputError when there is neither, or its file is wrong.
  Machine machine(std::string const& name_or_file);
  // The machine that a cluster file names as a node: by name, or a file in the folder of the cluster file. Throws
  // InputError when there is neither, or when it is a cluster.
  Machine node_machine(std::string const& name_or_file, std::filesystem::path const& cluster_file);
  // Reads a machine or a cluster from a text, with the parts of this catalogue. Throws InputError.
  Machine machine_from(SourceText const& source);

  // Makes a machine or cluster file known by the name in it, before those of the folders. Throws InputError when it is
  // wrong, or when an added file already has that name.
  void add(SourceText const& source);
  // The added file that has this name.
  [[nodiscard]] std::optional<std::filesystem::path> added_file(std::string const& name) const;

 private:
  [[nodiscard]] std::vector<std::string> const& names_in(std::string_view folder) const;
  [[nodiscard]] std::optional<std::filesystem::path> file_of(std::string_view folder, std::string const& name) const;
  void load_all();
  Machine const* machine_named(std::string const& name);  // nullptr: none of machines/ is called so

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::optional<Part>> parts_;
  mutable std::map<std::string, std::vector<std::string>, std::less<>> names_;  // of each folder, once listed
  std::map<std::string, Machine> machines_;
  std::map<std::string, Machine> added_clusters_;
  std::map<std::string, std::filesystem::path> added_files_;  // by the names in them
  std::map<std::string, std::filesystem::path> wrong_files_;  // those that could not be added
  bool loaded_all_ = false;
  std::map<std::string, std::string, std::less<>> by_pci_id_, by_cpuid_;  // names of parts, once all are loaded
};

}  // namespace lanewise
