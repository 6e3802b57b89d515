#include "hw/network/network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "core/io/interrupt.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// How often the other processes and the user are asked whether the run goes on. The clock is read for that only once in
// kIdleRoundsPerCheck rounds without progress, because reading it can cost more than a round (in a virtual machine, a
// hundred times as much).
constexpr Seconds kCheckInterval{10e-3};
constexpr int kIdleRoundsPerCheck = 64;

}  // namespace

NetworkRun::NetworkRun(NetworkPlan const& plan, Layout const& layout, std::vector<StepPart> parts,
                       MessageTransport& transport, Group& group, DeviceSteps* devices, Seconds stall_limit)
    : plan_(plan),
      layout_(layout),
      parts_(std::move(parts)),
      transport_(transport),
      group_(group),
      rank_(group.rank()),
      stall_limit_(stall_limit),
      queues_(layout, transport),
      devices_(devices),
      device_step_(plan.steps.size()),
      waits_outside_(plan.steps.size()),
      device_waiters_(plan.steps.size()) {
  if (plan.steps.size() > kMaxSteps) throw PlanError("the plan has more steps than an immediate can number");
  for (auto const& node : plan.node_plans)
    for (std::size_t i = 0; i < node.steps.size(); ++i)
      if (drives(node.steps[i])) {
        device_step_[node.steps[i]] = StepId(i);
        steps_of_devices_.push_back(node.steps[i]);
      }
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (auto const before : plan.steps[i].after) {
      if (!device_step_[i] || device_step_[before]) continue;
      ++waits_outside_[i];
      device_waiters_[before].push_back(i);
    }
}

void NetworkRun::prepare() {
  auto dag = dag_of_after(plan_.steps);
  require_acyclic(dag);
  runner_.emplace(std::move(dag));
  ready_.clear();
  rings_.clear();
  additions_.clear();
  left_outside_ = waits_outside_;
  has_ended_ = false;
  states_ = std::vector<StepState>(plan_.steps.size());
  unacknowledged_notifications_ = 0;
  incomplete_ = 0;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (!drives(i) && !receives(i)) continue;
    ++incomplete_;
    if (plan_.steps[i].staging != Staging::Chunks) continue;
    states_[i].ring.emplace(plan_.steps[i], parts_[i]);
    if (receives(i)) rings_.push_back(i);
  }
  queues_.post_receives();
  post_message_receives();
  if (devices_ != nullptr) devices_->prepare();
}

std::vector<StepSpan> NetworkRun::once(Seconds release) {
  release_ = release;
  completions_.clear();
  // What comes early is kept. Asking also keeps the way warm: the first step would else take some 10 us longer.
  while (monotonic_now() < release) transport_.poll(completions_);
  if (devices_ != nullptr) devices_->start();
  last_moved_ = last_checked_ = monotonic_now();
  runner_->begin([this](StepId id) { on_step_ready(id); });
  start_ready();
  while (!finished()) {
    bool moved = poll();
    moved |= poll_devices();
    moved |= finish_additions();
    moved |= advance_rings();
    start_ready();
    check_for_stall(moved);
    if (!moved && waits_for_network_alone()) transport_.wait_briefly();
  }
  has_ended_ = true;
  while (!transport_.ended()) {
    bool const moved = poll();
    check_for_stall(moved);
    if (!moved) transport_.wait_briefly();
  }
  std::vector<StepSpan> spans;
  for (auto const& state : states_) spans.push_back(state.span);
  return spans;
}

// Messages arrive in order, so each gets a receive at its own address.
void NetworkRun::post_message_receives() {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    auto const& step = plan_.steps[i];
    if (step.verb != Verb::Send || !receives(i) || queues_.has_failed(layout_.steps[i].links[0])) continue;
    auto const messages = messages_of(step);
    auto const& target = parts_[i].endpoints[0];
    for (std::int64_t m = 0; m < messages.count; ++m) {
      auto const offset = m * kMaxMessageBytes;
      transport_.post_receive(layout_.steps[i].links[0], static_cast<int>(m % messages.queues), target.local + offset,
                              target.local_key,
                              static_cast<std::uint32_t>(std::min(kMaxMessageBytes, step.bytes - offset)));
    }
  }
}

void NetworkRun::on_step_ready(StepId id) {
  auto const step = index(id);
  ready_.push_back(step);
  if (device_step_[step]) states_[step].span.start = monotonic_now() - release_;
}

// The end of a copy or of a GPU's step raises no interrupt of a NIC.
bool NetworkRun::waits_for_network_alone() const { return devices_ == nullptr && rings_.empty() && additions_.empty(); }

void NetworkRun::start_ready() {
  while (!ready_.empty()) {
    auto const step = ready_.front();
    ready_.pop_front();
    if (drives(step)) start(step);
  }
}

void NetworkRun::start(std::size_t step) {
  if (device_step_[step]) return;  // it has begun by itself
  states_[step].span.start = monotonic_now() - release_;
  if (plan_.steps[step].verb == Verb::Local) return copy_locally(step);
  if (plan_.steps[step].staging == Staging::Chunks) {
    if (!usable_link(step)) return send_again(step, "its link had failed");
    rings_.push_back(step);
    return;
  }
  send(step);
}

void NetworkRun::copy_locally(std::size_t step) {
  auto const& part = parts_[step];
  auto const bytes = static_cast<std::size_t>(plan_.steps[step].bytes);
  if (plan_.steps[step].reduces)
    add_elements(part.target.data(), part.source.data(), bytes);
  else
    std::memmove(part.target.data(), part.source.data(), bytes);
  complete(step);
}

void NetworkRun::begin_addition(std::size_t step) {
  auto const& part = parts_[step];
  states_[step].additions_before = part.target.copier->completed();
  part.target.copier->add(part.landing->data(), part.target.offset, static_cast<std::size_t>(plan_.steps[step].bytes));
  additions_.push_back(step);
}

bool NetworkRun::finish_additions() {
  auto const ended = std::stable_partition(additions_.begin(), additions_.end(), [this](std::size_t step) {
    return parts_[step].target.copier->completed() == states_[step].additions_before;
  });
  std::vector<std::size_t> const done(ended, additions_.end());
  additions_.erase(ended, additions_.end());
  for (auto const step : done) complete(step);
  return !done.empty();
}

bool NetworkRun::poll_devices() {
  if (devices_ == nullptr) return false;
  ended_.clear();
  devices_->poll(ended_);
  for (auto const id : ended_) complete(steps_of_devices_[index(id)]);
  return !ended_.empty();
}

// Lets the GPUs' steps go that waited for this one last, apart from steps of the GPUs.
void NetworkRun::release_devices(std::size_t ended) {
  for (auto const step : device_waiters_[ended])
    if (--left_outside_[step] == 0) devices_->release(*device_step_[step]);
}

std::optional<std::size_t> NetworkRun::usable_link(std::size_t step) const {
  auto const& links = layout_.steps[step].links;
  for (std::size_t k = 0; k < links.size(); ++k)
    if (queues_.is_usable(links[k])) return k;
  return std::nullopt;
}

void NetworkRun::send(std::size_t step) {
  auto const link = usable_link(step);
  if (!link) throw DeviceError(fmt::format("step '{}'", plan_.steps[step].transfer), ENETDOWN, "no link is left");
  states_[step].link = *link;
  if (*link == 0) return enqueue_messages(step, messages_of(plan_.steps[step]).queues, Notification::Arrived);
  enqueue_messages(step, 1, Notification::ArrivedWhole);
}

void NetworkRun::enqueue_messages(std::size_t number, int queues, Notification notification) {
  auto const& step = plan_.steps[number];
  auto const choice = states_[number].link;
  auto const& ends = parts_[number].endpoints[choice];
  auto const link = layout_.steps[number].links[choice];
  auto const all = queues_.count(link);
  auto const count = messages_of(step).count;
  // On a link for messages they begin with the first queue pair, as the receives do.
  auto const first = layout_.links[index(link)].for_messages ? 0 : next_queue_++;
  states_[number].unacknowledged_queues = queues;
  for (std::int64_t m = 0; m < count; ++m) {
    auto const offset = m * kMaxMessageBytes;
    PendingRequest pending;
    pending.step = number;
    pending.is_last = m + queues >= count;
    auto& request = pending.request;
    // A message that is sent again goes over another link, where the target posted no receive for it.
    request.verb = step.verb == Verb::Send && notification == Notification::ArrivedWhole ? Verb::Write : step.verb;
    request.local = ends.local + offset;
    request.local_key = ends.local_key;
    request.remote = ends.remote + static_cast<std::uint64_t>(offset);
    request.remote_key = ends.remote_key;
    request.bytes = static_cast<std::uint32_t>(std::min(kMaxMessageBytes, step.bytes - offset));
    request.signalled = pending.is_last;
    if (step.verb != Verb::Read && pending.is_last) pending.notification = notification;
    queues_.enqueue(link, (first + static_cast<int>(m % queues)) % all, pending);
  }
}

void NetworkRun::notify(std::size_t step, int listener) {
  for (std::size_t i = 0; i < layout_.links.size(); ++i) {
    auto const& link = layout_.links[i];
    bool const joins =
        (link.ranks[0] == rank_ && link.ranks[1] == listener) || (link.ranks[1] == rank_ && link.ranks[0] == listener);
    if (!joins || link.for_messages || !queues_.is_usable(LinkId(i))) continue;
    PendingRequest pending{step, Notification::Completed, false, listener, {}};
    pending.request.signalled = true;
    ++unacknowledged_notifications_;
    return queues_.enqueue(LinkId(i), 0, pending);
  }
  throw DeviceError(fmt::format("step '{}'", plan_.steps[step].transfer), ENETDOWN,
                    fmt::format("no link is left to tell process {} that it is done", listener));
}

bool NetworkRun::poll() {
  transport_.poll(completions_);
  for (auto const& completion : completions_) {
    auto const& [link, queue, arrival, number, immediate, problem] = completion;
    if (queues_.has_failed(link)) continue;
    if (!problem.empty())
      on_link_failure(link, fmt::format("{}: {}", transport_.text(link, queue), problem));
    else if (arrival)
      on_notification(completion);
    else
      queues_.acknowledge(completion, [this](PendingRequest const& request) { on_acknowledged(request); });
  }
  bool const moved = !completions_.empty();
  completions_.clear();
  return moved;
}

void NetworkRun::on_acknowledged(PendingRequest const& request) {
  auto& state = states_[request.step];
  if (request.notification == Notification::Completed) --unacknowledged_notifications_;
  if (request.notification == Notification::ChunkWritten) state.ring->write_acknowledged();
  if (!request.is_last || --state.unacknowledged_queues > 0) return;
  if (parts_[request.step].landing != nullptr) return begin_addition(request.step);
  complete(request.step);
}

void NetworkRun::on_notification(WorkCompletion const& completion) {
  auto const step = step_in(completion.immediate);
  auto const refuse = [&] {
    throw DeviceError(transport_.text(completion.link, completion.queue), EPROTO, "an unknown message");
  };
  if (step >= plan_.steps.size()) refuse();
  if (!layout_.links[index(completion.link)].for_messages)
    transport_.post_receive(completion.link, completion.queue, nullptr, 0, 0);
  auto& state = states_[step];
  auto const notification = notification_in(completion.immediate);
  bool const of_ring = notification == Notification::ChunkWritten || notification == Notification::ChunkTaken;
  if (of_ring && !state.ring) refuse();
  switch (notification) {
    case Notification::None: break;
    case Notification::Arrived:
      // All bytes of a step may be here for the second time.
      if (++state.arrived_queues == messages_of(plan_.steps[step]).queues && !state.completed) complete(step);
      break;
    case Notification::ArrivedWhole:
    case Notification::Completed:  // a link that failed may have brought either before
      if (!state.completed) complete(step);
      break;
    case Notification::ChunkWritten: state.ring->chunk_arrived(); break;
    case Notification::ChunkTaken: state.ring->chunk_taken(); break;
  }
}

void NetworkRun::complete(std::size_t step) {
  auto& state = states_[step];
  state.completed = true;
  if (drives(step) || receives(step)) --incomplete_;
  state.span.end = monotonic_now() - release_;
  if (drives(step))
    for (auto const listener : layout_.steps[step].listeners) notify(step, listener);
  release_devices(step);
  runner_->finished(StepId(step), [this](StepId id) { on_step_ready(id); });
}

bool NetworkRun::advance_rings() {
  bool moved = false;
  for (auto const step : rings_) moved |= drives(step) ? advance_source_ring(step) : advance_target_ring(step);
  std::erase_if(rings_, [this](std::size_t step) { return states_[step].completed; });
  return moved;
}

bool NetworkRun::advance_source_ring(std::size_t step) {
  auto& state = states_[step];
  bool moved = state.ring->copy_out();
  while (auto const write = state.ring->next_write()) {
    queues_.enqueue(layout_.steps[step].links[0], 0, {step, Notification::ChunkWritten, false, -1, *write});
    moved = true;
  }
  if (state.ring->is_sent() && !state.completed) complete(step);
  return moved;
}

bool NetworkRun::advance_target_ring(std::size_t step) {
  auto& ring = *states_[step].ring;
  auto const progress = ring.take_next();
  if (progress == ChunkRing::Progress::Taken) {
    PendingRequest pending{step, Notification::ChunkTaken, false, -1, {}};
    pending.request.signalled = true;
    queues_.enqueue(layout_.steps[step].links[0], 0, pending);
    if (ring.all_taken()) complete(step);
  }
  return progress != ChunkRing::Progress::None;
}

void NetworkRun::on_link_failure(LinkId link, std::string const& problem) {
  if (queues_.has_failed(link)) return;
  std::set<std::size_t> under_way;
  std::vector<std::pair<std::size_t, int>> lost_notifications;
  for (auto const& lost : queues_.fail(link)) {
    if (lost.notification == Notification::Completed)
      lost_notifications.emplace_back(lost.step, lost.listener);
    else if (drives(lost.step) && !states_[lost.step].completed)
      under_way.insert(lost.step);
  }
  for (auto const step : under_way) send_again(step, problem);
  for (auto const& [step, listener] : lost_notifications) {
    --unacknowledged_notifications_;
    notify(step, listener);
  }
  if (under_way.empty()) faults_.push_back(problem);
}

void NetworkRun::send_again(std::size_t number, std::string const& problem) {
  auto const& step = plan_.steps[number];
  auto const link = usable_link(number);
  // What was written to a buffer may have arrived all the same, and later steps may have changed it since.
  bool const is_shared_write = step.verb == Verb::Write && step.writes.buffer >= 0;
  if (!link || step.staging == Staging::Chunks || is_shared_write)
    throw DeviceError(fmt::format("step '{}' ({})", step.transfer, step.text), ENETDOWN, problem);
  faults_.push_back(fmt::format("{}; step '{}' went over {} instead", problem, step.transfer,
                                transport_.text(layout_.steps[number].links[*link], 0)));
  send(number);
}

bool NetworkRun::finished() const {
  // The notification that a ring's last chunk is taken must have left, too.
  return unacknowledged_notifications_ == 0 && incomplete_ == 0 && queues_.all_posted();
}

void NetworkRun::check_for_stall(bool moved) {
  moved_since_check_ |= moved;
  if (moved || ++idle_rounds_ % kIdleRoundsPerCheck != 0) return;
  auto const now = monotonic_now();
  if (now - last_checked_ < kCheckInterval) return;
  last_checked_ = now;
  if (std::exchange(moved_since_check_, false)) last_moved_ = now;
  throw_if_interrupted();
  if (group_.failed_elsewhere()) throw DeviceError("the run", ECANCELED, "another process failed");
  if (devices_ != nullptr) devices_->check();
  for (auto const& [link, problem] : transport_.lost_links())
    on_link_failure(link, fmt::format("{}: {}", transport_.text(link, 0), problem));
  if (!has_ended_ && now - last_moved_ > stall_limit_)
    throw DeviceError(first_incomplete(), ETIMEDOUT, fmt::format("nothing moved for {:g} s", stall_limit_.value()));
}

std::string NetworkRun::first_incomplete() const {
  for (std::size_t i = 0; i < states_.size(); ++i)
    if ((drives(i) || receives(i)) && !states_[i].completed) {
      auto const& links = layout_.steps[i].links;
      return fmt::format("step '{}' ({}){}", plan_.steps[i].transfer, plan_.steps[i].text,
                         links.empty() ? "" : " over " + transport_.text(links[states_[i].link], 0));
    }
  return "the run";
}

}  // namespace lanewise::hw
