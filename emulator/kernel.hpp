#pragma once
// The kernel that guests boot: the distribution's installed kernel, or one downloaded as a package into the cache.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::emulator {

struct Kernel {
  std::string version;            // "6.1.0-56-amd64"
  std::filesystem::path image;    // .../boot/vmlinuz-VERSION
  std::filesystem::path modules;  // .../lib/modules/VERSION
};

// A readable kernel with Soft-RoCE under a root ("/", or a folder with an unpacked package): the running one if it is
// there, else the newest.
std::optional<Kernel> kernel_under(std::filesystem::path const& root);

// The installed kernel, else the cached one, else the distribution's package, downloaded and unpacked into the cache;
// `progress` is called before that begins. Throws MissingError saying what to install when none can be had.
Kernel find_kernel(std::function<void(std::string const&)> const& progress);

// $XDG_CACHE_HOME/lanewise, or ~/.cache/lanewise.
std::filesystem::path cache_folder();

struct Module {
  std::string name;     // "rdma_rxe.ko"
  std::string content;  // unpacked
};
// The wanted modules and their dependencies in load order, without built-in ones. Modules of `if_there` are left out
// where the kernel does not have them. Throws MissingError naming a wanted module that the kernel does not have.
std::vector<Module> load_order(Kernel const& kernel, std::vector<std::string> const& wanted,
                               std::vector<std::string> const& if_there = {});

// The names of a module's dependencies, from its .modinfo section.
std::vector<std::string> dependencies_of(std::string_view module);

}  // namespace lanewise::emulator
