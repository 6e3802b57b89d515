#include "launch/mpirun.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"
#include "process/process.hpp"

namespace lanewise::launch {

void require_mpirun() {
  if (!find_program("mpirun")) throw MissingError("nodes are started by mpirun; the package openmpi-bin provides it");
}

std::vector<std::string> mpirun_command(std::size_t processes, std::vector<std::string> const& options,
                                        std::vector<std::string> const& program) {
  // MPI only carries what the processes agree on. It uses TCP sockets: otherwise it would look for RDMA devices and
  // take the ones under test.
  std::vector<std::string> words{
      "mpirun",    "-n",  fmt::format("{}", processes), "--mca", "pml", "ob1", "--mca", "btl", "self,tcp",
      "--bind-to", "none"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"sh", "-c", "\"$@\"; test $? -le 1", "sh"});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace lanewise::launch
