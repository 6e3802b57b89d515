#include "emulator/kernel_image.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "process/file_content.hpp"
#include "process/process.hpp"
#include "process/shell_word.hpp"

namespace lanewise::emulator {
namespace {

namespace fs = std::filesystem;
using namespace std::literals;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;  // little-endian, as this program is
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Unpacks into a file. True when the result is a whole kernel that can be started.
bool unpack(std::string_view payload, fs::path const& to) {
  auto const program = unpacker_of(payload);
  if (program.empty() || !find_program(program)) return false;
  auto const packed = memory_file(payload);
  // The kernel's build appends the unpacked size, which makes unpackers report an error after they have finished. So
  // the result is checked instead of the exit code.
  auto const quiet = program == "xz" ? "xz -dc --single-stream" : program + " -dc";
  run_program({"/bin/sh", "-c", fmt::format("{} <&3 >{}", quiet, shell_word(to.string()))}, 60s, {{packed.get(), 3}});
  auto const kernel = content_of(to);
  return kernel.size() == number_at(payload, payload.size() - sizeof(std::uint32_t)) && can_be_started(kernel);
}

}  // namespace

std::optional<std::string_view> payload_of(std::string_view image) {
  // Documentation/arch/x86/boot.rst: offsets of the setup header's fields.
  constexpr std::size_t kSetupSectors = 0x1f1;
  constexpr std::size_t kMagic = 0x202;
  constexpr std::size_t kPayloadOffset = 0x248;
  constexpr std::size_t kPayloadLength = 0x24c;
  constexpr std::size_t kEnd = 0x250;
  constexpr std::size_t kSector = 512;
  constexpr std::size_t kDefaultSectors = 4;
  if (image.size() < kEnd || image.substr(kMagic, 4) != "HdrS") return std::nullopt;
  auto const said = static_cast<unsigned char>(image[kSetupSectors]);
  auto const protected_mode = ((said == 0 ? kDefaultSectors : said) + 1) * kSector;
  auto const begin = protected_mode + number_at(image, kPayloadOffset);
  std::size_t const length = number_at(image, kPayloadLength);
  if (length < kSector || begin > image.size() || length > image.size() - begin) return std::nullopt;
  return image.substr(begin, length);
}

std::string version_of_image(std::string_view image) {
  // Documentation/arch/x86/boot.rst: kernel_version, an offset behind the boot sector of a text that ends with a zero.
  constexpr std::size_t kMagic = 0x202;
  constexpr std::size_t kVersion = 0x20e;
  constexpr std::size_t kBootSector = 0x200;
  if (image.size() < kVersion + 2 || image.substr(kMagic, 4) != "HdrS") return "";
  std::uint16_t offset = 0;
  std::memcpy(&offset, image.data() + kVersion, sizeof offset);
  auto const at = kBootSector + offset;
  if (offset == 0 || at >= image.size()) return "";
  constexpr std::size_t kMaxVersion = 64;
  auto const text = image.substr(at, kMaxVersion);
  auto const version = text.substr(0, text.find_first_of(" \0"sv));
  constexpr auto kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_~"sv;
  bool const is_version = !version.empty() && version.front() >= '0' && version.front() <= '9' &&
                          version.size() < kMaxVersion && version.find_first_not_of(kAllowed) == std::string_view::npos;
  return is_version ? std::string(version) : "";
}

std::string unpacker_of(std::string_view payload) {
  if (payload.starts_with("\xfd"
                          "7zXZ\0"sv))
    return "xz";
  if (payload.starts_with("\x28\xb5\x2f\xfd"sv)) return "zstd";
  if (payload.starts_with("\x1f\x8b"sv)) return "gzip";
  return "";
}

bool can_be_started(std::string_view kernel) {
  // A note of type 18 (XEN_ELFNOTE_PHYS32_ENTRY) by the name of Xen.
  return kernel.starts_with(
             "\x7f"
             "ELF"sv) &&
         kernel.find("\x12\0\0\0Xen\0"sv) != std::string_view::npos;
}

fs::path quickest_image(Kernel const& kernel) {
  // Kernels that users build have the same version and size again and again.
  if (kernel.is_given) return kernel.image;
  // The size tells two builds of one version apart.
  auto const name = fmt::format("vmlinux-{}-{}", kernel.version, fs::file_size(kernel.image));
  auto const unpacked = cache_folder() / name;
  if (fs::exists(unpacked)) return unpacked;
  auto const image = content_of(kernel.image);
  auto const payload = payload_of(image);
  if (!payload) return kernel.image;
  std::error_code error;
  fs::create_directories(cache_folder(), error);
  if (error) return kernel.image;  // without a cache the kernel unpacks itself, at every boot
  auto const unfinished = fs::path(fmt::format("{}.{}", unpacked.string(), getpid()));
  bool const done = unpack(*payload, unfinished);
  if (done) fs::rename(unfinished, unpacked, error);
  bool const kept = done && !error;
  fs::remove(unfinished, error);
  return kept ? unpacked : kernel.image;
}

}  // namespace lanewise::emulator
