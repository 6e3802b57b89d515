#pragma once
// Starts other programs: child processes that never outlive this one, and file descriptors that close themselves.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanewise {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  ~Descriptor() { reset(); }
  void reset();
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// The two ends of a stream socket. Throws Error when the system has no descriptors left.
std::pair<Descriptor, Descriptor> connected_pair();
// A file in memory that holds `content`, with its position at the start.
Descriptor memory_file(std::string_view content);

// A child process in its own process group. The destructor kills it and waits for it; when this process ends in any
// other way, the kernel kills it.
class Child {
 public:
  // Starts words[0] with the other words as arguments. `inherited`: pairs of a descriptor of this process and its
  // number in the child. Standard input is empty; `output` and `errors` become standard output and error.
  Child(std::vector<std::string> const& words, std::vector<std::pair<int, int>> const& inherited, int output,
        int errors);
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;
  ~Child();
  void kill();
  // Its wait status (as of waitpid(2)) once it has ended by itself, else nullopt. Never waits.
  std::optional<int> wait();
  // The same, waiting for at most `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_ = -1;
};

struct Outcome {
  int code = -1;        // exit code; 128 + N: ended by signal N; -1: it did not end in time
  bool in_time = true;  // false: it was killed
  std::string output;   // of standard output and error
};
// Runs a program to its end, or kills it after `limit`. `inherited` as of Child. Throws MissingError when there is no
// such program.
Outcome run_program(std::vector<std::string> const& words, std::chrono::milliseconds limit,
                    std::vector<std::pair<int, int>> const& inherited = {});

// The file of a program in PATH, or in /usr/sbin or /sbin; nullopt where there is none.
std::optional<std::filesystem::path> find_program(std::string const& name);

}  // namespace lanewise
