#pragma once
// A driver's library, loaded at run time, so that the program starts where the driver is missing.
#include <dlfcn.h>

#include <string>
#include <utility>

namespace lanewise::hw {

class Library {
 public:
  // The library is never unloaded, because drivers leave threads and exit handlers behind.
  explicit Library(char const* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
    if (handle_ == nullptr) reason_ = std::string(name) + " is not here";
  }
  Library(Library const&) = delete;
  Library& operator=(Library const&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  [[nodiscard]] std::string const& reason() const { return reason_; }
  // The function of this name, or nullptr in an older library.
  template <class Signature>
  [[nodiscard]] Signature* function(char const* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Signature*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
  std::string reason_;
};

}  // namespace lanewise::hw
