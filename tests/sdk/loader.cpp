// This test program loads shared objects too, as `variant` does.
#include "providers/plugins/shared_object.h"

extern "C" int instead_of_tests(int argc, char** argv) {
  return axle::plugins::answer_if_asked(argc, argv).value_or(-1);
}
