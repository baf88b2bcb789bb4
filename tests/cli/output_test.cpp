#include "cli/output.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using axle::cli::Output;
using axle::cli::Style;
using axle::session::failed_to_choose;

TEST_CASE("failures carry the exit code that scripts rely on") {
  CHECK(axle::session::failed({axle::ErrorKind::unsupported, "x"}).error().exit_code == 1);
  CHECK(axle::session::failed_to_choose({axle::ErrorKind::unsupported, "x"}).error().exit_code ==
        3);
  CHECK(axle::session::failed_to_choose({axle::ErrorKind::conflict, "x"}).error().exit_code == 1);
  CHECK(axle::session::misused("x").error().exit_code == 2);
}

namespace {

/// An answer that counts how often each of its forms is made.
struct Counted {
  int texts = 0;
  int bodies = 0;

  axle::cli::Answer answer() {
    return {.text =
                [this] {
                  ++texts;
                  return std::string("answer\n");
                },
            .json =
                [this] {
                  ++bodies;
                  return nlohmann::ordered_json{{"answer", true}};
                }};
  }
};

}  // namespace

TEST_CASE("of an answer only the form that was asked for is made, and once") {
  Counted said;
  CHECK(Output({}).answer(said.answer(), 4) == 4);
  CHECK(said.texts == 1);
  CHECK(said.bodies == 0);
  CHECK(Output({.json = true}).answer(said.answer()) == 0);
  CHECK(said.texts == 1);
  CHECK(said.bodies == 1);
}

TEST_CASE("what is known beside a failure is made in one form too") {
  const auto misfit = failed_to_choose({axle::ErrorKind::unsupported, "x"}).error();
  Counted known;
  CHECK(Output({}).failure(misfit, known.answer()) == 3);
  CHECK(known.texts == 1);
  CHECK(known.bodies == 0);
  CHECK(Output({.json = true}).failure(misfit, known.answer()) == 3);
  CHECK(known.texts == 1);
  CHECK(known.bodies == 1);
  CHECK(Output({}).failure(misfit) == 3);
}

TEST_CASE("an error in JSON has kind, message and hint") {
  const auto usage = Output({}).error_json(axle::session::misused("what", "how").error());
  CHECK(usage.dump() == R"({"kind":"usage","message":"what","hint":"how"})");
  CHECK(Output({}).error_json(
            axle::session::failed({axle::ErrorKind::mismatch, "m"}).error())["kind"] == "mismatch");
}

TEST_CASE("text that is not UTF-8 cannot break the JSON") {
  const std::string text = axle::cli::render_json({{"name", "\xff\xfe"}});
  CHECK(nlohmann::json::accept(text));
}

TEST_CASE("colour only where it was asked for") {
  CHECK(Output({}).paint(Style::good, "x") == "x");
  CHECK(Output({.color = true}).paint(Style::good, "x") == "\033[32mx\033[0m");
}
