#include "core/io/work_progress.hpp"

#include <utility>

namespace lanewise {
namespace {

thread_local ProgressScope::Listener const* listening = nullptr;

}  // namespace

ProgressScope::ProgressScope(Listener listener) : listener_(std::move(listener)), outer_(listening) {
  listening = &listener_;
}

ProgressScope::~ProgressScope() { listening = outer_; }

void report_progress(WorkProgress const& now) {
  if (listening != nullptr) (*listening)(now);
}

}  // namespace lanewise
