#include "tests/support/index_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "index/http/transport.h"
#include "index/http/url.h"
#include "tests/support/http_message.h"

namespace axle::test {
namespace {

namespace fs = std::filesystem;
using Modes = std::set<std::string, std::less<>>;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string header_of(const SeenRequest& request, std::string_view name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string() : found->second;
}

/// "/-cut/-gzip/simple/" -> {"cut", "gzip"}, "/simple/".
std::pair<Modes, std::string> split_modes(std::string path) {
  Modes modes;
  while (path.starts_with("/-")) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    modes.insert(path.substr(2, end - 2));
    path.erase(0, end);
  }
  return {modes, path};
}

std::string type_of(const fs::path& path) {
  if (path.extension() == ".html") return "text/html; charset=utf-8";
  if (path.filename() == "index.json") return "application/vnd.pypi.simple.v1+json";
  if (path.extension() == ".json") return "application/json";
  return "application/octet-stream";
}

/// What lies at `path` in the folder, by Accept where it is a folder.
Answer plain_answer(const fs::path& root, const std::string& path, const SeenRequest& request) {
  fs::path file = root / fs::path(index::percent_decode(path).substr(1)).lexically_normal();
  const bool wants_json = header_of(request, "accept").find("v1+json") != std::string::npos;
  if (fs::is_directory(file)) {
    const fs::path json = file / "index.json";
    file = wants_json && fs::exists(json) ? json : file / "index.html";
  }
  Answer answer;
  if (path.find("/../") != std::string::npos || !fs::is_regular_file(file)) {
    answer.status = 404;
    answer.body = "not here";
    return answer;
  }
  answer.body = read_file(file);
  answer.headers["Content-Type"] = type_of(file);
  answer.headers["ETag"] =
      fmt::format("\"{:x}-{:x}\"", answer.body.size(), std::hash<std::string>()(answer.body));
  if (header_of(request, "if-none-match") == answer.headers["ETag"]) {
    answer.status = 304;
    answer.body.clear();
  }
  return answer;
}

void compress(Answer& answer, const SeenRequest& request) {
  if (header_of(request, "accept-encoding").find("gzip") == std::string::npos) return;
  answer.body = gzip(answer.body);
  answer.headers["Content-Encoding"] = "gzip";
}

/// Cuts the body down to "bytes=A-B" or "bytes=-N".
void apply_range(Answer& answer, const SeenRequest& request, const Modes& modes) {
  const std::string range = header_of(request, "range");
  answer.headers["Accept-Ranges"] = "bytes";
  if (!range.starts_with("bytes=") || answer.status != 200) return;
  const std::size_t size = answer.body.size();
  const std::size_t dash = range.find('-');
  const bool tail = dash == 6;
  if (tail && modes.contains("whole-tail")) return;
  if (tail && modes.contains("no-tail")) {
    answer = Answer{416, {}, {}};
    return;
  }
  std::size_t first = tail ? size - std::min(size, std::stoul(range.substr(7)))
                           : std::stoul(range.substr(6, dash - 6));
  std::size_t last =
      tail || dash + 1 == range.size() ? size - 1 : std::stoul(range.substr(dash + 1));
  last = std::min(last, size - 1);
  if (size == 0 || first > last) {
    answer = Answer{416, {}, {}};
    return;
  }
  answer.status = 206;
  answer.body = answer.body.substr(first, last - first + 1);
  if (modes.contains("short-range")) answer.body.pop_back();
  if (modes.contains("bad-range")) {
    if (first > 0)
      --first, --last;
    else
      ++first, ++last;
  }
  answer.headers["Content-Range"] = fmt::format("bytes {}-{}/{}", first, last, size);
}

/// The modes that change what is said; nothing when none of them applies.
std::optional<Answer> odd_answer(const Modes& modes, const std::string& rest,
                                 const SeenRequest& request, unsigned port) {
  for (const std::string& mode : modes) {
    if (mode.starts_with("status-")) return Answer{std::stoi(mode.substr(7)), {}, "trouble"};
  }
  if (modes.contains("auth") && header_of(request, "authorization") != "Basic dXNlcjpzZWNyZXQ=") {
    return Answer{401, {{"WWW-Authenticate", "Basic realm=\"index\""}}, "who are you"};
  }
  if (modes.contains("login")) {
    return Answer{200,
                  {{"Content-Type", "text/html"}},
                  "<html><title>Sign in</title><form><input name=user></form>"
                  "<a href=\"/help\">Help</a></html>"};
  }
  const auto redirect = [](std::string to) {
    return Answer{302, {{"Location", std::move(to)}}, ""};
  };
  if (modes.contains("redirect-loop")) return redirect(request.target);
  if (modes.contains("redirect-file")) return redirect("file:///etc/hostname");
  if (modes.contains("redirect-host")) {
    return redirect(fmt::format("http://localhost:{}{}", port, rest));
  }
  if (modes.contains("redirect")) return redirect(rest);
  if (modes.contains("bomb")) {
    return Answer{200,
                  {{"Content-Type", "text/html"}, {"Content-Encoding", "gzip"}},
                  gzip(std::string(8U << 20, '\0'))};
  }
  return std::nullopt;
}

}  // namespace

class IndexServer::Impl {
 public:
  explicit Impl(std::string folder) : root_(std::move(folder)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &length) != 0) {
      throw std::runtime_error("cannot listen on 127.0.0.1");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~Impl() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }

  [[nodiscard]] unsigned port() const { return port_; }
  [[nodiscard]] std::vector<SeenRequest> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  [[nodiscard]] std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return connections_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    seen_.clear();
    times_.clear();
  }

 private:
  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        if (stopping_) return;
        continue;
      }
      // Head and body are sent one after the other: without this each answer waits 40 ms for an
      // ACK.
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const std::lock_guard lock(mutex_);
      open_.insert(fd);
      ++connections_;
      threads_.emplace_back([this, fd] {
        serve(fd);
        const std::lock_guard done(mutex_);
        open_.erase(fd);
        ::close(fd);
      });
    }
  }

  void serve(int fd) {
    Connection connection(fd);
    while (const std::optional<SeenRequest> request = connection.receive()) {
      if (!answer(connection, *request)) return;
    }
  }

  /// false when the connection is over.
  bool answer(Connection& connection, const SeenRequest& request) {
    if (request.target.starts_with("/-/")) return answer_own(connection, request);
    unsigned times = 0;
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(request);
      times = ++times_[request.target];
    }
    const std::string path = request.target.substr(0, request.target.find('?'));
    const auto [modes, rest] = split_modes(path);
    if (modes.contains("hang")) {
      connection.wait_for_close();
      return false;
    }
    if (modes.contains("late")) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Answer answer = compose(modes, rest, request, times);
    note_size(request, answer.body.size());
    return send(connection, modes, answer, times);
  }

  /// Of the newest request like this one.
  void note_size(const SeenRequest& request, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto same = std::find_if(seen_.rbegin(), seen_.rend(), [&](const SeenRequest& one) {
      return one.target == request.target && one.headers == request.headers;
    });
    if (same != seen_.rend()) same->body_bytes = bytes;
  }

  Answer compose(const Modes& modes, const std::string& rest, const SeenRequest& request,
                 unsigned times) const {
    if (modes.contains("busy-once") && times == 1) return {429, {{"Retry-After", "0"}}, "busy"};
    if (modes.contains("fail-twice") && times <= 2) return {503, {}, "down"};
    if (std::optional<Answer> odd = odd_answer(modes, rest, request, port_)) return *odd;
    Answer answer = plain_answer(root_, rest, request);
    if (modes.contains("fresh")) answer.headers["Cache-Control"] = "max-age=600";
    if (modes.contains("fresh-year")) {
      answer.headers["Cache-Control"] = "max-age=31536000, immutable";
    }
    if (modes.contains("no-store")) answer.headers["Cache-Control"] = "no-store";
    if (modes.contains("other-type")) answer.headers["Content-Type"] = "text/plain";
    if (modes.contains("wrong") && !answer.body.empty()) answer.body[answer.body.size() / 2] ^= 1;
    if (modes.contains("gzip")) compress(answer, request);
    if (!modes.contains("no-range")) apply_range(answer, request, modes);
    return answer;
  }

  bool send(Connection& connection, const Modes& modes, Answer& answer, unsigned times) const {
    if (modes.contains("huge")) return send_huge(connection, answer);
    const std::string head = render_head(answer);
    if (!connection.send_all(head)) return false;
    const std::string_view half = std::string_view(answer.body).substr(0, answer.body.size() / 2);
    if (modes.contains("cut") || (modes.contains("cut-once") && times == 1)) {
      connection.send_all(half);
      return false;
    }
    if (modes.contains("stall")) {
      connection.send_all(half);
      connection.wait_for_close();
      return false;
    }
    if (modes.contains("slow")) return send_slowly(connection, answer.body);
    if (modes.contains("drip")) return drip(connection, answer.body);
    return connection.send_all(answer.body);
  }

  bool send_huge(Connection& connection, Answer& answer) const {
    answer.headers["Transfer-Encoding"] = "chunked";
    bool alive = connection.send_all(render_head(answer));
    const std::string chunk = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
    while (alive && !stopping_) alive = connection.send_all(chunk);
    return false;
  }

  bool drip(Connection& connection, std::string_view body) const {
    for (std::size_t i = 0; i < body.size() && !stopping_; ++i) {
      if (!connection.send_all(body.substr(i, 1))) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
  }

  static bool send_slowly(Connection& connection, std::string_view body) {
    constexpr std::size_t pieces = 10;
    const std::size_t length = body.size() / pieces + 1;
    while (!body.empty()) {
      if (!connection.send_all(body.substr(0, length))) return false;
      body.remove_prefix(std::min(length, body.size()));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  bool answer_own(Connection& connection, const SeenRequest& request) {
    Answer answer;
    answer.headers["Content-Type"] = "application/json";
    if (request.target == "/-/forget") {
      forget();
      answer.body = "{}";
    } else {
      for (const SeenRequest& seen : seen()) {
        answer.body += fmt::format(
            R"({}{{"method": "{}", "target": "{}", "range": "{}", "authorized": {}, "sent": {}}})",
            answer.body.empty() ? "" : ",\n", seen.method, seen.target, header_of(seen, "range"),
            seen.headers.contains("authorization"), seen.body_bytes);
      }
      answer.body = '[' + answer.body + ']';
    }
    return connection.send_all(render_head(answer) + answer.body);
  }

  fs::path root_;
  int listener_ = -1;
  unsigned port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread acceptor_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::list<std::thread> threads_;
  std::set<int> open_;
  std::size_t connections_ = 0;
  std::vector<SeenRequest> seen_;
  std::map<std::string, unsigned> times_;  ///< requests by target
};

IndexServer::IndexServer(std::string folder) : impl_(std::make_unique<Impl>(std::move(folder))) {}
IndexServer::~IndexServer() = default;
unsigned IndexServer::port() const { return impl_->port(); }
std::string IndexServer::url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", port(), path);
}
std::vector<SeenRequest> IndexServer::seen() const { return impl_->seen(); }
void IndexServer::forget() { impl_->forget(); }
std::size_t IndexServer::connections() const { return impl_->connections(); }

}  // namespace axle::test
