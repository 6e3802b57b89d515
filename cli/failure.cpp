#include "cli/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "core/io/json.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

constexpr std::string_view kOutOfMemory =
    "out of memory: fewer or shorter transfers, fewer nodes of a cluster, one file at a time and --effort quick need "
    "less; or raise the limit (ulimit -v, the container's)";

Failure defect(std::string_view what, std::string const& command) {
  return {ExitCode::Defect,
          fmt::format("a defect of lanewise: {}\n"
                      "Please report it where you got lanewise, with the files that the command reads and:\n"
                      "  lanewise {}\n  {}",
                      what, LANEWISE_VERSION, command)};
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./=,:@%+").find(c) != std::string_view::npos;
}

std::string quoted(std::string_view argument) {
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) return std::string(argument);
  std::string text = "'";
  for (auto const c : argument) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

// Destructors of JSON hold a list of the children of the value that they destroy.
constexpr std::size_t kMemoryToUnwind = std::size_t{4} << 20;
std::atomic<char*> memory_to_unwind = nullptr;

void give_up_memory_to_unwind() {
  std::allocator<char>().deallocate(memory_to_unwind.exchange(nullptr), kMemoryToUnwind);
  std::set_new_handler(nullptr);
  throw std::bad_alloc();
}

std::string command_on_terminate;

[[noreturn]] void terminated() {
  auto const thrown = std::current_exception();
  auto const failure = thrown ? failure_of(thrown, command_on_terminate) : defect("it ended", command_on_terminate);
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", failure.message);
  std::_Exit(static_cast<int>(failure.code));
}

}  // namespace

Failure failure_of(std::exception_ptr const& thrown, std::string const& command) {
  try {
    std::rethrow_exception(thrown);
  } catch (MissingError const& error) {
    return {ExitCode::Missing, error.what()};
  } catch (DeviceError const& error) {
    return {ExitCode::Missing, error.what()};
  } catch (Interrupted const& error) {
    return {ExitCode::Interrupted, error.what()};
  } catch (Error const& error) {
    return {ExitCode::BadInput, error.what()};
  } catch (nlohmann::json::exception const& error) {
    return {ExitCode::BadInput, fmt::format("a JSON file is not as expected: {}", reason_of(error))};
  } catch (std::filesystem::filesystem_error const& error) {
    return {ExitCode::BadInput, error.what()};
  } catch (std::bad_alloc const&) {
    return {ExitCode::Missing, std::string(kOutOfMemory)};
  } catch (std::length_error const&) {  // of a container that would be larger than any memory
    return {ExitCode::Missing, std::string(kOutOfMemory)};
  } catch (std::exception const& error) {
    return defect(error.what(), command);
  } catch (...) {
    return defect("something was thrown that is no exception", command);
  }
}

std::string command_line(int argc, char const* const* argv) {
  std::string text = "lanewise";
  for (int i = 1; i < argc; ++i) text += " " + quoted(argv[i]);
  return text;
}

void reserve_memory_to_unwind() {
  memory_to_unwind = std::allocator<char>().allocate(kMemoryToUnwind);
  std::set_new_handler(give_up_memory_to_unwind);
}

void report_on_terminate(std::string command) {
  command_on_terminate = std::move(command);
  std::set_terminate(terminated);
}

}  // namespace lanewise::cli
