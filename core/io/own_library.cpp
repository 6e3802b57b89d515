#include "core/io/own_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace fs = std::filesystem;
namespace {

struct BuildId {
  void const* within;  // an address in the library that is looked for
  std::string text;
};

// Notes are a header, a name and a content, each padded to four bytes (ELF specification).
std::string build_id_in(char const* notes, std::size_t size) {
  auto const padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    auto const content = at + sizeof header + padded(header.n_namesz);
    auto const next = content + padded(header.n_descsz);
    if (next > size) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes + content - 4, "GNU", 4) == 0) {
      std::string text;
      for (std::size_t i = 0; i < header.n_descsz; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned char>(notes[content + i]));
      return text;
    }
    at = next;
  }
  return {};
}

int find_build_id(dl_phdr_info* library, std::size_t /*size*/, void* data) {
  auto& wanted = *static_cast<BuildId*>(data);
  auto const address = reinterpret_cast<ElfW(Addr)>(wanted.within);
  bool is_wanted = false;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    auto const& part = library->dlpi_phdr[i];
    auto const begin = library->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) is_wanted = true;
  }
  if (!is_wanted) return 0;
  for (int i = 0; i < library->dlpi_phnum && wanted.text.empty(); ++i) {
    auto const& part = library->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    auto const distance = static_cast<std::ptrdiff_t>(library->dlpi_addr + part.p_vaddr - address);
    wanted.text = build_id_in(static_cast<char const*>(wanted.within) + distance, part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string own_build_id() {
  BuildId id{reinterpret_cast<void const*>(&own_library), {}};
  dl_iterate_phdr(find_build_id, &id);
  return id.text;
}

fs::path own_library_path(char const* path) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void const*>(&own_library), &self) == 0 || self.dli_fname == nullptr) return path;
  // Where /lib is a link to /usr/lib the loader names the former, and nothing is found beside that.
  auto const folder = fs::path(self.dli_fname).parent_path();
  std::error_code error;
  auto const real = fs::canonical(folder, error);
  return (error ? folder : real) / path;
}

fs::path own_library_file(char const* name) {
  auto const plain = own_library_path(name);
  std::error_code error;
  for (auto const& file : {fs::path(plain.string() + "." + LANEWISE_SOVERSION),
                           plain.parent_path() / LANEWISE_MODULE_FOLDER / plain.filename()})
    if (fs::exists(file, error)) return file;
  return plain;
}

void* own_library(char const* name) { return dlopen(own_library_file(name).c_str(), RTLD_NOW | RTLD_GLOBAL); }

void* own_entry_point(void* library, char const* file, char const* name) {
  auto* const found = dlsym(library, name);
  if (found == nullptr) throw MissingError(fmt::format("{} is of another version: it has no '{}'", file, name));
  return found;
}

}  // namespace lanewise
