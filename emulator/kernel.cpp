#include "emulator/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "emulator/kernel_image.hpp"
#include "lanewise/io/error.hpp"
#include "process/file_content.hpp"
#include "process/process.hpp"
#include "process/shell_word.hpp"

namespace lanewise::emulator {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string running_version() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "";
}

// "kernel/fs/9p/9p.ko.zst" as "9p"; '-' and '_' mean the same in a module's name.
std::string module_name(fs::path const& file) {
  auto name = file.filename().string();
  name = name.substr(0, name.find(".ko"));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::map<std::string, fs::path> module_files(fs::path const& folder) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder / "kernel", error); !error && at != fs::end(at);
       at.increment(error))
    if (at->path().filename().string().find(".ko") != std::string::npos)
      files.emplace(module_name(at->path()), at->path());
  return files;
}

std::set<std::string> built_in(fs::path const& folder) {
  std::set<std::string> names;
  std::ifstream in(folder / "modules.builtin");
  for (std::string line; std::getline(in, line);) names.insert(module_name(line));
  return names;
}

std::string unpacked(fs::path const& file) {
  auto const extension = file.extension();
  if (extension == ".ko") return content_of(file);
  std::string const program = extension == ".zst" ? "zstd" : extension == ".xz" ? "xz" : "gzip";
  if (!find_program(program))
    throw MissingError(
        fmt::format("{} is compressed: install the package {}", file.string(), program == "xz" ? "xz-utils" : program));
  auto outcome = run_program({program, "-dc", file.string()}, 60s);
  if (outcome.code != 0) throw MissingError(fmt::format("{} cannot be unpacked by {}", file.string(), program));
  return std::move(outcome.output);
}

constexpr char kAdvice[] =
    "the emulator needs a Linux kernel with Soft-RoCE (rdma_rxe): install the package linux-image-amd64 (Debian) or "
    "linux-image-generic (Ubuntu)";

// This distribution's kernel packages, without others that they depend on.
std::vector<std::string> kernel_packages() {
  for (auto const* package : {"linux-image-amd64", "linux-image-generic"}) {
    auto const outcome = run_program({"apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests",
                                      "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", package},
                                     60s);
    if (outcome.code != 0) continue;
    std::set<std::string> found;
    std::istringstream lines(outcome.output);
    for (std::string line; std::getline(lines, line);) {
      // A package begins its line; the lines with its dependencies are indented.
      for (auto const* prefix : {"linux-image-", "linux-modules-extra-", "linux-modules-"}) {
        auto const version = std::strlen(prefix);
        if (line.starts_with(prefix) && line.size() > version &&
            std::isdigit(static_cast<unsigned char>(line[version])) != 0)
          found.insert(line);
      }
    }
    if (!found.empty()) return {found.begin(), found.end()};
  }
  return {};
}

// The end of a program's output.
std::string tail(std::string const& output) {
  constexpr std::size_t kMaxShown = 400;
  return output.size() > kMaxShown ? "..." + output.substr(output.size() - kMaxShown) : output;
}

void fetch_packages(std::vector<std::string> const& packages, fs::path const& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw MissingError(
        fmt::format("no kernel is installed, and a fetched one cannot be kept in {}: {}; set XDG_CACHE_HOME to a "
                    "folder that you may "
                    "write to, or install the package linux-image-amd64 (Debian) or linux-image-generic (Ubuntu)",
                    folder.parent_path().string(), error.message()));
  // apt-get downloads into the folder it runs in.
  auto const download =
      run_program({"/bin/sh", "-c",
                   fmt::format("cd {} && apt-get download {}", shell_word(folder.string()), fmt::join(packages, " "))},
                  600s);
  if (download.code != 0)
    throw MissingError(fmt::format("{}; downloading it failed:\n{}", kAdvice, tail(download.output)));
  for (auto const& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".deb") continue;
    auto const unpack = run_program({"dpkg-deb", "-x", entry.path().string(), folder.string()}, 300s);
    if (unpack.code != 0)
      throw MissingError(fmt::format("{} cannot be unpacked: {}", entry.path().string(), tail(unpack.output)));
    fs::remove(entry.path());
  }
}

// Removes unfinished downloads of processes that were killed.
void remove_unfinished(fs::path const& folder) {
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(folder.parent_path(), error)) {
    auto const name = entry.path().filename().string();
    auto const begin = folder.filename().string() + ".";
    if (name.starts_with(begin) && !fs::exists("/proc/" + name.substr(begin.size()), error))
      fs::remove_all(entry.path());
  }
}

Kernel fetch_kernel(fs::path const& folder, std::function<void(std::string const&)> const& progress) {
  if (!find_program("apt-get") || !find_program("dpkg-deb")) throw MissingError(kAdvice);
  auto const packages = kernel_packages();
  if (packages.empty()) throw MissingError(fmt::format("{}; apt-cache knows neither: run apt-get update", kAdvice));
  remove_unfinished(folder);
  progress(fmt::format("fetching {} into {}, once", fmt::join(packages, ", "), folder.string()));
  auto const unfinished = fs::path(fmt::format("{}.{}", folder.string(), getpid()));
  try {
    fetch_packages(packages, unfinished);
    std::error_code taken;
    fs::rename(unfinished, folder, taken);  // fails when another process was faster
    fs::remove_all(unfinished);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(unfinished, ignored);
    throw;
  }
  auto kernel = kernel_under(folder);
  if (!kernel) throw MissingError(fmt::format("{}; there is none in {}", kAdvice, fmt::join(packages, ", ")));
  return *kernel;
}

}  // namespace

std::optional<Kernel> kernel_under(fs::path const& root) {
  std::vector<Kernel> found;
  for (auto const* folder : {"lib/modules", "usr/lib/modules"}) {
    std::error_code error;
    for (auto const& entry : fs::directory_iterator(root / folder, error)) {
      Kernel kernel{entry.path().filename(), root / "boot" / ("vmlinuz-" + entry.path().filename().string()),
                    entry.path(), false};
      if (access(kernel.image.c_str(), R_OK) == 0 && module_files(kernel.modules).contains("rdma_rxe"))
        found.push_back(std::move(kernel));
    }
    if (!found.empty()) break;
  }
  if (found.empty()) return std::nullopt;
  auto const running = running_version();
  return *std::max_element(found.begin(), found.end(), [&](Kernel const& a, Kernel const& b) {
    if ((a.version == running) != (b.version == running)) return b.version == running;
    return strverscmp(a.version.c_str(), b.version.c_str()) < 0;
  });
}

Kernel kernel_from(fs::path const& image, std::optional<fs::path> const& modules) {
  std::error_code error;
  if (!fs::is_regular_file(image, error)) throw InputError(fmt::format("--kernel {}: no such file", image.string()));
  std::string header(std::size_t{64} << 10, '\0');  // offsets in it have 16 bits
  std::ifstream in(image, std::ios::binary);
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  header.resize(static_cast<std::size_t>(in.gcount()));
  auto const version = version_of_image(header);
  if (version.empty())
    throw InputError(fmt::format("--kernel {}: no image of a Linux kernel for x86 (bzImage, vmlinuz)", image.string()));
  if (modules && !fs::is_directory(*modules, error))
    throw InputError(fmt::format("--modules {}: no such folder", modules->string()));
  Kernel kernel{version, fs::absolute(image), modules.value_or(fs::path()), true};
  if (modules) return kernel;
  auto const beside = kernel.image.parent_path().parent_path();
  for (auto const& root : {beside, fs::path("/")})
    for (auto const* folder : {"lib/modules", "usr/lib/modules"})
      if (kernel.modules.empty() && fs::is_directory(root / folder / version, error))
        kernel.modules = root / folder / version;
  return kernel;
}

Kernel find_kernel(std::function<void(std::string const&)> const& progress) {
  if (auto installed = kernel_under("/")) return *installed;
  auto const folder = cache_folder() / "kernel";
  if (auto cached = kernel_under(folder)) return *cached;
  return fetch_kernel(folder, progress);
}

fs::path cache_folder() {
  auto const* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "lanewise";
  auto const* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "lanewise";
  throw MissingError("there is no folder for what is fetched: set HOME or XDG_CACHE_HOME");
}

std::vector<std::string> dependencies_of(std::string_view module) {
  constexpr std::string_view kField("\0depends=", 9);
  auto const at = module.find(kField);
  if (at == std::string_view::npos) return {};
  auto const from = at + kField.size();
  std::string const list(module.substr(from, module.find('\0', from) - from));
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    std::replace(name.begin(), name.end(), '-', '_');
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

std::vector<Module> load_order(Kernel const& kernel, std::vector<std::string> const& wanted,
                               std::vector<std::string> const& if_there) {
  auto const files = module_files(kernel.modules);
  auto const inside = built_in(kernel.modules);
  std::vector<Module> order;
  std::set<std::string> seen;
  // Adds a module after its dependencies.
  std::function<void(std::string const&)> const add = [&](std::string const& name) {
    if (inside.contains(name) || !seen.insert(name).second) return;
    auto const file = files.find(name);
    if (file == files.end())
      throw MissingError(fmt::format("the kernel {} has no module {}; {}", kernel.version, name, kAdvice));
    auto content = unpacked(file->second);
    for (auto const& dependency : dependencies_of(content)) add(dependency);
    order.push_back({name + ".ko", std::move(content)});
  };
  for (auto const& name : if_there)
    if (files.contains(name)) add(name);
  for (auto const& name : wanted)
    if (!kernel.is_given || files.contains(name)) add(name);
  return order;
}

std::vector<std::string> missing_modules(Kernel const& kernel, std::vector<std::string> const& wanted) {
  auto const files = module_files(kernel.modules);
  auto const inside = built_in(kernel.modules);
  std::vector<std::string> missing;
  for (auto const& name : wanted)
    if (!files.contains(name) && !inside.contains(name)) missing.push_back(name);
  return missing;
}

std::vector<std::string> const& needed_modules() {
  static std::vector<std::string> const names{"virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay"};
  return names;
}

std::vector<std::string> const& device_modules() {
  static std::vector<std::string> const names{"virtio_net", "nvme", "rdma_rxe", "ib_uverbs", "rdma_ucm"};
  return names;
}

}  // namespace lanewise::emulator
