#pragma once
// What stands for a drive in a run: a file or a block device, read and written past the page cache (O_DIRECT).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hw/memory/mismatch.hpp"
#include "hw/options/drive_paths.hpp"
#include "hw/storage/descriptor.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

// The seed of what memory holds before a user's file is read into it: the file may well be all zeros, as cleared memory
// is.
inline constexpr std::uint64_t kNotOfAFile = 0x6e6f74206f662061ULL;

class DriveFile {
 public:
  // Opens what the user named, with room for `bytes`. In a folder a new file is made, which may be written and is
  // removed at the end. An existing file or block device is opened for reading alone. Throws InputError where it is
  // something else, PlanError where it is shorter than `bytes`, MissingError where there is no room or no direct
  // access.
  DriveFile(DrivePath const& named, Bytes bytes);
  DriveFile(DriveFile const&) = delete;
  DriveFile& operator=(DriveFile const&) = delete;
  ~DriveFile();

  [[nodiscard]] std::string const& drive() const { return drive_; }
  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // It was made here, so it may be written, and holds what fill() wrote. The user's are never written.
  [[nodiscard]] bool is_ours() const { return is_ours_; }
  // What offsets, lengths and addresses of direct access are multiples of.
  [[nodiscard]] std::int64_t alignment() const { return alignment_; }
  // `bytes` rounded up to that.
  [[nodiscard]] std::int64_t whole_blocks(std::int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  // Removes the name of a file that was made here; it lasts until it is closed. cuFile opens files once more by name.
  void remove_name();

 private:
  void make_in(std::string const& folder, Bytes bytes);
  void open_existing(Bytes bytes);
  void reserve(Bytes bytes);

  std::string drive_, path_;
  Descriptor descriptor_;
  bool is_ours_ = false;
  bool has_name_ = false;  // and is ours
  std::int64_t alignment_ = 4096;
};

// A part of a drive's file that one step reads or writes. The file outlives it.
class DriveRange {
 public:
  DriveRange(DriveFile const& file, std::int64_t offset, Bytes bytes) : file_(&file), offset_(offset), bytes_(bytes) {}

  [[nodiscard]] DriveFile const& file() const { return *file_; }
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

  // These return when the work is done. Writes the pattern of a seed, or zeros; a user's file keeps what it holds.
  void fill(std::uint64_t seed) const;
  void clear() const;
  // The first byte that differs from the pattern. Reads the drive, not the page cache.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const;
  // The first byte of `memory`, which holds bytes() from `at` on, that differs from the file's, read through the page
  // cache.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::byte const* memory, std::int64_t at, std::int64_t count) const;

 private:
  DriveFile const* file_;
  std::int64_t offset_;
  Bytes bytes_;
};

}  // namespace lanewise::hw
