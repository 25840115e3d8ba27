// tensor_map.c - the driver's form of tensor maps, and what the hardware asks of one.
//
// The driver answers a map that it cannot encode with INVALID_VALUE and nothing else, so everything that does not
// depend on the tensor's address is compared when a kernel is prepared. At a launch there is only the address, and that
// it is aligned is checked there. Source: the CUDA driver API, "Tensor Map Object Management" (limits), and the PTX
// ISA, "Tensors" (swizzle modes).
#include "runtime_impl.h"

static int64_t element_bytes(const MirageTensorMap *map) { return mirage_dtype_bytes(map->dtype); }

// The value that is out of range, and the rule.
typedef struct Complaint {
  const char *what, *rule;
  uint32_t dim;
  int64_t value;
} Complaint;

static bool complain(Complaint *complaint, const char *what, uint32_t dim, int64_t value, const char *rule) {
  *complaint = (Complaint){what, rule, dim, value};
  return false;
}

static bool check_dimension(const MirageTensorMap *map, uint32_t dim, Complaint *complaint) {
  if (map->extents[dim] < 1 || map->extents[dim] > (int64_t)1 << 32)
    return complain(complaint, "extent", dim, map->extents[dim], "1 .. 2^32 is possible");
  if (map->box[dim] < 1 || map->box[dim] > 256)
    return complain(complaint, "box", dim, map->box[dim], "1 .. 256 is possible");
  if (dim == 0 && map->strides[0] != element_bytes(map))
    return complain(complaint, "stride", dim, map->strides[0], "the size of an element is wanted");
  if (dim > 0 && (map->strides[dim] % 16 != 0 || map->strides[dim] < 0 || map->strides[dim] >= (int64_t)1 << 40))
    return complain(
        complaint, "stride", dim, map->strides[dim],
        "a multiple of 16 bytes below 2^40 is wanted: pad the rows of the tensor, or land it by async copies");
  return true;
}

static bool check_map(const MirageTensorMap *map, uint32_t num_pointers, Complaint *complaint) {
  if (map->rank < 1 || map->rank > MIRAGE_MAP_RANK)
    return complain(complaint, "rank", 0, map->rank, "1 .. 5 is possible");
  if (map->pointer >= num_pointers)
    return complain(complaint, "pointer", 0, map->pointer, "the kernel does not have as many");
  if (map->swizzle < 0 || map->swizzle > 3)
    return complain(complaint, "swizzle", 0, map->swizzle, "0 .. 3 is possible");
  for (uint32_t dim = 0; dim < map->rank; dim++)
    if (!check_dimension(map, dim, complaint))
      return false;
  int64_t row_bytes = map->box[0] * element_bytes(map);
  if (row_bytes % 16 != 0)
    return complain(complaint, "bytes of the box", 0, row_bytes, "a multiple of 16 is wanted");
  if (map->swizzle > 0 && row_bytes > 16 << map->swizzle)
    return complain(complaint, "bytes of the box", 0, row_bytes, "the swizzle takes no more than it exchanges within");
  return true;
}

MirageStatus mirage__tensor_maps_check(const MirageDevice *device, const char *kernel, uint32_t num_pointers,
                                       uint32_t num_maps, const MirageTensorMap *maps, const MirageDiag *diag) {
  if (num_maps > 0 && (device->info.compute_major < 9 || !device->cuda.tensor_map_encode))
    return mirage_diag_fail(
        diag, NULL, MIRAGE_UNSUPPORTED,
        "launch: %s: it copies by tensor maps, which %s (compute %d.%d, driver %d.%d) does not have: "
        "compile for this device",
        kernel, device->info.name, device->info.compute_major, device->info.compute_minor,
        device->info.driver_version / 1000, device->info.driver_version % 1000 / 10);
  if (num_maps > MIRAGE_MAX_KERNEL_MAPS)
    return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT, "launch: %s: %u tensor maps, at most %d are possible", kernel,
                            num_maps, MIRAGE_MAX_KERNEL_MAPS);
  for (uint32_t i = 0; i < num_maps; i++) {
    Complaint complaint;
    if (!check_map(&maps[i], num_pointers, &complaint))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "launch: %s: tensor map %u: %s %u is %lld: %s", kernel,
                              i, complaint.what, complaint.dim, (long long)complaint.value, complaint.rule);
  }
  return MIRAGE_OK;
}

static int element_type(MirageDType dtype) {
  switch (dtype) {
  case MIRAGE_F16:
    return CU_TENSOR_FLOAT16;
  case MIRAGE_BF16:
    return CU_TENSOR_BFLOAT16;
  case MIRAGE_F32:
    return CU_TENSOR_FLOAT32;
  default: // bytes: i8, i1 and f8
    return CU_TENSOR_UINT8;
  }
}

// What a miss brings into L2. Where rows begin in the midst of a line, each row of a box asks for two, and for their
// neighbours if these come in twos (H100, 2048 x 3000 x 3000: 73.5 us with 256 bytes, 62.1 with 128).
static int fetched(const MirageTensorMap *map) {
  enum { LINE = 128 };
  for (uint32_t dim = 1; dim < map->rank; dim++)
    if (map->strides[dim] % LINE != 0)
      return CU_TENSOR_L2_128_BYTES;
  return CU_TENSOR_L2_256_BYTES;
}

CuResult mirage__tensor_map_encode(const MirageDevice *device, const MirageTensorMap *map, uint64_t address,
                                   CuTensorMap *out_map) {
  uint64_t extents[MIRAGE_MAP_RANK], strides[MIRAGE_MAP_RANK];
  uint32_t box[MIRAGE_MAP_RANK], steps[MIRAGE_MAP_RANK];
  for (uint32_t dim = 0; dim < map->rank; dim++) {
    extents[dim] = (uint64_t)map->extents[dim];
    strides[dim] = (uint64_t)map->strides[dim];
    box[dim] = (uint32_t)map->box[dim];
    steps[dim] = 1;
  }
  return device->cuda.tensor_map_encode(out_map, element_type(map->dtype), map->rank, (void *)(uintptr_t)address,
                                        extents, strides + 1, box, steps, CU_TENSOR_NO_INTERLEAVE, map->swizzle,
                                        fetched(map), CU_TENSOR_FILL_ZERO);
}
