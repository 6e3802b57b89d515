#include "hw/mpi/mpi_call.hpp"

#include <mpi.h>

#include <array>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {

void check_mpi(int code, char const* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw DeviceError(call, code, text.data());
}

}  // namespace lanewise::hw
