// code_hash.c - what of compiled code a measurement depends on, as a number: PTX and launches, but no names.
//
// A time that was measured holds for this code and no other. The code generator, the planner, LLVM and the options are
// all in it, and what changes none of it changes no time.
#include "mirage/codegen.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

// Kernels are called NAME_k0, NAME_k1 ...: the length of NAME, which is in front of parameters too.
static size_t name_length(const char *kernel) {
  const char *end = strrchr(kernel, '_');
  return end ? (size_t)(end - kernel) : 0;
}

static void add_ptx(XXH3_state_t *state, const char *ptx, const char *kernel) {
  size_t length = name_length(kernel);
  char name[160];
  if (length && length + 3 < sizeof name) {
    memcpy(name, kernel, length);
    memcpy(name + length, "_k", 3);
    for (const char *at; (at = strstr(ptx, name)); ptx = at + length)
      XXH3_64bits_update(state, ptx, (size_t)(at - ptx));
  }
  XXH3_64bits_update(state, ptx, strlen(ptx));
}

static void add_numbers(XXH3_state_t *state, uint32_t count, const int64_t *numbers) {
  XXH3_64bits_update(state, numbers, count * sizeof *numbers);
}

static void add_map(XXH3_state_t *state, const MirageTensorMap *map) {
  add_numbers(state, 4, (int64_t[]){map->pointer, map->dtype, map->rank, map->swizzle});
  for (uint32_t d = 0; d < map->rank; d++)
    add_numbers(state, 3, (int64_t[]){map->extents[d], map->strides[d], map->box[d]});
}

static void add_launch(XXH3_state_t *state, const MirageCustomAttrs *attrs) {
  const MirageLaunch *launch = attrs->launch;
  int64_t grid[3];
  mirage_custom_launch_grid(attrs, grid);
  add_numbers(state, 3, grid);
  add_numbers(state, 3, attrs->cluster);
  add_numbers(state, 6,
              (int64_t[]){launch->threads, launch->shared_bytes, launch->workspace_bytes, launch->num_maps,
                          launch->starts_early, launch->in_pairs});
  for (uint32_t i = 0; i < launch->num_maps; i++)
    add_map(state, &launch->maps[i]);
}

uint64_t mirage_code_hash(const MirageUGraph *graph, const MirageCode *code) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  const char *kernel = "";
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op != MIRAGE_OP_CUSTOM || !node.attrs->custom.launch)
      continue;
    add_launch(&state, &node.attrs->custom);
    kernel = node.attrs->custom.launch->kernel;
  }
  add_ptx(&state, code->ptx, kernel);
  uint64_t hash = XXH3_64bits_digest(&state);
  return hash ? hash : 1; // 0 stands for none
}
