#pragma once
// How the program ends when something was thrown.
#include <exception>
#include <string>

#include "cli/exit_code.hpp"

namespace lanewise::cli {

struct Failure {
  ExitCode code;
  std::string message;
};

// What to say of an exception that reached main, and the exit code. What is no error of the input, of this machine or
// of a device is a defect of ours, and the message asks for a report; `command` is the command line that it names.
Failure failure_of(std::exception_ptr const& thrown, std::string const& command);

// The command line as one could type it again: arguments with blanks or quotes are quoted.
std::string command_line(int argc, char const* const* argv);

// Keeps some memory back. When memory ends, it is given up before bad_alloc is thrown: destructors on the way to main
// may allocate, as those of JSON do, and must not throw.
void reserve_memory_to_unwind();

// From now on an exception that nothing can catch ends the program as a defect, with the same request for a report.
void report_on_terminate(std::string command);

}  // namespace lanewise::cli
