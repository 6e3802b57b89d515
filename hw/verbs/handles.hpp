#pragma once
// Owners of libibverbs' handles.
#include <infiniband/verbs.h>

#include "core/io/handle.hpp"

namespace lanewise::hw {

struct ContextTraits {
  using type = ibv_context*;
  static type null() { return nullptr; }
  static void destroy(type context) noexcept { ibv_close_device(context); }
};
using Context = Handle<ContextTraits>;

struct ProtectionDomainTraits {
  using type = ibv_pd*;
  static type null() { return nullptr; }
  static void destroy(type domain) noexcept { ibv_dealloc_pd(domain); }
};
using ProtectionDomain = Handle<ProtectionDomainTraits>;

struct CompletionChannelTraits {
  using type = ibv_comp_channel*;
  static type null() { return nullptr; }
  static void destroy(type channel) noexcept { ibv_destroy_comp_channel(channel); }
};
using CompletionChannel = Handle<CompletionChannelTraits>;

struct CompletionQueueTraits {
  using type = ibv_cq*;
  static type null() { return nullptr; }
  static void destroy(type queue) noexcept { ibv_destroy_cq(queue); }
};
using CompletionQueue = Handle<CompletionQueueTraits>;

struct QueuePairTraits {
  using type = ibv_qp*;
  static type null() { return nullptr; }
  static void destroy(type pair) noexcept { ibv_destroy_qp(pair); }
};
using QueuePairHandle = Handle<QueuePairTraits>;

struct MemoryRegionTraits {
  using type = ibv_mr*;
  static type null() { return nullptr; }
  static void destroy(type region) noexcept { ibv_dereg_mr(region); }
};
using MemoryRegion = Handle<MemoryRegionTraits>;

}  // namespace lanewise::hw
