#pragma once
// Which of many requests may begin: those that somebody waits for before those sent ahead, with
// limits for each server and for all.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "index/http/http_rules.h"

namespace axle::index {

struct QueuedRequest {
  std::string server;    ///< url_origin of what is requested next
  bool awaited = false;  ///< somebody waits for it
  bool hurried = false;  ///< set by the queue: it began because somebody waits for it
};

class RequestQueue {
 public:
  static constexpr std::size_t most_requests = 50;
  /// To one server that does not multiplex, where each request takes a connection. Browsers use
  /// six, with which a resolution behind a distant server mostly waits; uv uses fifty, too.
  static constexpr std::size_t most_connections = 50;

  /// It waits to begin. It must not be destroyed before it has begun.
  void add(QueuedRequest& request);
  /// Somebody waits for it from now on: it may be waiting to begin, or not.
  void hurry(QueuedRequest& request);
  /// One that begins now; nullptr: none may. Without `ahead` only those that somebody waits for.
  [[nodiscard]] QueuedRequest* begin_next(bool ahead);
  /// One that had begun ended, with this head (status 0: no answer).
  void end(const QueuedRequest& request, const std::string& server, const ResponseHead& head);

 private:
  struct Server {
    std::deque<QueuedRequest*> awaited;
    std::deque<QueuedRequest*> others;
    std::size_t hurried = 0;  ///< running, that began because somebody waited
    std::size_t ahead = 0;    ///< running, the others
    std::size_t limit = 0;
    bool answered = false;  ///< the limit fits the server
  };

  [[nodiscard]] Server& server(const std::string& name);

  std::map<std::string, Server> servers_;
  std::size_t ahead_ = 0;  ///< running, on all servers
};

}  // namespace axle::index
