// linear_steps.h as OpenCL C 1.2, in front of which this text is put. No step in float may be
// fused.
#pragma OPENCL FP_CONTRACT OFF

#define AXLE_KERNEL(name, threads) \
  __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void name
#define AXLE_FUNCTION
#define AXLE_GLOBAL __global
#define AXLE_SHARED(type, name, count) __local type name[count]
#define AXLE_SHARED_POINTER(type) __local type*
#define AXLE_EACH_THREAD(threads) \
  for (uint thread = (uint)get_local_id(0), turn = 0; turn == 0; turn = 1, (void)thread)
#define AXLE_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define AXLE_BLOCK_X ((uint)get_group_id(0))
#define AXLE_BLOCK_Y ((uint)get_group_id(1))
#define AXLE_UNROLL

AXLE_FUNCTION uint axle_bits(float v) { return as_uint(v); }
AXLE_FUNCTION float axle_float(uint bits) { return as_float(bits); }
AXLE_FUNCTION float axle_add(float a, float b) { return a + b; }
AXLE_FUNCTION float axle_multiply(float a, float b) { return a * b; }
AXLE_FUNCTION int axle_dot(uint weight, uint activation, int sum) {
  const char4 w = as_char4(weight);
  const char4 a = as_char4(activation);
  return sum + (int)w.x * (int)a.x + (int)w.y * (int)a.y + (int)w.z * (int)a.z +
         (int)w.w * (int)a.w;
}
