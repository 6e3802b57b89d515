#include "cli/graphviz.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/io/error.hpp"

namespace lanewise::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// An unnamed file. The child reads and writes files instead of pipes, so that neither process waits for the other.
File temporary_file() {
  File file(std::tmpfile());
  if (!file) throw Error(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  return file;
}

// Runs `dot -Tsvg` on files and returns its wait status.
int run_dot(std::FILE* input, std::FILE* output, std::FILE* messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO);
  std::array<std::string, 2> words{"dot", "-Tsvg"};
  std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
  pid_t child = 0;
  int const failure = posix_spawnp(&child, "dot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT)
    throw MissingError("drawing SVG needs the program 'dot', which is not installed; the package graphviz provides it");
  if (failure != 0)
    throw MissingError(fmt::format("cannot run the program 'dot' of the package graphviz: {}", std::strerror(failure)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Error(fmt::format("cannot wait for 'dot': {}", std::strerror(errno)));
  return status;
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 65536> buffer{};
  while (auto const count = std::fread(buffer.data(), 1, buffer.size(), file)) text.append(buffer.data(), count);
  return text;
}

}  // namespace

std::string svg_of(std::string const& graph) {
  auto const input = temporary_file();
  auto const output = temporary_file();
  if (std::fwrite(graph.data(), 1, graph.size(), input.get()) != graph.size() || std::fflush(input.get()) != 0)
    throw Error(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
  std::rewind(input.get());
  // Warnings about its own layout are of no use to the user; they are shown only when it fails.
  auto const messages = temporary_file();
  if (run_dot(input.get(), output.get(), messages.get()) != 0)
    throw Error(fmt::format("the program 'dot' could not draw the machine: {}", content(messages.get())));
  return content(output.get());
}

}  // namespace lanewise::cli
