#pragma once
// Errors are thrown where the caller could not prevent them and cannot use them as a value. Only the program's main
// catches them and turns them into an exit code.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A place in a file. Lines and columns are 1-based, as editors count; line 0 speaks of the whole file.
struct SourcePos {
  std::string file;
  int line = 0;
  int column = 0;
  friend auto operator<=>(SourcePos const&, SourcePos const&) = default;
};

// One thing wrong in a file: where, what, and the line itself for the caret (empty when there is none to show).
struct Diagnostic {
  SourcePos pos;
  std::string message;
  std::string source_line;
};

// The user's file is wrong. what() is, for each diagnostic,
// "file:12:18: error: unknown unit 'parsecs'\n<line>\n       ^".
class InputError : public Error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(std::string_view message) : Error(std::string(message)) {}
  [[nodiscard]] std::vector<Diagnostic> const& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// Throws an InputError of one message.
[[noreturn]] void refuse_at(SourcePos pos, std::string message);

// A well-formed request with no answer: no route, a figure that nobody knows.
class PlanError : public Error {
  using Error::Error;
};

// Something the request needs is not on this machine (no GPU, no simulator); says what would provide it.
class MissingError : public Error {
  using Error::Error;
};

// A device or its driver refused or failed while it was used: out of memory, an error in the middle of a plan.
class DeviceError : public Error {
 public:
  // `call`: the API's name and arguments as written; `code`: its number; `what`: what the API says of it.
  DeviceError(std::string_view call, int code, std::string_view what);
  // The same failure, with where it happened in front.
  DeviceError(std::string_view where, DeviceError const& inner)
      : Error(std::string(where) + ": " + inner.what()), code_(inner.code_) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_ = 0;
};

// The user stopped the program (Ctrl-C); everything is given back on the way out.
class Interrupted : public Error {
  using Error::Error;
};

// Collects everything that is wrong with a file, so that it is reported together.
class Diagnostics {
 public:
  void add(SourcePos pos, std::string message, std::string_view source_line = {});
  [[nodiscard]] bool empty() const { return found_.empty(); }
  // Throws one InputError with every diagnostic in file order; does nothing when there is none.
  void throw_if_any();

 private:
  static constexpr std::size_t kMaxShown = 50;  // further ones are counted, not shown
  std::vector<Diagnostic> found_;
  std::size_t unshown_ = 0;
};

}  // namespace lanewise
