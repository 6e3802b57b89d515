#include "hw/storage/cufile.hpp"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "hw/discover/sources/library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {

// As cufile.h has them. It comes with the CUDA toolkit only where GPUDirect Storage is chosen.
struct CuFileError {
  int code = 0;
  int cuda_code = 0;
};
struct CuFileDescription {
  int type = 1;  // CU_FILE_HANDLE_TYPE_OPAQUE_FD
  // In C a union with a pointer: on little-endian machines its first bytes are the descriptor.
  std::intptr_t descriptor = 0;
  void const* operations = nullptr;  // of file systems in user space
};
using CuFileHandle = void*;

namespace {

// Sets a variable of the environment and puts back what it was.
class Variable {
 public:
  Variable(char const* name, std::string const& value) : name_(name) {
    if (auto const* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  char const* name_;
  std::optional<std::string> before_;
};

enum class CompatibilityMode : std::uint8_t { Refused, Allowed };

}  // namespace

// The functions, and whether the library's own driver is open.
class CuFileLibrary {
 public:
  CuFileLibrary() : log_(std::filesystem::temp_directory_path() / fmt::format("lanewise-cufile-{}.log", getpid())) {
    if (!library_.is_loaded() && !toolkits_.is_loaded())
      throw MissingError(
          "storage_direct needs cuFile (libcufile.so.0, package libcufile of the CUDA toolkit), which is "
          "not here");
    load("cuFileDriverOpen", driver_open);
    load("cuFileDriverClose_v2", driver_close);
    load("cuFileHandleRegister", register_handle);
    load("cuFileHandleDeregister", deregister_handle);
    load("cuFileBufRegister", register_buffer);
    load("cuFileBufDeregister", deregister_buffer);
    load("cuFileRead", read);
    load("cuFileWrite", write);
  }
  CuFileLibrary(CuFileLibrary const&) = delete;
  CuFileLibrary& operator=(CuFileLibrary const&) = delete;
  ~CuFileLibrary() {
    close();
    std::error_code ignored;
    std::filesystem::remove(log_, ignored);
  }

  // Returns 0, or cuFile's error number.
  int open(CompatibilityMode mode) {
    Variable const allowed("CUFILE_ALLOW_COMPAT_MODE", mode == CompatibilityMode::Allowed ? "true" : "false");
    Variable const logged("CUFILE_LOGFILE_PATH", log_.string());  // otherwise it writes into the working directory
    auto const result = driver_open();
    is_open_ = result.code == 0;
    return result.code;
  }
  void close() {
    if (std::exchange(is_open_, false)) driver_close();
  }

  // The handle of a file, which those who use it share: cuFile gives out one a descriptor. Throws MissingError saying
  // why cuFile refuses the file.
  std::shared_ptr<void> handle_of(DriveFile const& file) {
    auto& known = handles_[file.descriptor()];
    if (auto found = known.lock()) return found;
    auto const before = log_length();
    CuFileHandle handle = nullptr;
    if (auto const code = try_handle(file, handle); code != 0)
      throw MissingError(fmt::format("{}: cuFile refuses it (error {}{}); `mechanism: storage_staged` needs no cuFile",
                                     file.path(), code, first_error(before)));
    std::shared_ptr<void> made(handle, deregister_handle);
    known = made;
    return made;
  }
  int try_handle(DriveFile const& file, CuFileHandle& handle) const {
    CuFileDescription description;
    description.descriptor = file.descriptor();
    return register_handle(&handle, &description).code;
  }

  [[nodiscard]] std::streamoff log_length() const {
    std::error_code error;
    auto const length = std::filesystem::file_size(log_, error);
    return error ? 0 : static_cast<std::streamoff>(length);
  }
  // ": " and the first error in its log from `from` on, which the others follow from; empty: it has none.
  [[nodiscard]] std::string first_error(std::streamoff from) const {
    std::ifstream log(log_);
    log.seekg(from);
    for (std::string line; std::getline(log, line);)
      if (auto const at = line.find("ERROR"); at != std::string::npos) {
        auto const text = line.find_first_not_of(" \t", at + std::string_view("ERROR").size());
        if (text != std::string::npos) return ": " + line.substr(text);
      }
    return {};
  }

  CuFileError (*driver_open)() = nullptr;
  CuFileError (*driver_close)() = nullptr;
  CuFileError (*register_handle)(CuFileHandle*, CuFileDescription*) = nullptr;
  void (*deregister_handle)(CuFileHandle) = nullptr;
  CuFileError (*register_buffer)(void const*, std::size_t bytes, int flags) = nullptr;
  CuFileError (*deregister_buffer)(void const*) = nullptr;
  ssize_t (*read)(CuFileHandle, void* memory, std::size_t bytes, off_t in_file, off_t in_memory) = nullptr;
  ssize_t (*write)(CuFileHandle, void const* memory, std::size_t bytes, off_t in_file, off_t in_memory) = nullptr;

 private:
  template <class Signature>
  void load(char const* name, Signature*& function) {
    function = (library_.is_loaded() ? library_ : toolkits_).function<Signature>(name);
    if (function == nullptr) throw MissingError(fmt::format("this libcufile.so.0 has no {}: it is too old", name));
  }

  std::map<int, std::weak_ptr<void>> handles_;  // by descriptor
  Library library_{"libcufile.so.0"};
  Library toolkits_{"/usr/local/cuda/lib64/libcufile.so.0"};
  std::filesystem::path log_;
  bool is_open_ = false;
};

namespace {

// Threads that read or write chunk by chunk, each the next that none has taken: a call of cuFile returns when it is
// done, and one at a time leaves the drive idle in between.
class CuFileTransfer : public StorageTransfer {
 public:
  CuFileTransfer(CuFileLibrary& library, DriveRange const& range, IoDirection direction, void* memory,
                 std::function<void()> use_gpu)
      : library_(library),
        range_(range),
        direction_(direction),
        memory_(memory),
        use_gpu_(std::move(use_gpu)),
        threads_count_(static_cast<std::ptrdiff_t>(
            std::clamp((range.bytes().value() + kChunk - 1) / kChunk, std::int64_t{1}, kThreads))),
        handle_(library_.handle_of(range_.file())),
        log_before_(library_.log_length()),
        begun_(threads_count_),
        done_(threads_count_) {
    // Without registration cuFile copies through memory of its own on the GPU.
    is_registered_ = library_.register_buffer(memory_, static_cast<std::size_t>(range_.bytes().value()), 0).code == 0;
    try {
      for (std::ptrdiff_t i = 1; i < threads_count_; ++i) threads_.emplace_back([this] { serve(); });
    } catch (...) {  // those that wait for the others must end
      is_stopping_ = true;
      for (auto i = std::ssize(threads_); i < threads_count_; ++i) static_cast<void>(begun_.arrive());
      threads_.clear();
      release();
      throw;
    }
  }
  CuFileTransfer(CuFileTransfer const&) = delete;
  CuFileTransfer& operator=(CuFileTransfer const&) = delete;
  ~CuFileTransfer() override {
    is_stopping_ = true;
    begun_.arrive_and_wait();
    threads_.clear();
    release();
  }

  void run() override {
    use_gpu_();
    next_ = 0;
    begun_.arrive_and_wait();
    move_chunks();
    done_.arrive_and_wait();
    if (auto const caught = std::exchange(caught_, nullptr)) std::rethrow_exception(caught);
  }
  [[nodiscard]] std::string_view queue_name() const override { return "cuFile"; }

 private:
  // As gdsio is run for published figures: 4 workers with blocks of 8 MiB (gds-report.pages.dev/gdsio).
  static constexpr std::int64_t kChunk = std::int64_t{8} << 20;
  static constexpr std::int64_t kThreads = 4;

  void release() {
    if (is_registered_) library_.deregister_buffer(memory_);
  }

  void serve() {
    try {
      use_gpu_();
    } catch (...) {
      keep(std::current_exception());
    }
    for (;;) {
      begun_.arrive_and_wait();
      if (is_stopping_) return;
      move_chunks();
      done_.arrive_and_wait();
    }
  }

  void move_chunks() {
    try {
      for (;;) {
        auto const at = next_.fetch_add(kChunk);
        if (at >= range_.bytes().value()) return;
        move(at, std::min(kChunk, range_.bytes().value() - at));
      }
    } catch (...) {
      keep(std::current_exception());
    }
  }

  // For run() to throw; the first counts.
  void keep(std::exception_ptr const& caught) {
    std::lock_guard const lock(mutex_);
    if (!caught_) caught_ = caught;
  }

  void move(std::int64_t at, std::int64_t bytes) {
    for (std::int64_t done = 0; done < bytes;) {
      auto const count = static_cast<std::size_t>(bytes - done);
      auto const in_file = range_.offset() + at + done;
      auto const moved = direction_ == IoDirection::FromDrive
                             ? library_.read(handle_.get(), memory_, count, in_file, at + done)
                             : library_.write(handle_.get(), memory_, count, in_file, at + done);
      if (moved > 0) {
        done += moved;
        continue;
      }
      IoRequest const request{
          direction_, nullptr, in_file, static_cast<std::int64_t>(count), static_cast<std::int64_t>(count), 0};
      // -1: an error of the system, in errno; below: cuFile's own number.
      if (moved < -1)
        throw DeviceError(fmt::format("cuFile on {}", range_.file().path()), static_cast<int>(-moved),
                          "cuFile's error number" + library_.first_error(log_before_));
      fail_io(range_.file(), request, moved == 0 ? 0 : -errno);
    }
  }

  CuFileLibrary& library_;
  DriveRange range_;
  IoDirection direction_;
  void* memory_;
  std::function<void()> use_gpu_;
  std::ptrdiff_t threads_count_;
  std::shared_ptr<void> handle_;
  std::streamoff log_before_ = 0;
  bool is_registered_ = false;
  bool is_stopping_ = false;
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr caught_;
  std::barrier<> begun_, done_;  // what run() changes is read between the two
  std::vector<std::jthread> threads_;
};

}  // namespace

CuFile::CuFile(std::vector<DriveFile const*> const& files) : library_(std::make_unique<CuFileLibrary>()) {
  direct_.assign(files.size(), false);
  if (library_->open(CompatibilityMode::Refused) == 0) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      void* handle = nullptr;
      direct_[i] = library_->try_handle(*files[i], handle) == 0;
      if (direct_[i]) library_->deregister_handle(handle);
    }
    library_->close();
  }
  auto const before = library_->log_length();
  if (auto const code = library_->open(CompatibilityMode::Allowed); code != 0)
    throw MissingError(fmt::format("cuFile does not start (error {}{})", code, library_->first_error(before)));
}

CuFile::~CuFile() = default;

std::unique_ptr<StorageTransfer> CuFile::transfer(DriveRange const& range, IoDirection direction, void* memory,
                                                  std::function<void()> const& use_gpu) const {
  return std::make_unique<CuFileTransfer>(*library_, range, direction, memory, use_gpu);
}

}  // namespace lanewise::hw
