#include "explore/machine_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/reference/file_kind.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {
namespace fs = std::filesystem;
namespace {

constexpr int kMaxDepth = 2;
constexpr std::size_t kMaxFiles = 500;
constexpr std::size_t kMaxEntries = 5000;
constexpr std::size_t kMaxNameLength = 200;

bool is_hidden(fs::path const& part) { return part.string().starts_with('.'); }

}  // namespace

bool is_machine_file(fs::path const& file) {
  try {
    auto const kind = file_kind(SourceText::load(file));
    return kind == FileKind::Machine || kind == FileKind::Cluster;
  } catch (InputError const&) {
    return false;
  }
}

std::vector<std::string> machine_files(fs::path const& folder) {
  std::vector<std::string> found;
  std::error_code error;
  std::size_t entries = 0;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > kMaxEntries || found.size() == kMaxFiles) break;
    if (is_hidden(at->path().filename()) || at.depth() >= kMaxDepth) at.disable_recursion_pending();
    std::error_code ignored;
    if (is_hidden(at->path().filename()) || at->path().extension() != ".yaml" || !at->is_regular_file(ignored))
      continue;
    if (is_machine_file(at->path())) found.push_back(at->path().lexically_relative(folder).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path machine_file_in(fs::path const& folder, std::string const& name) {
  fs::path const path(name);
  bool const has_bad_character =
      std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\'; });
  if (name.empty() || name.size() > kMaxNameLength || has_bad_character || path.is_absolute() ||
      std::any_of(path.begin(), path.end(), is_hidden))
    throw InputError("a file is named by its path from the working folder, without hidden parts and without '..'");
  if (path.extension() != ".yaml") throw InputError("a machine's file ends with .yaml");
  return folder / path;
}

}  // namespace lanewise
