#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace lanewise::launch {

// Throws MissingError naming the package when mpirun is not in PATH.
void require_mpirun();

// The command line that starts `program` in `processes` processes, with further `options` of mpirun. Exit code 1 of a
// process (an expectation failed) becomes 0, because mpirun ends all processes as soon as one fails.
std::vector<std::string> mpirun_command(std::size_t processes, std::vector<std::string> const& options,
                                        std::vector<std::string> const& program);

}  // namespace lanewise::launch
