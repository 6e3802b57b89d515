#include "core/io/file_fence.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace fs = std::filesystem;
namespace {

std::optional<std::vector<fs::path>> fence;  // set while no other thread runs

// Without symbolic links and "..", as far as the path is there.
fs::path resolved(fs::path const& path) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error)) && !fs::exists(path, error)) return {};  // it leads nowhere yet
  auto whole = fs::weakly_canonical(path, error);
  return error ? fs::path() : whole;
}

bool is_within(fs::path const& file, fs::path const& folder) {
  auto const [rest, _] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end();
}

}  // namespace

FileFence::FileFence(std::vector<fs::path> const& folders) {
  if (fence) throw std::logic_error("there is a fence already");
  auto& inside = fence.emplace();
  for (auto const& folder : folders)
    if (auto whole = resolved(folder); !whole.empty()) inside.push_back(std::move(whole));
}

FileFence::~FileFence() { fence.reset(); }

void check_fence(fs::path const& file) {
  if (!fence) return;
  auto const whole = resolved(file);
  if (whole.empty() ||
      std::none_of(fence->begin(), fence->end(), [&](fs::path const& folder) { return is_within(whole, folder); }))
    refuse_at({file.string(), 0, 0}, "is outside the folders that may be read and written");
}

}  // namespace lanewise
