#include "hw/cuda/moves/bar_copy.hpp"

#include <dlfcn.h>

#include <memory>
#include <vector>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// gdrapi.h of gdrcopy 2: an opaque session, and a handle that is a struct of one word.
struct Session;
struct Mapping {
  unsigned long h;
};

class Gdrcopy {
 public:
  static Gdrcopy const& get() {
    static Gdrcopy const library;
    return library;
  }

  Session* (*open)() = nullptr;
  int (*close)(Session*) = nullptr;
  int (*pin)(Session*, unsigned long address, std::size_t size, std::uint64_t token, std::uint32_t space,
             Mapping*) = nullptr;
  int (*unpin)(Session*, Mapping) = nullptr;
  int (*map)(Session*, Mapping, void** address, std::size_t size) = nullptr;
  int (*unmap)(Session*, Mapping, void* address, std::size_t size) = nullptr;
  int (*copy_to)(Mapping, void* mapped, void const* host, std::size_t size) = nullptr;
  int (*copy_from)(Mapping, void* host, void const* mapped, std::size_t size) = nullptr;

 private:
  Gdrcopy() {
    auto* const library = dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      throw MissingError("bar_copy needs gdrcopy (libgdrapi.so.2 and the kernel module gdrdrv), which is not here");
    load(library, "gdr_open", open);
    load(library, "gdr_close", close);
    load(library, "gdr_pin_buffer", pin);
    load(library, "gdr_unpin_buffer", unpin);
    load(library, "gdr_map", map);
    load(library, "gdr_unmap", unmap);
    load(library, "gdr_copy_to_mapping", copy_to);
    load(library, "gdr_copy_from_mapping", copy_from);
  }

  template <class Function>
  static void load(void* library, char const* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) throw MissingError(std::string("this libgdrapi.so.2 has no ") + name);
  }
};

void check(int result, char const* call) {
  if (result != 0) throw DeviceError(call, result, "gdrcopy refused it");
}

// A device buffer as the CPU sees it.
class Window {
 public:
  explicit Window(DeviceBuffer const& buffer) : session_(api_.open()) {
    if (session_ == nullptr) throw MissingError("bar_copy needs gdrcopy's kernel module: 'modprobe gdrdrv'");
    // GPU memory is mapped in pages of 64 KiB, so neighbours of the buffer are mapped too. They are not touched.
    auto const address = reinterpret_cast<unsigned long>(buffer.data());
    auto const size = static_cast<std::size_t>(buffer.bytes().value());
    size_ = (address % kPage + size + kPage - 1) / kPage * kPage;
    try {
      check(api_.pin(session_, address / kPage * kPage, size_, 0, 0, &mapping_), "gdr_pin_buffer");
      pinned_ = true;
      check(api_.map(session_, mapping_, &mapped_, size_), "gdr_map");
    } catch (...) {
      release();
      throw;
    }
    data_ = static_cast<std::uint8_t*>(mapped_) + address % kPage;
  }
  Window(Window const&) = delete;
  Window& operator=(Window const&) = delete;
  ~Window() { release(); }

  void write(void const* host, std::size_t size) const {
    check(api_.copy_to(mapping_, data_, host, size), "gdr_copy_to_mapping");
  }
  void read(void* host, std::size_t size) const {
    check(api_.copy_from(mapping_, host, data_, size), "gdr_copy_from_mapping");
  }

 private:
  static constexpr std::size_t kPage = std::size_t{64} << 10;

  void release() noexcept {
    if (mapped_ != nullptr) api_.unmap(session_, mapping_, mapped_, size_);
    if (pinned_) api_.unpin(session_, mapping_);
    api_.close(session_);
  }

  Gdrcopy const& api_ = Gdrcopy::get();
  Session* session_;
  std::size_t size_ = 0;
  Mapping mapping_{};
  bool pinned_ = false;
  void* mapped_ = nullptr;
  std::uint8_t* data_ = nullptr;
};

}  // namespace

std::function<void()> bar_copy(DeviceBuffer const& source, DeviceBuffer const& target) {
  auto const size = static_cast<std::size_t>(source.bytes().value());
  if (source.pages() != Pages::Device) {
    auto const window = std::make_shared<Window const>(target);
    return [window, &source, size] { window->write(source.data(), size); };
  }
  auto const from = std::make_shared<Window const>(source);
  if (target.pages() != Pages::Device) return [from, &target, size] { from->read(target.data(), size); };
  auto const to = std::make_shared<Window const>(target);
  auto const between = std::make_shared<std::vector<std::uint8_t>>(size);
  return [from, to, between, size] {
    from->read(between->data(), size);
    to->write(between->data(), size);
  };
}

}  // namespace lanewise::hw
