// Stands for NVIDIA's cuFile in tests: memory "on the GPU" is the host's. The variable FAKE_CUFILE says what it does:
// direct, compatibility (only with its compatibility mode), refuses (no file is good enough), old (driver and library
// do not fit), io_error.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

namespace {

constexpr int kNotInitialised = 5001;
constexpr int kUnsupported = 5008;
constexpr int kVersion = 5004;
constexpr int kRegistered = 5028;
constexpr int kFlags = 5019;

struct Error {
  int code = 0;
  int cuda_code = 0;
};
struct Description {
  int type = 0;
  union {
    int descriptor;
    void* handle = nullptr;
  };
  void const* operations = nullptr;
};

bool behaves_as(std::string_view wanted) {
  auto const* said = std::getenv("FAKE_CUFILE");
  return said != nullptr && said == wanted;
}
bool allows_compatibility() {
  auto const* said = std::getenv("CUFILE_ALLOW_COMPAT_MODE");
  return said == nullptr || std::string_view(said) == "true";
}

std::string log_path;  // as the environment had it when the driver was opened

void log(char const* text) {
  if (auto* const file = std::fopen(log_path.c_str(), "a")) {
    std::fprintf(file, " 28-11-2026 01:55:00:921 [pid=471 tid=471] %s\n", text);
    std::fclose(file);
  }
}

bool is_open = false;
std::set<int> registered;  // descriptors

int descriptor_of(void const* handle) { return static_cast<int>(reinterpret_cast<std::intptr_t>(handle) - 1); }

}  // namespace

extern "C" {

Error cuFileDriverOpen() {
  if (auto const* path = std::getenv("CUFILE_LOGFILE_PATH")) log_path = path;
  if (behaves_as("old")) {
    log("ERROR  cufio-drv:1 version mismatch");
    return {kVersion, 0};
  }
  if (!behaves_as("direct") && !behaves_as("refuses") && !allows_compatibility()) return {kNotInitialised, 0};
  is_open = true;
  return {};
}
Error cuFileDriverClose_v2() {
  is_open = false;
  return {};
}
Error cuFileHandleRegister(void** handle, Description* description) {
  if (!is_open) return {kNotInitialised, 0};
  constexpr int kKnownFlags = O_ACCMODE | O_DIRECT | O_LARGEFILE | 0100000;  // the kernel sets the last, on 64 bits
  if ((fcntl(description->descriptor, F_GETFL) & ~kKnownFlags) != 0) return {kFlags, 0};
  if (behaves_as("refuses")) {
    log("NOTICE  cufio:285 this is no error");
    log("ERROR  cufio-fs:777 error getting volume attributes");
    log("ERROR  cufio:303 what follows from it");
    return {kUnsupported, 0};
  }
  if (!registered.insert(description->descriptor).second) return {kRegistered, 0};
  *handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(description->descriptor) + 1);
  return {};
}
void cuFileHandleDeregister(void* handle) { registered.erase(descriptor_of(handle)); }
Error cuFileBufRegister(void const* /*memory*/, std::size_t /*bytes*/, int /*flags*/) { return {}; }
Error cuFileBufDeregister(void const* /*memory*/) { return {}; }

ssize_t cuFileRead(void* handle, void* memory, std::size_t bytes, off_t in_file, off_t in_memory) {
  if (behaves_as("io_error")) {
    errno = EIO;
    return -1;
  }
  // Less than asked for, as system calls may give.
  auto const count = bytes > 8192 ? bytes / 2 / 4096 * 4096 : (bytes + 4095) / 4096 * 4096;
  auto const got = pread(descriptor_of(handle), static_cast<char*>(memory) + in_memory, count, in_file);
  return got > static_cast<ssize_t>(bytes) ? static_cast<ssize_t>(bytes) : got;
}
ssize_t cuFileWrite(void* handle, void const* memory, std::size_t bytes, off_t in_file, off_t in_memory) {
  if (behaves_as("io_error")) return -kUnsupported;
  auto const count = (bytes + 4095) / 4096 * 4096;
  auto const put = pwrite(descriptor_of(handle), static_cast<char const*>(memory) + in_memory, count, in_file);
  return put > static_cast<ssize_t>(bytes) ? static_cast<ssize_t>(bytes) : put;
}

}  // extern "C"
