#pragma once
// The kernel that guests boot: the distribution's own, as installed, or fetched from its package into the cache.
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

// A kernel under a root ("/" or what a package was unpacked into) that can be read and has Soft-RoCE; the running one
// first, else the newest.
std::optional<Kernel> kernel_under(std::filesystem::path const& root);

// The installed kernel, else the cached one, else the distribution's package, downloaded and unpacked into the cache;
// `progress` is told before that begins. Throws MissingError saying what to install when there is no way to get one.
Kernel find_kernel(std::function<void(std::string const&)> const& progress);

// $XDG_CACHE_HOME/lanewise, or ~/.cache/lanewise.
std::filesystem::path cache_folder();

struct Module {
  std::string name;     // "rdma_rxe.ko"
  std::string content;  // unpacked
};
// The wanted modules with all that they depend on, in the order to load them. What is built in is left out, and of
// `if_there` what the kernel does not have. Throws MissingError naming a wanted one that it does not have.
std::vector<Module> load_order(Kernel const& kernel, std::vector<std::string> const& wanted,
                               std::vector<std::string> const& if_there = {});

// Names of the modules that a module says it depends on, from its .modinfo section.
std::vector<std::string> dependencies_of(std::string_view module);

}  // namespace lanewise::emulator
