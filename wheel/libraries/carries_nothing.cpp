// Of every program but the one of cmake/release/, whose table CMake writes.
#include "wheel/libraries/opened_libraries.h"

namespace axle::wheel {

void* carried_function(std::string_view) { return nullptr; }

}  // namespace axle::wheel
