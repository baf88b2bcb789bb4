// Plumbing of oracles/: solves worlds in memory, one JSON line each.
//   resolver_worlds SEED COUNT PACKAGES RELEASES VARIANTS   makes them by chance
//   resolver_worlds                                         reads them from standard input
// Each line of the output is {"world": …, "answer": …}.
#define DOCTEST_CONFIG_IMPLEMENT
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/worlds/random_world.h"

namespace {

void print(const axle::testing::PublishedWorld& world) {
  const nlohmann::json line = {{"world", world}, {"answer", axle::testing::answer(world)}};
  std::cout << line.dump() << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  doctest::Context context;  // what a world cannot be made of ends the program
  context.setAsDefaultForAssertsOutOfTestCases();
  std::vector<std::uint32_t> numbers;
  for (int i = 1; i < count; ++i) {
    std::uint32_t number = 0;
    std::from_chars(arguments[i], arguments[i] + std::strlen(arguments[i]), number);
    numbers.push_back(number);
  }
  if (numbers.size() == 5) {
    for (std::uint32_t i = 0; i < numbers[1]; ++i) {
      print(axle::testing::random_world(
          numbers[0] + i,
          {.packages = numbers[2], .releases = numbers[3], .variants = numbers[4]}));
    }
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);)
    print(nlohmann::json::parse(line).get<axle::testing::PublishedWorld>());
  return 0;
}
