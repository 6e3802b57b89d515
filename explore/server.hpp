#pragma once
// Serves an exploration to one browser on this host.
#include <functional>
#include <memory>
#include <string>

#include "explore/exploration.hpp"

namespace lanewise {

// Listens on 127.0.0.1 only. A request needs the token of the address and this host's name, and may not come from
// another site's page; bodies are at most 1 MiB.
//
//   GET /?token=...            the page
//   POST /open?token=...       and /evaluate, /save: requests of Exploration as application/json. 400: {"error": text};
//                              503: a newer request to evaluate came meanwhile
class ExplorationServer {
 public:
  static constexpr std::size_t kMaxBody = std::size_t{1} << 20;

  // `page`: the HTML, made anew for each visit. `port` 0: any that is free. Throws MissingError where the port is not
  // free. The exploration must outlive it.
  ExplorationServer(Exploration& exploration, std::function<std::string()> page, int port);
  ~ExplorationServer();
  ExplorationServer(ExplorationServer const&) = delete;
  ExplorationServer& operator=(ExplorationServer const&) = delete;

  // "http://127.0.0.1:43211/?token=..."
  [[nodiscard]] std::string address() const;
  // Answers until the user stops the program.
  void run();

 private:
  struct Http;
  std::unique_ptr<Http> http_;
};

}  // namespace lanewise
