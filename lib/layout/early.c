// early.c - which kernels start while the one before them runs, and where their blocks then find room.
//
// A kernel that starts after the one before it has the GPU to itself, and its blocks are dealt out evenly, neighbours of the grid
// beside each other. One that starts early takes the multiprocessors that the other leaves, in the order in which it leaves them
// (codegen_early.c). What follows from that (all of an H200, 64 MB read by 128 blocks):
//
//   Crowds      Multiprocessors of the one before are taken, but for a few, and all blocks would go there. So a kernel asks for as much
//               shared memory as leaves a multiprocessor no room for more than its share; and does not start early by itself
//               where shares are uneven: 136 blocks on 132 multiprocessors could then find two on every one of 68.
//   Gaps        A grid that leaves multiprocessors free is no longer spread over groups of them: 64 blocks in clusters of eight
//               take 16.0 us for 33 MB, 12.2 after the one before. Behind another program, which may have any grid, such a kernel starts
//               early only where it moves little.
//   Lines       Neighbours whose rows begin within a line of L2 that both read are to be close: there are two halves of L2, and what
//               both halves ask for comes twice. Pieces of 64 bytes: 19.3 us, 17.5 after the one before, 17.0 in clusters
//               of two, which lie beside each other, 16.0 with what they prefetch; shuffled 22.4. So such blocks stand in pairs;
//               and where a pair still shares a line with the next one, the kernel starts after the one before.
#include "plan.h"

#include <math.h>

enum {
  LINE_BYTES = 128,      // of L2
  LITTLE_BYTES = 8 << 20 // that a kernel moves wherever its blocks are
};
static const double full_waves = 0.6; // of the places on all multiprocessors, where a grid is more than one for each
static const double filled = 0.9;     // of the multiprocessors, that a grid of one block for each leaves no gaps

int64_t mirage__certain_sms(const MirageTarget *target, int64_t cluster) {
  int64_t unused = cluster > 1 && target->has_cluster ? target->num_sm_groups * (cluster - 1) : 0;
  return unused < target->num_sms ? target->num_sms - unused : 1;
}

// Multiprocessors on which they do where all groups are of about one size.
static int64_t likely_sms(const MirageTarget *target, int64_t cluster) {
  int64_t group = target->num_sm_groups > 0 ? target->num_sms / target->num_sm_groups : 0;
  int64_t places = target->num_sm_groups * (group / cluster * cluster);
  return cluster > 1 && target->has_cluster && places > 0 ? places : target->num_sms;
}

// Blocks that are launched; multiprocessors on which they find room; the most of them that one has to take.
typedef struct Share {
  double blocks, places;
  int64_t each;
} Share;

static Share share_of(const MirageCustomAttrs *custom, const MirageTarget *target) {
  int64_t grid[3], cluster = 1;
  mirage_custom_launch_grid(custom, grid);
  for (int a = 0; a < 3; a++)
    cluster *= custom->cluster[a];
  Share share = {.blocks = (double)grid[0] * (double)grid[1] * (double)grid[2],
                 .places = (double)likely_sms(target, cluster)};
  share.each = (int64_t)ceil(share.blocks / share.places);
  return share;
}

// Operands and results: each is read or written once at least.
static bool moves_little(const MirageUGraph *graph, MirageNode custom) {
  MirageNodeView node = mirage_ugraph_node(graph, custom);
  int64_t bytes = 0;
  for (uint32_t i = 0; i < node.num_operands; i++)
    bytes += mirage_type_bytes(mirage_ugraph_type(graph, node.operands[i]));
  for (uint32_t i = 0; i < node.num_results; i++)
    bytes += mirage_type_bytes(mirage_ugraph_type(graph, mirage_ugraph_result(graph, custom, i)));
  return bytes <= LITTLE_BYTES;
}

// Bytes of a line that a block reads where its neighbour along x reads on, or 0: blocks read whole lines, or the same ones.
static int64_t piece_of(const MirageUGraph *graph, const MirageNodeView *load) {
  const MirageAccessAttrs *access = &load->attrs->access;
  const MirageType *tensor = mirage_ugraph_type(graph, load->operands[0]);
  int8_t dim = access->grid[0];
  if (dim < 0 || mirage_access_dim(access, (uint32_t)dim) + 1 != tensor->rank)
    return 0;
  for (int l = 0; l < MIRAGE_MAX_LOOPS; l++)
    if (access->loop[l] == dim)
      return 0;
  int64_t bytes = mirage_ugraph_type(graph, load->first_result)->shape[dim] * mirage_dtype_bits(tensor->dtype) / 8;
  return bytes % LINE_BYTES && mirage_type_bytes(tensor) > LITTLE_BYTES ? bytes : 0;
}

// The piece of the load that is worst off: of which two do not fill lines, if there is one. 0: no lines are shared.
static int64_t shared_piece(const MirageUGraph *graph, MirageNode custom) {
  uint32_t count;
  MirageValue first = mirage_ugraph_kernel_values(graph, custom, &count);
  int64_t worst = 0;
  for (uint32_t i = 0; i < count; i++) {
    MirageNode def = mirage_ugraph_def(graph, (MirageValue){first.index + i});
    MirageNodeView view = mirage_ugraph_node(graph, def);
    int64_t piece = def.index && view.op == MIRAGE_OP_LOAD ? piece_of(graph, &view) : 0;
    if (piece && (!worst || PAIR * piece % LINE_BYTES))
      worst = piece;
  }
  return worst;
}

static bool may_pair(const MirageCustomAttrs *custom, const MirageTarget *target) {
  int64_t grid[3];
  mirage_custom_launch_grid(custom, grid);
  return target->has_cluster && custom->cluster[0] * custom->cluster[1] * custom->cluster[2] == 1 &&
         grid[0] % PAIR == 0;
}

bool mirage__stands_in_pairs(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target) {
  return may_pair(&mirage_ugraph_node(graph, custom).attrs->custom, target) && shared_piece(graph, custom) > 0;
}

bool mirage__starts_early(const MirageUGraph *graph, MirageNode custom, bool first, const MirageTarget *target) {
  const MirageCustomAttrs *attrs = &mirage_ugraph_node(graph, custom).attrs->custom;
  MirageStart start = attrs->schedule ? attrs->schedule->start : MIRAGE_START_AUTO;
  if (target->compute_major < 9 || start == MIRAGE_START_AFTER)
    return false;
  if (start == MIRAGE_START_EARLY)
    return true;
  Share share = share_of(attrs, target);
  if (share.each > 1 && share.blocks < full_waves * share.places * (double)share.each)
    return false;
  if (moves_little(graph, custom))
    return true;
  int64_t piece = shared_piece(graph, custom);
  bool close = attrs->cluster[0] % PAIR == 0 || may_pair(attrs, target);
  if (piece && (PAIR * piece % LINE_BYTES || !close))
    return false;
  return !first || share.each > 1 || share.blocks >= filled * share.places;
}

int64_t mirage__spread_bytes(const Block *block, bool first, const MirageTarget *target) {
  Share shares = share_of(mirage__block_custom(block), target);
  int64_t share = shares.each, bytes = mirage__block_shared_bytes(block);
  if (first && moves_little(block->graph, block->custom))
    return bytes;
  if (block->num_meetings > 0) // all may have to be there at once
    share = (int64_t)ceil(shares.blocks / (double)mirage__certain_sms(target, mirage__block_cluster(block)));
  int64_t most = target->max_threads_per_sm / (32 * mirage__team_warps(&block->team));
  most = most < MOST_RESIDENT ? most : MOST_RESIDENT;
  int64_t spread = target->shared_bytes_per_sm / (share + 1) / 128 * 128 - SYSTEM_BYTES + 128;
  return share >= most || spread < bytes || spread > target->shared_bytes_per_block ? bytes : spread;
}
