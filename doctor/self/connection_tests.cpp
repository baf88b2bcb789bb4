// Whether https would work: certificates of authorities are there, and the TLS library begins to
// speak. No server is asked.
#include <array>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor/self/self_test.h"
#include "foundation/system/descriptor.h"
#include "foundation/system/system_certificates.h"
#include "index/http/curl_loader.h"

namespace axle::doctor {
namespace {

/// Where the certificates of authorities are.
struct Authorities {
  std::string file;
  std::string folder;
};

Authorities authorities_of(const SelfTestSettings& settings) {
  if (!settings.ca_file.empty() || !settings.ca_folder.empty())
    return {settings.ca_file, settings.ca_folder};
  return {system::find_certificates(system::known_certificate_files()), {}};
}

/// nullopt: the file cannot be read.
std::optional<std::size_t> count_certificates(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("-----BEGIN ") && line.find("CERTIFICATE-----") != std::string::npos)
      ++count;
  }
  return count;
}

/// Of the names that OpenSSL looks for: "5ed36f99.0". nullopt: the folder cannot be read.
std::optional<std::size_t> count_hashed(const std::string& path) {
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) return std::nullopt;
  std::size_t count = 0;
  while (const dirent* const entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    constexpr std::size_t digits = 8;
    if (name.size() > digits + 1 && name[digits] == '.' &&
        name.find_first_not_of("0123456789abcdef") == digits)
      ++count;
  }
  ::closedir(folder);
  return count;
}

/// A server on the loopback address that hears the first byte of one client, and closes.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    listens_ = socket_ && ::bind(socket_.get(), address, size) == 0 &&
               ::listen(socket_.get(), 1) == 0 && ::getsockname(socket_.get(), address, &size) == 0;
    if (listens_) thread_ = std::thread([this] { hear(); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { end(); }

  [[nodiscard]] bool listens() const { return listens_; }
  [[nodiscard]] unsigned port() const { return ntohs(address_.sin_port); }
  /// 0: none came. To be asked once, when the client has ended.
  [[nodiscard]] unsigned char first_byte() {
    end();
    return heard_;
  }

 private:
  void end() {
    if (thread_.joinable()) thread_.join();
  }

  void hear() {
    constexpr int patience = 10'000;  // ms
    pollfd waits{socket_.get(), POLLIN, 0};
    if (::poll(&waits, 1, patience) != 1) return;
    const system::Descriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    waits = {client.get(), POLLIN, 0};
    if (client && ::poll(&waits, 1, patience) == 1 && ::read(client.get(), &heard_, 1) != 1)
      heard_ = 0;
  }

  system::Descriptor socket_;
  sockaddr_in address_ = {};
  bool listens_ = false;
  unsigned char heard_ = 0;
  std::thread thread_;
};

/// How a request to `url` ends.
AxleCurlOutcome request(const AxleCurlApi& api, const std::string& url,
                        const Authorities& trusted) {
  AxleCurlExchange exchange = {};
  exchange.url = url.c_str();
  exchange.body_bytes = -1;
  exchange.user_agent = "axle";
  exchange.ca_file = trusted.file.empty() ? nullptr : trusted.file.c_str();
  exchange.ca_folder = trusted.folder.empty() ? nullptr : trusted.folder.c_str();
  exchange.proxy = "";
  exchange.no_proxy = "";
  exchange.check_certificate = 1;
  exchange.connect_seconds = exchange.timeout_seconds = exchange.slow_seconds = 10;
  exchange.on_header = [](void*, const char*, std::size_t) { return 0; };
  exchange.on_body = [](void*, const char*, std::size_t) { return 0; };
  AxleCurlOutcome outcome{axle_curl_other, "memory is short"};
  void* const pool = api.open(1, 1);
  if (pool == nullptr) return outcome;
  if (api.begin(pool, &exchange) == 0) {
    constexpr int piece = 200;  // ms
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (api.take_done(pool, &outcome) == nullptr && std::chrono::steady_clock::now() < end)
      api.run(pool, piece);
  }
  api.close(pool);
  return outcome;
}

}  // namespace

Result<SelfTestAnswer> test_certificates(const SelfTestSettings& settings) {
  const Authorities trusted = authorities_of(settings);
  constexpr const char* hint =
      "install the system's certificates (Debian: ca-certificates), or name "
      "a file of them in SSL_CERT_FILE";
  if (trusted.file.empty() && trusted.folder.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("no certificates of authorities are installed: there is none of {}",
                            fmt::join(system::known_certificate_files(), ", ")),
                hint);
  }
  std::string said;
  std::size_t all = 0;
  const auto add = [&](const std::string& place, std::optional<std::size_t> count) {
    if (place.empty()) return;
    said += (said.empty() ? "" : ", ") + (count ? fmt::format("{} in {}", *count, place)
                                                : fmt::format("{} cannot be read", place));
    all += count.value_or(0);
  };
  add(trusted.file, count_certificates(trusted.file));
  if (!trusted.folder.empty()) add(trusted.folder, count_hashed(trusted.folder));
  if (all == 0) return fail(ErrorKind::malformed, "no certificates of authorities: " + said, hint);
  return SelfTestAnswer{"certificates of authorities: " + said};
}

Result<SelfTestAnswer> test_tls(const SelfTestSettings& settings) {
  const auto api = index::load_curl(index::module_paths(index::curl_module));
  if (!api) return std::unexpected(api.error());
  Listener listener;
  if (!listener.listens())
    return SelfTestAnswer{"no port of the loopback address can be listened at here", true};
  const auto outcome = request(**api, fmt::format("https://127.0.0.1:{}/", listener.port()),
                               authorities_of(settings));
  constexpr unsigned char handshake = 22;  // the type of a TLS record
  // libcurl reads the certificates when the first record is sent.
  const bool began = listener.first_byte() == handshake;
  const bool trusts = outcome.end != axle_curl_ca_file;
  if (began && trusts) return SelfTestAnswer{"a connection begins with TLS's handshake"};
  return fail(ErrorKind::io, fmt::format("no TLS connection begins: {}", outcome.reason),
              trusts ? "reinstall the program, and the libraries that it opens"
                     : "name a file of certificates in PEM in SSL_CERT_FILE, or unset it");
}

}  // namespace axle::doctor
