#pragma once
// Machine and cluster files within a folder.
#include <filesystem>
#include <string>
#include <vector>

namespace lanewise {

// Whether the file can be read and says that it is a machine or a cluster, whatever else is wrong in it.
bool is_machine_file(std::filesystem::path const& file);

// Those in the folder and two levels below it, relative to it, sorted; hidden ones are left out, as is what comes after
// 500 files or 5,000 entries.
std::vector<std::string> machine_files(std::filesystem::path const& folder);

// The path of a file that a request names. Throws InputError where its name leaves the folder, has a hidden part, or
// does not end with .yaml. A symbolic link may still lead outside: FileFence refuses that when it is used.
std::filesystem::path machine_file_in(std::filesystem::path const& folder, std::string const& name);

}  // namespace lanewise
