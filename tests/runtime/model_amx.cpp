// The AMX kernel, unchanged, on the software model of the tiles.
#define AXLE_TILE_MODEL
#define kernel_set_amx_int8 model_amx_int8
#include "runtime/kernels/amx_int8.cpp"
