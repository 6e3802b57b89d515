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
  std::filesystem::path modules;  // .../lib/modules/VERSION; empty: everything is built in
  bool is_given = false;          // by the user: modules that it lacks may be built in, and only few are needed
};

// A readable kernel with Soft-RoCE under a root ("/", or a folder with an unpacked package): the running one if it is
// there, else the newest.
std::optional<Kernel> kernel_under(std::filesystem::path const& root);

// The installed kernel, else the cached one, else the distribution's package, downloaded and unpacked into the cache;
// `progress` is called before that begins. Throws MissingError saying what to install when none can be had.
Kernel find_kernel(std::function<void(std::string const&)> const& progress);

// A kernel of the user's: an image (bzImage), with its modules in this folder, or in lib/modules/VERSION beside its own
// folder or of this system. Throws InputError when there is no such image or folder.
Kernel kernel_from(std::filesystem::path const& image, std::optional<std::filesystem::path> const& modules);

// $XDG_CACHE_HOME/lanewise, or ~/.cache/lanewise.
std::filesystem::path cache_folder();

struct Module {
  std::string name;     // "rdma_rxe.ko"
  std::string content;  // unpacked
};
// The wanted modules and their dependencies in load order, without built-in ones. Modules of `if_there` are left out
// where the kernel does not have them. Throws MissingError naming a wanted module that the kernel does not have.
// With a kernel of the user's, any module that it does not have is left out.
std::vector<Module> load_order(Kernel const& kernel, std::vector<std::string> const& wanted,
                               std::vector<std::string> const& if_there = {});

// Modules of these that a kernel has neither as a file nor, as far as it says so, built in.
std::vector<std::string> missing_modules(Kernel const& kernel, std::vector<std::string> const& wanted);

// What guests need: without the first nothing runs in them; the others are drivers of NICs, drives and Soft-RoCE.
std::vector<std::string> const& needed_modules();
std::vector<std::string> const& device_modules();

// The names of a module's dependencies, from its .modinfo section.
std::vector<std::string> dependencies_of(std::string_view module);

}  // namespace lanewise::emulator
