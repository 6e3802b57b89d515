#pragma once
// Child processes that never outlive this one, and descriptors that close themselves.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanewise {

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

// Two ends of a stream.
std::pair<Descriptor, Descriptor> connected_pair();
// A file that is only in memory.
Descriptor memory_file(std::string_view content);

// A child in a process group of its own that the kernel kills when this process ends, however it ends. Killed and
// waited for with the object.
class Child {
 public:
  // Inherits the descriptors under the given numbers, standard input is empty, standard output and error as given.
  Child(std::vector<std::string> const& words, std::vector<std::pair<int, int>> const& inherited, int output,
        int errors);
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;
  ~Child();
  void kill();
  // Its wait status, once it has ended by itself.
  std::optional<int> wait();

 private:
  pid_t pid_ = -1;
};

struct Outcome {
  int code = -1;        // exit code; 128 and more: ended by a signal
  bool in_time = true;  // false: it was killed
  std::string output;   // of standard output and error
};
// Runs a program to its end, or kills it when the time is up. Throws MissingError when there is no such program.
Outcome run_program(std::vector<std::string> const& words, std::chrono::milliseconds limit,
                    std::vector<std::pair<int, int>> const& inherited = {});

// The file of a program in PATH (and the folders of system programs), or nullopt.
std::optional<std::filesystem::path> find_program(std::string const& name);

}  // namespace lanewise
