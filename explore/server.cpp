#include "explore/server.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "core/io/interrupt.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using Json = Exploration::Json;

constexpr auto kHost = "127.0.0.1";
constexpr int kThreads = 4;
constexpr int kMaxSecondsBetweenBytes = 5;  // of a request

// 128 random bits.
std::string random_token() {
  std::random_device bits;  // of the system, not a generator with a seed
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", bits());
  return token;
}

// Takes as long wherever the first difference is.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

// What a browser may do with any answer: keep nothing, show it in no other page, tell nobody its address.
httplib::Headers protective_headers() {
  return {{"Cache-Control", "no-store"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"}};
}

void answer(httplib::Response& response, int status, Json const& json) {
  response.status = status;
  response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
}

}  // namespace

struct ExplorationServer::Http {
  Exploration& exploration;
  std::function<std::string()> page;
  std::string token = random_token();
  int port = 0;
  std::mutex one_at_a_time;
  std::atomic<unsigned> newest = 0;  // request to evaluate
  httplib::Server server;

  Http(Exploration& explored, std::function<std::string()> make_page)
      : exploration(explored), page(std::move(make_page)) {}

  // Why a request is refused; empty: it is not.
  [[nodiscard]] std::string refusal(httplib::Request const& request) const {
    auto const host = request.get_header_value("Host");
    if (host != fmt::format("{}:{}", kHost, port) && host != fmt::format("localhost:{}", port))
      return "this host is not called so";
    if (request.has_header("Origin") && request.get_header_value("Origin") != "http://" + host)
      return "pages of other sites may not ask";
    auto const site = request.get_header_value("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") return "pages of other sites may not ask";
    if (!are_equal(request.get_param_value("token"), token)) return "the address has no token, or an old one";
    if (request.method == "POST" && !request.get_header_value("Content-Type").starts_with("application/json"))
      return "a request is application/json";
    return {};
  }

  void add(std::string const& path, Json (Exploration::*find)(Json const&)) {
    server.Post(path, [this, find](httplib::Request const& request, httplib::Response& response) {
      auto const body = Json::parse(request.body, nullptr, false);
      if (body.is_discarded()) return answer(response, 400, {{"error", "the request is not JSON"}});
      // What is under way to an older request for an evaluation is given up.
      bool const is_evaluation = request.path == "/evaluate";
      auto const own = is_evaluation ? ++newest : 0U;
      std::lock_guard const lock(one_at_a_time);
      try {
        std::optional<OvertakenScope> overtaken;
        if (is_evaluation) overtaken.emplace(newest, own);
        answer(response, 200, (exploration.*find)(body));
      } catch (Interrupted const& stopped) {
        answer(response, 503, {{"error", stopped.what()}});
      } catch (InputError const& error) {
        answer(response, 400, {{"error", error.what()}});
      } catch (Error const& error) {
        answer(response, 500, {{"error", error.what()}});
      }
    });
  }

  void set_up() {
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server.set_payload_max_length(kMaxBody);
    server.set_read_timeout(kMaxSecondsBetweenBytes);
    server.set_keep_alive_max_count(1);  // a refused body is not read as the next request
    server.set_default_headers(protective_headers());
    // httplib's own options would share the port with another program that listens there.
    server.set_socket_options([](socket_t socket) {
      int const yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_pre_routing_handler([this](httplib::Request const& request, httplib::Response& response) {
      auto const why = refusal(request);
      if (why.empty()) return httplib::Server::HandlerResponse::Unhandled;
      answer(response, 403, {{"error", why}});
      return httplib::Server::HandlerResponse::Handled;
    });
    server.set_exception_handler([](httplib::Request const&, httplib::Response& response, std::exception_ptr const&) {
      answer(response, 500, {{"error", "this request cannot be answered"}});
    });
    server.Get("/", [this](httplib::Request const&, httplib::Response& response) {
      std::lock_guard const lock(one_at_a_time);
      response.set_content(page(), "text/html; charset=utf-8");
    });
    add("/open", &Exploration::open);
    add("/evaluate", &Exploration::evaluate);
    add("/save", &Exploration::save);
  }
};

ExplorationServer::ExplorationServer(Exploration& exploration, std::function<std::string()> page, int port)
    : http_(std::make_unique<Http>(exploration, std::move(page))) {
  http_->set_up();
  http_->port = port;
  if (port == 0)
    http_->port = http_->server.bind_to_any_port(kHost);
  else if (!http_->server.bind_to_port(kHost, port))
    http_->port = -1;
  if (http_->port < 0) throw MissingError(fmt::format("port {} of {} is not free", port, kHost));
}

ExplorationServer::~ExplorationServer() = default;

std::string ExplorationServer::address() const {
  return fmt::format("http://{}:{}/?token={}", kHost, http_->port, http_->token);
}

void ExplorationServer::run() {
  auto& server = http_->server;
  std::atomic<bool> has_ended = false;
  std::thread listening([&] {
    server.listen_after_bind();
    has_ended = true;
  });
  // It can only be stopped once it runs.
  while (!has_ended && (!stop_requested() || !server.is_running()))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  bool const was_stopped = stop_requested();
  server.stop();
  listening.join();
  if (!was_stopped) throw MissingError(fmt::format("{}:{} cannot be listened at any more", kHost, http_->port));
}

}  // namespace lanewise
