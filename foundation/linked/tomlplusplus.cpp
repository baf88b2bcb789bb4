// toml++, compiled into the program, for the reason in fmt.cpp.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
