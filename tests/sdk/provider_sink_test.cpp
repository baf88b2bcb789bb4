#include "providers/plugins/provider_sink.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include <doctest/doctest.h>

using axle::plugins::bounded_text;
using axle::plugins::ProviderSink;

namespace {

constexpr std::int32_t refused = AXLE_PROVIDER_REFUSED;

}  // namespace

TEST_CASE("every function of the interface is there") {
  ProviderSink sink;
  const axle_provider_sink* to = sink.c_sink();
  CHECK(to->struct_size == sizeof(axle_provider_sink));
  for (std::size_t at = offsetof(axle_provider_sink, feature); at < to->struct_size;
       at += sizeof(void*)) {
    std::uintptr_t function = 0;
    std::memcpy(&function, reinterpret_cast<const char*>(to) + at, sizeof function);
    CHECK_MESSAGE(function != 0, "the member at byte ", at,
                  " is not set by the constructor of ProviderSink");
  }
}

TEST_CASE("features and values keep the order in which they are said") {
  ProviderSink sink;
  const axle_provider_sink* to = sink.c_sink();
  CHECK(axle_provider_feature(to, "b", AXLE_PROVIDER_MULTI) == AXLE_PROVIDER_OK);
  CHECK(axle_provider_value(to, "2") == AXLE_PROVIDER_OK);
  CHECK(axle_provider_value(to, "1") == AXLE_PROVIDER_OK);
  CHECK(axle_provider_feature(to, "a", AXLE_PROVIDER_SINGLE) == AXLE_PROVIDER_OK);
  CHECK(axle_provider_value(to, "3") == AXLE_PROVIDER_OK);
  const axle::providers::Features expected = {{"b", true, {"2", "1"}}, {"a", false, {"3"}}};
  CHECK(sink.features() == expected);
  CHECK(sink.mistake().empty());
}

TEST_CASE("after a mistake nothing more is taken, and the first one is told") {
  ProviderSink sink;
  const axle_provider_sink* to = sink.c_sink();
  CHECK(axle_provider_value(to, "early") == refused);
  CHECK(axle_provider_feature(to, "late", AXLE_PROVIDER_SINGLE) == refused);
  CHECK(axle_provider_feature(to, nullptr, AXLE_PROVIDER_SINGLE) == refused);
  CHECK(axle_provider_reason(to, "late") == refused);
  CHECK(sink.features().empty());
  CHECK(sink.mistake() == "value(\"early\") comes before any feature()");
}

TEST_CASE("texts are taken up to their limit and refused beyond it") {
  const std::string longest(AXLE_PROVIDER_MAX_TEXT, 'a');
  CHECK(bounded_text(longest.c_str(), AXLE_PROVIDER_MAX_TEXT) == longest);
  CHECK_FALSE(bounded_text((longest + "a").c_str(), AXLE_PROVIDER_MAX_TEXT));
  CHECK_FALSE(bounded_text(nullptr, AXLE_PROVIDER_MAX_TEXT));
  CHECK(bounded_text("", AXLE_PROVIDER_MAX_TEXT) == "");

  ProviderSink sink;
  CHECK(axle_provider_feature(sink.c_sink(), longest.c_str(), 0) == AXLE_PROVIDER_OK);
  CHECK(axle_provider_value(sink.c_sink(), (longest + "a").c_str()) == refused);
  CHECK(sink.mistake() == "value() got a text that is NULL or longer than 128 bytes");
}

TEST_CASE("a sink has room for so many features and values") {
  ProviderSink features;
  for (int i = 0; i < AXLE_PROVIDER_MAX_FEATURES; ++i)
    CHECK(axle_provider_feature(features.c_sink(), "f", 0) == AXLE_PROVIDER_OK);
  CHECK(axle_provider_feature(features.c_sink(), "f", 0) == refused);
  CHECK(features.mistake() == "it has more than 256 features");

  ProviderSink values;
  CHECK(axle_provider_feature(values.c_sink(), "f", 0) == AXLE_PROVIDER_OK);
  int taken = 0;
  while (axle_provider_value(values.c_sink(), "v") == AXLE_PROVIDER_OK) ++taken;
  CHECK(taken == AXLE_PROVIDER_MAX_VALUES);
  CHECK(values.mistake() == "it has more than 4096 values");
}

TEST_CASE("a kind that there is not is refused") {
  for (const std::int32_t kind : {-1, 2, 0x7fffffff}) {
    ProviderSink sink;
    CHECK(axle_provider_feature(sink.c_sink(), "f", kind) == refused);
    CHECK(sink.mistake().find("the unknown kind") != std::string::npos);
  }
}

TEST_CASE("another thread is refused, whatever it does, and spoils the answer") {
  ProviderSink sink;
  CHECK(axle_provider_feature(sink.c_sink(), "f", 0) == AXLE_PROVIDER_OK);
  std::int32_t status = AXLE_PROVIDER_OK;
  std::thread([&] { status = axle_provider_value(sink.c_sink(), "v"); }).join();
  CHECK(status == refused);
  CHECK(sink.features().front().values.empty());
  CHECK(sink.mistake() == "it used the sink on a thread other than the query's");
}

TEST_CASE("a closed sink takes nothing") {
  ProviderSink sink;
  CHECK(axle_provider_feature(sink.c_sink(), "f", 0) == AXLE_PROVIDER_OK);
  sink.close();
  CHECK(axle_provider_value(sink.c_sink(), "v") == refused);
  CHECK(sink.features().front().values.empty());
}
