#pragma once

namespace lanewise::hw {

// Throws DeviceError with MPI's own text where `code` is not success.
void check_mpi(int code, char const* call);

}  // namespace lanewise::hw
