#include "index/http/request_queue.h"

#include <algorithm>

namespace axle::index {

RequestQueue::Server& RequestQueue::server(const std::string& name) {
  const auto [place, is_new] = servers_.try_emplace(name);
  // Whether a server multiplexes is known when it has answered over TLS: until then a second
  // connection might be one too many.
  if (is_new) place->second.limit = name.starts_with("https:") ? 1 : most_connections;
  return place->second;
}

void RequestQueue::add(QueuedRequest& request) {
  Server& place = server(request.server);
  (request.awaited ? place.awaited : place.others).push_back(&request);
}

void RequestQueue::hurry(QueuedRequest& request) {
  request.awaited = true;
  Server& place = server(request.server);
  const auto waiting = std::ranges::find(place.others, &request);
  if (waiting == place.others.end()) return;
  place.others.erase(waiting);
  place.awaited.push_back(&request);
}

QueuedRequest* RequestQueue::begin_next(bool ahead) {
  for (auto& [name, place] : servers_) {
    // What is sent ahead must not be in the way: it may hang.
    if (!place.awaited.empty() && place.hurried < place.limit) {
      QueuedRequest* const next = place.awaited.front();
      place.awaited.pop_front();
      next->hurried = true;
      ++place.hurried;
      return next;
    }
  }
  if (!ahead || ahead_ >= most_requests) return nullptr;
  for (auto& [name, place] : servers_) {
    if (place.others.empty() || place.hurried + place.ahead >= place.limit) continue;
    QueuedRequest* const next = place.others.front();
    place.others.pop_front();
    next->hurried = false;
    ++place.ahead;
    ++ahead_;
    return next;
  }
  return nullptr;
}

void RequestQueue::end(const QueuedRequest& request, const std::string& server_name,
                       const ResponseHead& head) {
  Server& place = server(server_name);
  if (request.hurried) {
    --place.hurried;
  } else {
    --place.ahead;
    --ahead_;
  }
  if (head.status == 0) return;
  if (!place.answered) place.limit = head.multiplexed ? most_requests : most_connections;
  place.answered = true;
  // Too many requests, or too busy.
  if (head.status == 429 || head.status == 503)
    place.limit = std::max<std::size_t>(place.limit / 2, 1);
}

}  // namespace axle::index
