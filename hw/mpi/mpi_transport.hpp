#pragma once
// Carries the links of a plan by MPI's messages.
//
// Each request begins with a header to the process at the other end, which says what comes and where it goes. Few bytes
// are in the header's message; more follow in a message of their own, which the receiver takes straight to its place.
// A read is a header too: the other process sends what it asks for. So a process serves the others until all have
// ended. Headers of one process arrive in order, and what a queue of a link brings is reported in order, as verbs do.
#include <mpi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/network/layout.hpp"
#include "hw/network/transport.hpp"

namespace lanewise::hw {

// Keys of memory: what requests say of it.
inline constexpr std::uint32_t kHostMemoryKey = 1;
inline constexpr std::uint32_t kGpuMemoryKey = 2;

class MpiTransport : public MessageTransport {
 public:
  // `headers`, `payloads` and `answers` are communicators of the same processes, used by nothing else. All must outlive
  // this. Throws DeviceError.
  MpiTransport(Layout const& layout, int rank, std::vector<std::string> const& hosts, MPI_Comm headers,
               MPI_Comm payloads, MPI_Comm answers);
  MpiTransport(MpiTransport const&) = delete;
  MpiTransport& operator=(MpiTransport const&) = delete;
  ~MpiTransport() override = default;

  [[nodiscard]] int queues(LinkId link) const override;
  [[nodiscard]] QueueDepth depth(LinkId link) const override;
  void post(LinkId link, int queue, WorkRequest const& request) override;
  void post_receive(LinkId link, int queue, std::byte* local, std::uint32_t key, std::uint32_t bytes) override;
  void poll(std::vector<WorkCompletion>& done) override;
  void wait_briefly() override;
  bool ended() override;
  std::vector<std::pair<LinkId, std::string>> lost_links() override { return {}; }
  void abort(LinkId link) override;
  [[nodiscard]] std::string text(LinkId link, int queue) const override;
  // Takes back what is under way, and gives the rest a moment to end. Abandoned: something has not, and may still write
  // to memory. Nothing else may be called then.
  enum class Messages : std::uint8_t { Ended, Abandoned };
  Messages end() noexcept;

 private:
  enum class Kind : std::uint32_t { Write, Send, Read, Acknowledgement };
  struct Header {
    Kind kind = Kind::Write;
    std::uint32_t link = 0, queue = 0;
    std::uint32_t bytes = 0;
    std::uint32_t tag = 0;  // of the message that follows, or of the answer
    std::uint32_t immediate = 0;
    std::uint32_t has_immediate = 0;
    std::uint32_t is_acknowledged = 0;  // the sender waits to hear that it has arrived
    std::uint32_t is_inline = 0;        // the bytes are behind the header
    std::uint32_t spare = 0;
    std::uint64_t address = 0;  // at the receiver
    std::uint64_t number = 0;   // of the request
  };
  // A message that the other process has announced, in the order in which its queue brings them.
  struct Arrival {
    Header header;
    MPI_Request request = MPI_REQUEST_NULL;
    bool has_arrived = false;
  };
  // A request that this process has posted and that is not reported yet. A write is, when the other end says so.
  struct Posted {
    std::uint64_t number = 0;
    bool signalled = false;
    bool is_read = false;
    bool is_done = false;
    MPI_Request request = MPI_REQUEST_NULL;  // of a read's answer
    std::uint32_t bytes = 0;
  };
  struct Receive {
    std::byte* local = nullptr;
    std::uint32_t bytes = 0;
  };
  struct Queue {
    std::deque<Posted> posted;
    std::deque<Arrival> arriving;
    std::deque<Receive> receives;
  };
  struct Outgoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::byte> bytes;  // of a header, until it is sent
  };

  // What MPI reads and writes by itself.
  struct Buffers {
    std::vector<std::vector<std::byte>> slots;  // where headers arrive
    std::deque<Outgoing> outgoing;
  };

  [[nodiscard]] int other_end(LinkId link) const;
  Queue& queue_of(LinkId link, int queue) { return queues_[{link, queue}]; }
  void send_header(int rank, Header const& header, std::byte const* bytes);
  std::uint32_t next_tag();
  [[nodiscard]] bool is_idle() const;
  void listen(std::size_t slot);
  void take_headers();
  void on_header(int rank, Header const& header, std::byte const* bytes);
  void on_write(int rank, Header const& header, std::byte const* bytes);
  void finish_outgoing();
  bool report(LinkId link, int number, Queue& queue, std::vector<WorkCompletion>& done);

  Layout const& layout_;
  int rank_;
  std::vector<std::string> const& hosts_;
  MPI_Comm headers_, payloads_, answers_;
  bool shares_cores_ = false;  // as many processes as cores are on this host
  std::uint32_t tag_limit_ = 0, tag_ = 0;
  std::map<std::pair<LinkId, int>, Queue> queues_;
  std::unique_ptr<Buffers> buffers_ = std::make_unique<Buffers>();
  std::vector<MPI_Request> slot_requests_;
  std::size_t next_slot_ = 0;          // the one that the next header arrives in
  std::vector<MPI_Request> given_up_;  // of links that were
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool in_barrier_ = false;
};

}  // namespace lanewise::hw
