#pragma once
// Exceptions, for errors that the caller could neither prevent nor use as a value. Only the program's main catches them
// and turns them into an exit code.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A position in a file. Lines and columns are 1-based, as in editors; line 0 stands for the whole file.
struct SourcePos {
  std::string file;
  int line = 0;
  int column = 0;
  friend auto operator<=>(SourcePos const&, SourcePos const&) = default;
};

// One thing that is wrong in a file: where, what, and the source line to show with a caret (empty: none is shown).
struct Diagnostic {
  SourcePos pos;
  std::string message;
  std::string source_line;
};

// The user's input is wrong. what() has for each diagnostic
// "file:12:18: error: unknown unit 'parsecs'\n<line>\n       ^".
class InputError : public Error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(std::string_view message) : Error(std::string(message)) {}
  [[nodiscard]] std::vector<Diagnostic> const& diagnostics() const { return diagnostics_; }
  // The first problem in its own words, without its place.
  [[nodiscard]] std::string first_message() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

// Throws an InputError of one message.
[[noreturn]] void refuse_at(SourcePos pos, std::string message);

// A well-formed request without an answer: no route, or an unknown figure.
class PlanError : public Error {
  using Error::Error;
};

// The request needs something that is not on this machine (a GPU, the simulator). The message says what provides it.
class MissingError : public Error {
  using Error::Error;
};

// A device or its driver failed while it was in use: out of memory, an error in the middle of a plan.
class DeviceError : public Error {
 public:
  // `call`: the API call as written, with its arguments; `code`: the error number; `what`: its text from the API.
  DeviceError(std::string_view call, int code, std::string_view what);
  // The same failure with `where` in front of its message.
  DeviceError(std::string_view where, DeviceError const& inner)
      : Error(std::string(where) + ": " + inner.what()), code_(inner.code_) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_ = 0;
};

// The user stopped the program (Ctrl-C). Unwinding releases everything.
class Interrupted : public Error {
  using Error::Error;
};

// Collects everything that is wrong with a file, so that one error reports all of it.
class Diagnostics {
 public:
  void add(SourcePos pos, std::string message, std::string_view source_line = {});
  [[nodiscard]] bool empty() const { return found_.empty(); }
  // Throws one InputError with every diagnostic in file order; does nothing when there is none.
  void throw_if_any();

 private:
  static constexpr std::size_t kMaxShown = 50;  // more are counted, not shown
  std::vector<Diagnostic> found_;
  std::size_t unshown_ = 0;
};

}  // namespace lanewise
