#include "hw/network/carrier.hpp"

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

template <class Make>
Make* entry_point(char const* library, char const* name, char const* where_from) {
  auto* const loaded = own_library(library);
  if (loaded == nullptr) throw MissingError(where_from);
  return own_entry_point<Make>(loaded, library, name);
}

}  // namespace

NetworkCarrier& Carriers::of(Carrier carrier) {
  if (carrier == Carrier::Verbs) {
    if (!verbs_)
      verbs_.reset(entry_point<decltype(lanewise_make_verbs_carrier)>(
          "liblanewise_verbs.so", "lanewise_make_verbs_carrier", kNoVerbs)(&group_, completion_));
    return *verbs_;
  }
  if (group_.size() == 1)
    throw MissingError(
        "the plan's messages go by MPI, and no launcher started this process: start one process for each node, as in "
        "`mpirun -n 2 lanewise ...`");
  if (!mpi_)
    mpi_.reset(entry_point<decltype(lanewise_make_mpi_carrier)>("liblanewise_mpi.so", "lanewise_make_mpi_carrier",
                                                                "MPI is not in this build")(&group_));
  return *mpi_;
}

}  // namespace lanewise::hw
