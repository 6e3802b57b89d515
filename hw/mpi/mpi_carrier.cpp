// Carries plans by MPI's messages.
#include <fmt/format.h>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cerrno>
#include <optional>
#include <thread>

#include "core/io/interrupt.hpp"
#include "hw/mpi/mpi_call.hpp"
#include "hw/mpi/mpi_transport.hpp"
#include "hw/network/carrier.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Whether MPI takes addresses of GPU memory, by its own word. MPICH's and others' say nothing: the user's word counts.
std::optional<bool> is_cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return std::nullopt;
#endif
}

class MpiCarrier : public NetworkCarrier {
 public:
  explicit MpiCarrier(Group& group) : group_(group) {}
  MpiCarrier(MpiCarrier const&) = delete;
  MpiCarrier& operator=(MpiCarrier const&) = delete;
  ~MpiCarrier() override { close(End::Clean); }

  std::vector<std::string> open(NetworkPlan const& plan, Layout const& layout) override {
    layout_ = &layout;
    if (has_abandoned_)
      throw DeviceError(
          group_.about(), EBUSY,
          "messages of an earlier run are still under way, and would arrive in this one's memory: start again");
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      auto const& step = plan.steps[i];
      bool const reaches_gpu = !layout.steps[i].links.empty() && ((step.from.gpu >= 0 && step.ring_from.empty()) ||
                                                                  (step.to.gpu >= 0 && step.ring_to.empty()));
      if (reaches_gpu && is_cuda_aware() == false)
        throw MissingError(
            fmt::format("step '{}' ({}): this MPI ({}) takes no addresses of GPU memory; plan with `--set "
                        "software.cuda_aware_mpi=off`, or use an MPI built with CUDA",
                        step.transfer, step.text, group_.about()));
    }
    return {fmt::format("process {} on {}", group_.rank(), group_.hosts()[static_cast<std::size_t>(group_.rank())])};
  }

  MemoryKeys keys(LinkId /*link*/, Memory const& memory, Bytes /*bytes*/) override {
    auto const key = memory.is_on_gpu() ? kGpuMemoryKey : kHostMemoryKey;
    return {key, key};
  }

  std::string addresses() override { return {}; }

  // Communicators are used again until a run fails: then messages of it may still be under way in them.
  MessageTransport& connect(std::vector<std::string> const& /*addresses*/) override {
    for (auto* communicator : {&headers_, &payloads_, &answers_})
      if (*communicator == MPI_COMM_NULL) *communicator = duplicate();
    transport_.emplace(*layout_, group_.rank(), group_.hosts(), headers_, payloads_, answers_);
    return *transport_;
  }

  void close(End end) noexcept override {
    if (transport_ && transport_->end() == MpiTransport::Messages::Abandoned) has_abandoned_ = true;
    transport_.reset();
    if (end == End::Failed) headers_ = payloads_ = answers_ = MPI_COMM_NULL;
  }

 private:
  // All processes call it together; one that is stopped meanwhile does not hold the others.
  [[nodiscard]] MPI_Comm duplicate() {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request), "MPI_Comm_idup");
    for (int done = 0; done == 0;) {
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      throw_if_interrupted();
      if (group_.failed_elsewhere()) throw DeviceError("MPI_Comm_idup", ECANCELED, "another process failed");
      if (done == 0) std::this_thread::yield();
    }
    check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return made;
  }

  Group& group_;
  Layout const* layout_ = nullptr;
  // Never freed but by MPI_Finalize: a process that has failed would not come to the end of that.
  MPI_Comm headers_ = MPI_COMM_NULL, payloads_ = MPI_COMM_NULL, answers_ = MPI_COMM_NULL;
  std::optional<MpiTransport> transport_;
  bool has_abandoned_ = false;  // messages of a run that failed
};

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::NetworkCarrier* lanewise_make_mpi_carrier(lanewise::hw::Group* group) {
  return new lanewise::hw::MpiCarrier(*group);
}
