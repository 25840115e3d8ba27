// target.c - the GPUs we know, one row each.
//
// Limits (threads, registers, shared memory) are the architecture's, from the CUDA programming guide. Rates are what a
// good kernel reaches, not the data sheet's peak: device memory, L2, matmul and launch of the h200 row are measured (a
// read-only stream, our large products, which L2 feeds, cuBLAS on a large f16 matmul, kernels of a graph), its
// multiply-add and exponential rates estimated from the data sheet; the other rows, on which nothing was measured,
// scale the data sheet's peaks (for the GeForce cards and the B200, the architecture white papers of GA102, AD102,
// GB202 and Blackwell) by what that row reaches. Blackwell's rows go the way of sm_80: their products are mma.sync's,
// and their clusters and tensor copies are left out, because nobody has run ours there. The cost model (lib/search)
// compares schedules by these numbers, so their ratios matter more than their size.
#include "mirage/target.h"

#include <string.h>

static const MirageTarget TARGETS[] = {
    {
        .name = "h200",
        .name_without_maps = "h200 without tensor maps",
        .chip = "sm_90a",
        .ptx = "+ptx80",
        .compute_major = 9,
        .compute_minor = 0,
        .num_sms = 132,
        .num_sm_groups = 8,
        .max_cluster_blocks = 16,
        .shared_bytes_per_block = 232448,
        .shared_bytes_per_sm = 233472,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 2048,
        .dram_bytes_per_us = 4.0e6,
        .l2_bytes_per_us = 7.8e6,
        .matmul_flops_per_us = 761e6,
        .fma_flops_per_us = 60e6,
        .exp_per_us = 3.8e6,
        .launch_us = 1.05,
        .has_cluster = true,
        .has_tensor_copy = true,
        .has_wgmma = true,
    },
    {
        .name = "h100",
        .name_without_maps = "h100 without tensor maps",
        .chip = "sm_90a",
        .ptx = "+ptx80",
        .compute_major = 9,
        .compute_minor = 0,
        .num_sms = 132,
        .num_sm_groups = 8,
        .max_cluster_blocks = 16,
        .shared_bytes_per_block = 232448,
        .shared_bytes_per_sm = 233472,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 2048,
        .dram_bytes_per_us = 2.8e6,
        .l2_bytes_per_us = 7.8e6,
        .matmul_flops_per_us = 720e6,
        .fma_flops_per_us = 60e6,
        .exp_per_us = 3.8e6,
        .launch_us = 1.05,
        .has_cluster = true,
        .has_tensor_copy = true,
        .has_wgmma = true,
    },
    {
        .name = "a100",
        .chip = "sm_80",
        .ptx = "+ptx80",
        .compute_major = 8,
        .compute_minor = 0,
        .num_sms = 108,
        .shared_bytes_per_block = 166912,
        .shared_bytes_per_sm = 167936,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 2048,
        .dram_bytes_per_us = 1.7e6,
        .l2_bytes_per_us = 4.2e6,
        .matmul_flops_per_us = 260e6,
        .fma_flops_per_us = 17.5e6,
        .exp_per_us = 2.4e6,
        .launch_us = 1.2,
    },
    {
        .name = "rtx4090",
        .chip = "sm_89",
        .ptx = "+ptx80",
        .compute_major = 8,
        .compute_minor = 9,
        .num_sms = 128,
        .shared_bytes_per_block = 101376,
        .shared_bytes_per_sm = 102400,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 1536,
        .dram_bytes_per_us = 0.9e6,
        .l2_bytes_per_us = 4.5e6,
        .matmul_flops_per_us = 150e6,
        .fma_flops_per_us = 74e6,
        .exp_per_us = 5.0e6,
        .launch_us = 1.2,
    },
    {
        .name = "l4",
        .chip = "sm_89",
        .ptx = "+ptx80",
        .compute_major = 8,
        .compute_minor = 9,
        .num_sms = 58,
        .shared_bytes_per_block = 101376,
        .shared_bytes_per_sm = 102400,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 1536,
        .dram_bytes_per_us = 0.27e6,
        .l2_bytes_per_us = 1.6e6,
        .matmul_flops_per_us = 110e6,
        .fma_flops_per_us = 27e6,
        .exp_per_us = 1.8e6,
        .launch_us = 1.2,
    },
    {
        .name = "rtx3090",
        .chip = "sm_86",
        .ptx = "+ptx80",
        .compute_major = 8,
        .compute_minor = 6,
        .num_sms = 82,
        .shared_bytes_per_block = 101376,
        .shared_bytes_per_sm = 102400,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 1536,
        .dram_bytes_per_us = 0.8e6,
        .l2_bytes_per_us = 2.2e6,
        .matmul_flops_per_us = 62e6,
        .fma_flops_per_us = 31e6,
        .exp_per_us = 2.2e6,
        .launch_us = 1.2,
    },
    {
        .name = "b200",
        .chip = "sm_100",
        .ptx = "+ptx86",
        .compute_major = 10,
        .compute_minor = 0,
        .num_sms = 148,
        .shared_bytes_per_block = 232448,
        .shared_bytes_per_sm = 233472,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 2048,
        .dram_bytes_per_us = 6.6e6,
        .l2_bytes_per_us = 10e6,
        .matmul_flops_per_us = 700e6,
        .fma_flops_per_us = 67e6,
        .exp_per_us = 4.4e6,
        .launch_us = 1.2,
    },
    {
        .name = "rtx5090",
        .chip = "sm_120",
        .ptx = "+ptx87",
        .compute_major = 12,
        .compute_minor = 0,
        .num_sms = 170,
        .shared_bytes_per_block = 101376,
        .shared_bytes_per_sm = 102400,
        .registers_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 1536,
        .dram_bytes_per_us = 1.6e6,
        .l2_bytes_per_us = 6e6,
        .matmul_flops_per_us = 190e6,
        .fma_flops_per_us = 94e6,
        .exp_per_us = 6.5e6,
        .launch_us = 1.2,
    },
};

enum { NUM_TARGETS = sizeof TARGETS / sizeof *TARGETS };

const MirageTarget *mirage_target_get(size_t index) { return index < NUM_TARGETS ? &TARGETS[index] : NULL; }

const MirageTarget *mirage_target_find(const char *name) {
  if (!name)
    return NULL;
  for (size_t i = 0; i < NUM_TARGETS; i++)
    if (strcmp(TARGETS[i].name, name) == 0)
      return &TARGETS[i];
  for (size_t i = 0; i < NUM_TARGETS; i++)
    if (strcmp(TARGETS[i].chip, name) == 0)
      return &TARGETS[i];
  return NULL;
}

MirageTarget mirage_target_without_maps(const MirageTarget *target) {
  MirageTarget plain = *target;
  if (plain.has_tensor_copy)
    plain.name = plain.name_without_maps;
  plain.has_tensor_copy = false;
  return plain;
}
