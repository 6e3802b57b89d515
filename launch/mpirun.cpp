#include "launch/mpirun.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"
#include "process/process.hpp"

namespace lanewise::launch {

void require_mpirun() {
  if (!find_program("mpirun")) throw MissingError("nodes are started by mpirun; the package openmpi-bin provides it");
}

std::vector<std::string> mpirun_command(std::size_t processes, MpiUse use, std::vector<std::string> const& options,
                                        std::vector<std::string> const& program) {
  std::vector<std::string> words{"mpirun", "-n", fmt::format("{}", processes), "--bind-to", "none"};
  // Where verbs carry the data MPI uses TCP sockets: otherwise it would look for RDMA devices and take the ones under
  // test.
  if (use == MpiUse::Agreement) words.insert(words.end(), {"--mca", "pml", "ob1", "--mca", "btl", "self,tcp"});
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"sh", "-c", "\"$@\"; test $? -le 1", "sh"});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace lanewise::launch
