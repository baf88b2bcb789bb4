#include "index/http/request_queue.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace axle::index;

namespace {

constexpr const char* plain = "http://a.test:80";
constexpr const char* encrypted = "https://b.test:443";

struct Setup {
  QueuedRequest& add(const std::string& server, bool awaited = false) {
    QueuedRequest& request = requests.emplace_back(server, awaited);
    queue.add(request);
    return request;
  }
  void add_many(const std::string& server, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) (void)add(server);
  }
  std::vector<QueuedRequest*> begin_all(bool ahead = true) {
    std::vector<QueuedRequest*> begun;
    while (QueuedRequest* const next = queue.begin_next(ahead)) begun.push_back(next);
    return begun;
  }
  void end(const QueuedRequest& request, std::string_view status_line) {
    ResponseHead head;
    head.add_line(status_line);
    queue.end(request, request.server, head);
  }

  RequestQueue queue;
  std::deque<QueuedRequest> requests;
};

}  // namespace

TEST_CASE("requests that somebody waits for begin before those sent ahead") {
  Setup setup;
  QueuedRequest& first = setup.add(plain);
  QueuedRequest& second = setup.add(plain);
  QueuedRequest& awaited = setup.add(plain, true);
  setup.queue.hurry(second);
  CHECK(setup.begin_all() == std::vector{&awaited, &second, &first});
}

TEST_CASE("one server gets so many requests at once, all servers so many") {
  Setup setup;
  for (const char* server : {"http://a.test:80", "http://b.test:80", "http://c.test:80"})
    setup.add_many(server, 100);
  const auto begun = setup.begin_all();
  CHECK(begun.size() == RequestQueue::most_requests);
  CHECK(std::ranges::count(begun, plain, &QueuedRequest::server) == RequestQueue::most_connections);
  setup.end(*begun.front(), "HTTP/1.1 200 OK");
  CHECK(setup.begin_all().size() == 1);
}

TEST_CASE("what is waited for begins however much is on its way ahead") {
  Setup setup;
  setup.add_many(plain, 100);
  (void)setup.begin_all();
  QueuedRequest& awaited = setup.add(plain, true);
  CHECK(setup.begin_all() == std::vector{&awaited});
  CHECK(setup.begin_all(false).empty());
}

TEST_CASE("while nothing is to be sent ahead, what somebody waits for still begins") {
  Setup setup;
  QueuedRequest& one = setup.add(plain);
  CHECK(setup.begin_all(false).empty());
  setup.queue.hurry(one);
  CHECK(setup.begin_all(false) == std::vector{&one});
}

TEST_CASE("over TLS the first answer says how many requests a server takes") {
  for (const auto& [answer, count] :
       {std::pair("HTTP/2 200", RequestQueue::most_requests),
        std::pair("HTTP/1.1 200 OK", RequestQueue::most_connections)}) {
    CAPTURE(answer);
    Setup setup;
    setup.add_many(encrypted, 100);
    const auto first = setup.begin_all();
    REQUIRE(first.size() == 1);
    setup.end(*first.front(), answer);
    CHECK(setup.begin_all().size() == count);
  }
}

TEST_CASE("a server that does not answer stays at one request over TLS") {
  Setup setup;
  setup.add_many(encrypted, 3);
  for (int i = 0; i < 3; ++i) {
    const auto one = setup.begin_all();
    REQUIRE(one.size() == 1);
    setup.queue.end(*one.front(), encrypted, {});
  }
}

TEST_CASE("a server that is busy gets half as many requests at once, and at least one") {
  Setup setup;
  setup.add_many(plain, 100);
  auto begun = setup.begin_all();
  for (const char* answer : {"HTTP/1.1 429 Too Many Requests", "HTTP/1.1 503 Unavailable"}) {
    setup.end(*begun.back(), answer);
    begun.pop_back();
  }
  CHECK(setup.begin_all().empty());
  while (begun.size() >= RequestQueue::most_connections / 4) {
    setup.end(*begun.back(), "HTTP/1.1 200 OK");
    begun.pop_back();
  }
  CHECK(setup.begin_all().size() == 1);

  Setup other;
  other.add_many(plain, 100);
  for (const QueuedRequest* one : other.begin_all())
    other.end(*one, "HTTP/1.1 429 Too Many Requests");
  CHECK(other.begin_all().size() == 1);
}
