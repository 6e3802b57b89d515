// The HTTP server of lanewise explore.
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
#include "explore/server.hpp"
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
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
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

class HttpServer : public ExplorationServer {
 public:
  HttpServer(ServedExploration served, int port) : served_(std::move(served)), port_(port) {
    set_up();
    if (port == 0)
      port_ = server_.bind_to_any_port(kHost);
    else if (!server_.bind_to_port(kHost, port))
      port_ = -1;
    if (port_ < 0) throw MissingError(fmt::format("port {} of {} is not free", port, kHost));
  }

  [[nodiscard]] std::string address() const override {
    return fmt::format("http://{}:{}/?token={}", kHost, port_, token_);
  }

  void run() override {
    std::atomic<bool> has_ended = false;
    std::thread listening([&] {
      server_.listen_after_bind();
      has_ended = true;
    });
    // It can only be stopped once it runs.
    while (!has_ended && (!stop_requested() || !server_.is_running()))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    bool const was_stopped = stop_requested();
    server_.stop();
    listening.join();
    if (!was_stopped) throw MissingError(fmt::format("{}:{} cannot be listened at any more", kHost, port_));
  }

 private:
  // Why a request is refused; empty: it is not.
  [[nodiscard]] std::string refusal(httplib::Request const& request) const {
    auto const host = request.get_header_value("Host");
    if (host != fmt::format("{}:{}", kHost, port_) && host != fmt::format("localhost:{}", port_))
      return "this host is not called so";
    if (request.has_header("Origin") && request.get_header_value("Origin") != "http://" + host)
      return "pages of other sites may not ask";
    auto const site = request.get_header_value("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") return "pages of other sites may not ask";
    if (!are_equal(request.get_param_value("token"), token_)) return "the address has no token, or an old one";
    if (request.method == "POST" && !request.get_header_value("Content-Type").starts_with("application/json"))
      return "a request is application/json";
    return {};
  }

  void add(std::string const& path, ServedExploration::Answer const& find) {
    server_.Post(path, [this, &find](httplib::Request const& request, httplib::Response& response) {
      auto const body = Json::parse(request.body, nullptr, false);
      if (body.is_discarded()) return answer(response, 400, {{"error", "the request is not JSON"}});
      // What is under way to an older request for an evaluation is given up.
      bool const is_evaluation = request.path == "/evaluate";
      auto const own = is_evaluation ? ++newest_ : 0U;
      std::lock_guard const lock(one_at_a_time_);
      try {
        std::optional<OvertakenScope> overtaken;
        if (is_evaluation) overtaken.emplace(newest_, own);
        answer(response, 200, find(body));
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
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_payload_max_length(kMaxBody);
    server_.set_read_timeout(kMaxSecondsBetweenBytes);
    server_.set_keep_alive_max_count(1);  // a refused body is not read as the next request
    server_.set_default_headers(protective_headers());
    // httplib's own options would share the port with another program that listens there.
    server_.set_socket_options([](socket_t socket) {
      int const yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_pre_routing_handler([this](httplib::Request const& request, httplib::Response& response) {
      auto const why = refusal(request);
      if (why.empty()) return httplib::Server::HandlerResponse::Unhandled;
      answer(response, 403, {{"error", why}});
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.set_exception_handler([](httplib::Request const&, httplib::Response& response, std::exception_ptr const&) {
      answer(response, 500, {{"error", "this request cannot be answered"}});
    });
    server_.Get("/", [this](httplib::Request const&, httplib::Response& response) {
      std::lock_guard const lock(one_at_a_time_);
      response.set_content(served_.page(), "text/html; charset=utf-8");
    });
    add("/open", served_.open);
    add("/evaluate", served_.evaluate);
    add("/save", served_.save);
  }

  ServedExploration served_;
  std::string token_ = random_token();
  int port_ = 0;
  std::mutex one_at_a_time_;
  std::atomic<unsigned> newest_ = 0;  // request to evaluate
  httplib::Server server_;
};

}  // namespace
}  // namespace lanewise

lanewise::ExplorationServer* lanewise_make_exploration_server(lanewise::ServedExploration const* served, int port) {
  return new lanewise::HttpServer(*served, port);
}
