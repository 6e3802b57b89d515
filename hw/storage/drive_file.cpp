#include "hw/storage/drive_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/io/interrupt.hpp"
#include "hw/memory/bound_pages.hpp"
#include "hw/memory/pattern.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::hw {
namespace {

// What files and drives ask for that say nothing: the largest block in common use.
constexpr std::int64_t kUsualAlignment = 4096;
// What is filled and checked at a time.
constexpr std::int64_t kBlockBytes = std::int64_t{8} << 20;

std::string gigabytes(std::int64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

// What direct access needs: of files from Linux 6.1 on.
std::int64_t alignment_of(int descriptor, bool is_device) {
  if (is_device) {
    int logical = 0;
    if (ioctl(descriptor, BLKSSZGET, &logical) == 0 && logical > 0) return std::max<std::int64_t>(logical, 512);
  }
#ifdef STATX_DIOALIGN
  struct statx found {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &found) == 0 && (found.stx_mask & STATX_DIOALIGN) != 0 &&
      found.stx_dio_offset_align > 0)
    return std::max<std::int64_t>(found.stx_dio_offset_align, found.stx_dio_mem_align);
#endif
  return kUsualAlignment;
}

std::int64_t size_of(int descriptor, bool is_device, struct stat const& status) {
  std::uint64_t bytes = 0;
  if (is_device && ioctl(descriptor, BLKGETSIZE64, &bytes) == 0) return static_cast<std::int64_t>(bytes);
  return status.st_size;
}

[[noreturn]] void refuse_direct_access(std::string const& path, int code) {
  throw MissingError(
      fmt::format("{}: {}: its file system has no direct access (O_DIRECT), which a drive is measured "
                  "by; name a folder on the drive itself",
                  path, std::strerror(code)));
}

[[noreturn]] void fail(DriveFile const& file, std::string_view call, int code) {
  throw DeviceError(fmt::format("{} of {}", call, file.path()), code, std::strerror(code));
}

void write_all(DriveFile const& file, void const* data, std::int64_t offset, std::int64_t bytes) {
  for (std::int64_t done = 0; done < bytes;) {
    auto const wrote = pwrite(file.descriptor(), static_cast<std::byte const*>(data) + done,
                              static_cast<std::size_t>(bytes - done), offset + done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail(file, "pwrite", wrote < 0 ? errno : ENOSPC);
    done += wrote;
  }
}

void read_all(DriveFile const& file, void* data, std::int64_t offset, std::int64_t bytes) {
  for (std::int64_t done = 0; done < bytes;) {
    auto const got = pread(file.descriptor(), static_cast<std::byte*>(data) + done,
                           static_cast<std::size_t>(bytes - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(file, "pread", got < 0 ? errno : ENODATA);
    done += got;
  }
}

// Calls each(offset in the range, bytes) block by block.
template <class EachBlock>
void for_each_block(Bytes bytes, EachBlock const& each) {
  for (std::int64_t at = 0; at < bytes.value(); at += kBlockBytes) {
    throw_if_interrupted();
    each(at, std::min(kBlockBytes, bytes.value() - at));
  }
}

}  // namespace

DriveFile::DriveFile(DrivePath const& named, Bytes bytes) : drive_(named.drive), path_(named.path) {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0)
    throw InputError(fmt::format("--drive {}={}: {}", drive_, path_, std::strerror(errno)));
  try {
    if (S_ISDIR(status.st_mode))
      make_in(named.path, bytes);
    else if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode))
      open_existing(bytes);
    else  // opening a pipe waits, and opening a device may do something
      throw InputError(fmt::format("--drive {}={}: it is no folder, file or block device", drive_, path_));
  } catch (...) {
    remove_name();
    throw;
  }
}

DriveFile::~DriveFile() { remove_name(); }

void DriveFile::remove_name() {
  if (std::exchange(has_name_, false)) unlink(path_.c_str());
}

void DriveFile::make_in(std::string const& folder, Bytes bytes) {
  path_ = folder + "/lanewise-XXXXXX";
  descriptor_ = Descriptor(mkostemp(path_.data(), O_DIRECT | O_CLOEXEC));
  if (descriptor() < 0) {
    auto const code = errno;
    path_ = folder;
    if (code == EINVAL) refuse_direct_access(folder, code);
    throw MissingError(fmt::format("no file can be made in {}: {}", folder, std::strerror(code)));
  }
  is_ours_ = true;
  has_name_ = true;
  alignment_ = alignment_of(descriptor(), false);
  reserve(Bytes(whole_blocks(bytes.value())));
}

// Space is taken before the run: a drive that fills up in the middle of it would be an error then.
void DriveFile::reserve(Bytes bytes) {
  struct statvfs space {};
  if (fstatvfs(descriptor(), &space) == 0) {
    auto const free = static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize);
    if (free < bytes.value())
      throw MissingError(
          fmt::format("{}: no space for {}: {} are free", path_, gigabytes(bytes.value()), gigabytes(free)));
  }
  if (fallocate(descriptor(), 0, 0, bytes.value()) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT)
    throw MissingError(fmt::format("{}: no space for {}: {}", path_, gigabytes(bytes.value()), std::strerror(errno)));
  if (ftruncate(descriptor(), bytes.value()) != 0)
    fail(*this, "ftruncate", errno);  // a file system that cannot reserve
}

void DriveFile::open_existing(Bytes bytes) {
  descriptor_ = Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (descriptor() < 0) {
    auto const code = errno;
    if (code == EINVAL) refuse_direct_access(path_, code);
    throw MissingError(fmt::format("{} cannot be read: {}", path_, std::strerror(code)));
  }
  struct stat status {};
  if (fstat(descriptor(), &status) != 0) fail(*this, "fstat", errno);
  bool const is_device = S_ISBLK(status.st_mode);
  if (!is_device && !S_ISREG(status.st_mode))
    throw InputError(fmt::format("--drive {}={}: it is no folder, file or block device", drive_, path_));
  alignment_ = alignment_of(descriptor(), is_device);
  auto const size = size_of(descriptor(), is_device, status);
  if (size < bytes.value())
    throw PlanError(fmt::format("--drive {}={}: it has {}, and the plan reads {}", drive_, path_,
                                exact_text(Bytes(size)), exact_text(bytes)));
}

void DriveRange::fill(std::uint64_t seed) const {
  if (!file_->is_ours()) return;
  BoundPages const block(Bytes(std::min(kBlockBytes, file_->whole_blocks(bytes_.value()))), std::nullopt);
  auto* const words = static_cast<std::uint64_t*>(block.data());
  for_each_block(bytes_, [&](std::int64_t at, std::int64_t count) {
    auto const first = static_cast<std::uint64_t>(at) / sizeof *words;
    for (std::uint64_t i = 0; i * sizeof *words < static_cast<std::uint64_t>(count); ++i)
      words[i] = pattern_word(seed, first + i);
    write_all(*file_, words, offset_ + at, file_->whole_blocks(count));
  });
}

void DriveRange::clear() const {
  if (!file_->is_ours()) return;
  BoundPages const zeros(Bytes(std::min(kBlockBytes, file_->whole_blocks(bytes_.value()))), std::nullopt);
  for_each_block(bytes_, [&](std::int64_t at, std::int64_t count) {
    write_all(*file_, zeros.data(), offset_ + at, file_->whole_blocks(count));
  });
}

std::optional<Mismatch> DriveRange::mismatch(std::uint64_t seed) const {
  BoundPages const block(Bytes(std::min(kBlockBytes, file_->whole_blocks(bytes_.value()))), std::nullopt);
  auto const* const got = static_cast<std::uint8_t const*>(block.data());
  std::optional<Mismatch> found;
  for_each_block(bytes_, [&](std::int64_t at, std::int64_t count) {
    if (found) return;
    read_all(*file_, block.data(), offset_ + at, file_->whole_blocks(count));
    for (std::int64_t i = 0; i < count && !found; ++i) {
      auto const offset = static_cast<std::uint64_t>(at + i);
      if (got[i] != pattern_byte(seed, offset)) found = Mismatch{offset, pattern_byte(seed, offset), got[i]};
    }
  });
  return found;
}

std::optional<Mismatch> DriveRange::mismatch(std::byte const* memory, std::int64_t at, std::int64_t count) const {
  Descriptor const cached(open(file_->path().c_str(), O_RDONLY | O_CLOEXEC));
  if (cached.get() < 0) fail(*file_, "open", errno);
  // What the page cache has of a block device may be older than what a file system has written since.
  posix_fadvise(cached.get(), 0, 0, POSIX_FADV_DONTNEED);
  std::vector<std::byte> expected(static_cast<std::size_t>(std::min(count, kBlockBytes)));
  for (std::int64_t done = 0; done < count;) {
    auto const size = std::min(kBlockBytes, count - done);
    auto const read = pread(cached.get(), expected.data(), static_cast<std::size_t>(size), offset_ + at + done);
    if (read <= 0) fail(*file_, "pread", read < 0 ? errno : ENODATA);
    for (std::int64_t i = 0; i < read; ++i)
      if (memory[done + i] != expected[static_cast<std::size_t>(i)])
        return Mismatch{static_cast<std::uint64_t>(at + done + i),
                        static_cast<std::uint8_t>(expected[static_cast<std::size_t>(i)]),
                        static_cast<std::uint8_t>(memory[done + i])};
    done += read;
  }
  return std::nullopt;
}

}  // namespace lanewise::hw
