// Stands for explore.cpp in a build without cpp-httplib.
#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {

void add_explore(CLI::App& app, Session&) {
  auto* command = app.add_subcommand("explore", "Try changes of a machine in a browser (not in this build)");
  auto const words = std::make_shared<std::vector<std::string>>();
  command->add_option("machine", *words);
  command->allow_extras();
  command->callback([words] {
    static_cast<void>(words);  // CLI11 writes there
    throw MissingError(
        "this program was built without cpp-httplib, which serves the page; install the package libcpp-httplib-dev and "
        "build again (`./setup.sh install page`)");
  });
}

}  // namespace lanewise::cli
