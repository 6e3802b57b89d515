#pragma once
// Serves an exploration to one browser on this host.
#include <functional>
#include <memory>
#include <string>

#include "explore/exploration.hpp"

namespace lanewise {

// What a browser gets, and what it may ask for.
struct ServedExploration {
  using Answer = std::function<Exploration::Json(Exploration::Json const&)>;

  std::function<std::string()> page;  // the HTML, made anew for each visit
  Answer open;                        // this and the next two: those of Exploration
  Answer evaluate;
  Answer save;
};

// Listens on 127.0.0.1 only. A request needs the token of the address and this host's name, and may not come from
// another site's page; bodies are at most 1 MiB.
//
//   GET /?token=...            the page
//   POST /open?token=...       and /evaluate, /save: requests of Exploration as application/json. 400: {"error": text};
//                              503: a newer request to evaluate came meanwhile
class ExplorationServer {
 public:
  static constexpr std::size_t kMaxBody = std::size_t{1} << 20;

  ExplorationServer() = default;
  virtual ~ExplorationServer() = default;
  ExplorationServer(ExplorationServer const&) = delete;
  ExplorationServer& operator=(ExplorationServer const&) = delete;

  // "http://127.0.0.1:43211/?token=..."
  [[nodiscard]] virtual std::string address() const = 0;
  // Answers until the user stops the program.
  virtual void run() = 0;
};

// `port` 0: any that is free. Throws MissingError where the port is not free, or the library with the server does not
// load.
std::unique_ptr<ExplorationServer> make_exploration_server(ServedExploration const& served, int port);

}  // namespace lanewise

// The entry point of liblanewise_http.so, which the function above loads: other commands start without an HTTP server
// and what that needs. The caller owns the result.
extern "C" lanewise::ExplorationServer* lanewise_make_exploration_server(lanewise::ServedExploration const* served,
                                                                         int port);
