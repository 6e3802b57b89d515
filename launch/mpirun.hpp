#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lanewise::launch {

// Throws MissingError naming the package when mpirun is not in PATH.
void require_mpirun();

// What MPI does in a run: it carries what the processes agree on, or the data too.
enum class MpiUse : std::uint8_t { Agreement, Data };

// The command line that starts `program` in `processes` processes, with further `options` of mpirun. Exit code 1 of a
// process (an expectation failed) becomes 0, because mpirun ends all processes as soon as one fails.
std::vector<std::string> mpirun_command(std::size_t processes, MpiUse use, std::vector<std::string> const& options,
                                        std::vector<std::string> const& program);

}  // namespace lanewise::launch
