#include "explore/server.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

std::unique_ptr<ExplorationServer> make_exploration_server(ServedExploration const& served, int port) {
  constexpr char kLibrary[] = "liblanewise_http.so";
  auto* const library = own_library(kLibrary);
  if (library == nullptr) throw MissingError(fmt::format("the server of the page does not load: {}", dlerror()));
  auto* const make = own_entry_point<decltype(lanewise_make_exploration_server)>(library, kLibrary,
                                                                                 "lanewise_make_exploration_server");
  return std::unique_ptr<ExplorationServer>(make(&served, port));
}

}  // namespace lanewise
