// Conditions on machines: their text, what contradicts itself, and what a machine meets.

#include "resolver/predicate/predicate.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "machines/selection.h"
#include "providers/provider.h"

namespace axle::resolver {
namespace {

Predicate parsed(std::string_view text) {
  auto predicate = parse_predicate(text);
  REQUIRE_MESSAGE(predicate.has_value(), text << ": " << predicate.error().message);
  return std::move(*predicate);
}

Error refused(std::string_view text) {
  auto predicate = parse_predicate(text);
  REQUIRE_FALSE_MESSAGE(predicate.has_value(), text);
  CHECK(predicate.error().kind == ErrorKind::malformed);
  return predicate.error();
}

TEST_CASE("a predicate is written as it was read, in one order") {
  for (const char* text :
       {"any machine",
        "system = linux",
        "arch = aarch64 and macos >= 14.0",
        "macos >= 11.0 and macos < 14.0",
        "driver >= 570.26 and sm in {80, 90}",
        "system = linux and arch = x86_64 and glibc >= 2.28 and driver >= 570.26 and sm = 90",
        "driver >= 570.26 and driver < 580.65.06",
        "sm = none",
        "sm in {none, 35}",
        "libc = glibc and glibc < 2.31",
        "musl >= 1.2",
        "x86_64 >= v3 and cpu has avx512_vnni",
        "cpu lacks amx_int8",
        "aarch64 >= 8.2a",
        "cuda >= 14.2",
        "driver = none",
        "property has \"acme :: level :: 3\"",
        "sm = 120+75",
        "rocm >= 6.4 and gfx = gfx942",
        "device in {20.1.4, 20.2.0}",
        "sm in {none, 80, 90, 120+75, mixed}",
        "tpu = true",
        "arch in {x86_64, aarch64}"}) {
    CAPTURE(text);
    const Predicate predicate = parsed(text);
    const std::string again = render_predicate(predicate);
    CHECK(parsed(again) == predicate);
    if (std::string_view(text) != "arch in {x86_64, aarch64}") CHECK(again == text);
  }
  CHECK(render_predicate(parsed("sm in {90,80}  and  driver >= 570.26 and arch = x86_64")) ==
        "arch = x86_64 and driver >= 570.26 and sm in {80, 90}");
  CHECK(render_predicate(parsed("sm in {90}")) == "sm = 90");
  CHECK(parsed("any machine").atoms.empty());
}

TEST_CASE("what no machine can meet, and what is no condition, is refused with a reason") {
  CHECK(refused("").message.contains("is no fact"));
  CHECK(refused("drivr >= 570.26").hint.contains("driver"));
  CHECK(refused("driver >= 571.1").hint.contains("570.26"));
  CHECK(refused("driver = 570.26").message.contains("not compared"));
  CHECK(refused("x86_64 >= v5").message.contains("v5"));
  CHECK(refused("cpu has avx513").hint.contains("avx512"));
  CHECK(refused("glibc >= two").message.contains("version"));
  CHECK(refused("cuda >= 12.8").hint.contains("570.26"));
  CHECK(refused("sm in {80").message.contains("brace"));
  CHECK(refused("sm in 80").message.contains("braces"));
  CHECK(refused("sm = 90 or sm = 80").message.contains("and"));
  CHECK(refused("sm = 90 and").message.contains("no fact"));
  CHECK(refused("property has acme").message.contains("quotes"));
  CHECK(refused("property has \"acme\"").hint.contains("namespace :: feature :: value"));
  CHECK(refused("sm = 90 and sm = 80").message.contains("two conditions"));
  CHECK(refused("driver >= 580.65.06 and driver < 570.26").message.contains("no machine"));
  CHECK(refused("driver < 570.26 and driver >= 580.65.06").message.contains("no machine"));
  CHECK(refused("driver >= 570.26 and driver = none").message.contains("no machine"));
  CHECK(refused("cpu has avx2 and cpu lacks avx2").message.contains("no machine"));
  CHECK(refused("x86_64 >= v3 and cpu lacks avx2").message.contains("no machine"));
  CHECK(refused("arch = aarch64 and cpu has avx2").message.contains("no machine"));
  CHECK(refused("x86_64 >= v2 and aarch64 >= 8a").message.contains("no machine"));
  CHECK(refused("libc = musl and glibc >= 2.28").message.contains("no machine"));
  CHECK(refused("system = darwin and glibc >= 2.28").message.contains("no machine"));
  CHECK(refused("system in {linux, windows} and macos >= 14.0").message.contains("no machine"));
  CHECK(refused("glibc >= 2.28 and macos >= 14.0").message.contains("no machine"));
  CHECK(refused("macos >= 15.0 and macos < 14.0").message.contains("no machine"));
  CHECK(refused("sm in {90, mixed}").message.contains("mixed"));
  CHECK(refused("arch in {x86_64, aarch64, mixed}").message.contains("mixed"));
  CHECK(refused(std::string(20000, 'x')).message.contains("16 KiB"));
}

TEST_CASE("a machine meets what it has, and what it has not") {
  const FactValues h100 = {{"system", "linux"},    {"arch", "x86_64"},
                           {"libc", "glibc 2.36"}, {"x86_64", "v4"},
                           {"cpu avx2", "has"},    {"driver", "12.8"},
                           {"sm", "90"},           {"property a :: b :: c", "has"}};
  const auto meets = [&](std::string_view text) { return misfits(parsed(text), h100).empty(); };
  for (const char* text :
       {"any machine", "driver >= 570.26", "driver < 575.51.03", "sm in {80, 90}", "sm = 90",
        "glibc >= 2.36", "glibc < 2.37", "libc = glibc", "x86_64 >= v4", "cpu has avx2",
        "cpu lacks amx_int8", "gfx = none", "rocm < 6.4", "musl < 1.2", "aarch64 < 8.2a",
        "arch in {aarch64, x86_64}", "property has \"a :: b :: c\"",
        "property lacks \"a :: b :: d\"", "npu = none"}) {
    CAPTURE(text);
    CHECK(meets(text));
  }
  for (const char* text :
       {"driver >= 575.51.03", "driver < 570.26", "sm in {80, 89}", "sm = none", "glibc < 2.36",
        "musl >= 1.1", "libc = musl", "x86_64 < v4", "cpu lacks avx2", "cpu has amx_int8",
        "gfx = gfx942", "system = darwin", "sm = 120+90", "property has \"a :: b :: d\""}) {
    CAPTURE(text);
    CHECK_FALSE(meets(text));
  }
}

TEST_CASE("GPUs of a set may be mixed where it says so") {
  const auto meets = [&](std::string_view text, const char* sm) {
    return misfits(parsed(text), FactValues{{"sm", sm}}).empty();
  };
  CHECK(meets("sm in {75, 90, 120, mixed}", "120+75"));
  CHECK(meets("sm in {75, 90, 120, mixed}", "120+90+75"));
  CHECK_FALSE(meets("sm in {75, 90, 120, mixed}", "120+89"));
  CHECK_FALSE(meets("sm in {75, 90, 120}", "120+75"));
  CHECK(meets("sm in {75, 90, 120+75}", "120+75"));
}

TEST_CASE("what is unknown of a machine counts as not there") {
  detect::Machine machine;
  detect::Gpu& gpu = machine.gpus.emplace_back();
  gpu.arch = "9.0";
  CHECK(misfits(parsed("sm = none and driver < 570.26 and x86_64 < v2"), machine, {}).empty());
  CHECK(misfits(parsed("sm = 90"), machine, {}).front().seen.contains("unknown"));
  gpu.usable = detect::Presence::present;
  CHECK(misfits(parsed("sm = 90"), machine, {}).empty());
  gpu.masked = true;
  CHECK_FALSE(misfits(parsed("sm = 90"), machine, {}).empty());
}

TEST_CASE("misfits say what the machine has, and the nearest class is the one with fewest") {
  CollectedReport report;
  const auto machines = machines::select_machines("nvidia:sm=90,driver=550.54.14", report);
  REQUIRE(machines.has_value());
  const detect::Machine& machine = machines->front().machine;
  const auto found = misfits(parsed("driver >= 570.26 and sm in {80, 90}"), machine, {});
  REQUIRE(found.size() == 1);
  CHECK(render_misfit(found.front()) == "driver >= 570.26 (driver 550.54.14 runs CUDA up to 12.4)");
  const std::vector<std::vector<Misfit>> all = {
      misfits(parsed("gfx = gfx942 and rocm >= 6.4"), machine, {}),
      misfits(parsed("arch = aarch64"), machine, {}), found};
  CHECK(nearest_of(all) == 2);
}

TEST_CASE("the facts of every shipped machine say all that providers say of it") {
  const auto shipped = machines::shipped_machines();
  REQUIRE(shipped.has_value());
  CHECK(shipped->size() > 100);
  for (const providers::GpuRule rule :
       {providers::GpuRule::all, providers::GpuRule::any, providers::GpuRule::first}) {
    const providers::GpuPolicy policy{rule};
    for (machines::NamedMachine named : *shipped) {
      CAPTURE(named.name);
      CollectedReport unheard;
      machines::complete_machine(named.machine, named.name, unheard);
      const FactValues facts = facts_of(named.machine, policy);
      const detect::Machine stated = machine_with(facts);
      CHECK(facts_of(stated, policy) == facts);
      for (const providers::Provider& provider : providers::builtin_providers()) {
        CAPTURE(provider.ns);
        CHECK(provider.supported(stated, policy) == provider.supported(named.machine, policy));
      }
    }
  }
}

TEST_CASE("every property of a built-in provider has facts behind it") {
  for (const providers::Provider& provider : providers::builtin_providers()) {
    for (const providers::Feature& feature : provider.all()) {
      for (const std::string& value : feature.values) {
        const wheel::Property property{std::string(provider.ns), feature.name, value};
        CAPTURE(wheel::render_property(property));
        CHECK(facts_behind(property).empty() == provider.every_value_fits);
        for (const std::string& fact : facts_behind(property))
          CHECK(find_fact_row(fact) != nullptr);
      }
    }
  }
}

}  // namespace
}  // namespace axle::resolver
