// target.c - the GPUs we know, one row each.
//
// Limits (threads, registers, shared memory) are the architecture's, from the CUDA programming guide. Rates are what a
// good kernel reaches, not the data sheet's peak: device memory, L2, matmul and launch of the h200 row are measured (a
// read-only stream, our large products, which L2 feeds, cuBLAS on a large f16 matmul, kernels of a graph), its
// multiply-add and exponential rates estimated from the data sheet. The h100 row is the same chip's: device memory is measured as
// the h200's is (50 to 270 MB are read at 0.715 of its rate), a large f16 matmul runs as fast on it. The other rows, on which nothing was measured,
// scale the data sheet's peaks (for the GeForce cards and the B200, the architecture white papers of GA102, AD102,
// GB202 and Blackwell) by what that row reaches. Blackwell's rows go the way of sm_80: their products are mma.sync's,
// and their clusters and tensor copies are left out, because nobody has run ours there. The cost model (lib/search)
// compares schedules by these numbers, so their ratios matter more than their size.
#include "mirage/target.h"

#include <stdio.h>
#include <string.h>

static const MirageTarget TARGETS[] = {
    {
        .name = "h200",
        .name_without_maps = "h200 without tensor maps",
        .chip = "sm_90a",
        .ptx = "+ptx80",
        .ptx_f8 = "+ptx84",
        .ptx_meet = "+ptx86",
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
        .ptx_f8 = "+ptx84",
        .ptx_meet = "+ptx86",
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
        .dram_bytes_per_us = 2.86e6,
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
        .ptx_f8 = "+ptx84",
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
        .ptx_f8 = "+ptx84",
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
        .ptx_f8 = "+ptx86",
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
        .ptx_f8 = "+ptx87",
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

// What else people type. Chips without the letter for their architecture's own features mean the one with it here.
static const struct {
  const char *alias, *name;
} ALIASES[] = {
    {"sm90", "h200"},    {"hopper", "h200"},      {"gh200", "h200"},     {"sm90a", "h200"},  {"ampere", "a100"},
    {"ada", "rtx4090"},  {"lovelace", "rtx4090"}, {"blackwell", "b200"}, {"sm100a", "b200"}, {"sm120a", "rtx5090"},
    {"4090", "rtx4090"}, {"3090", "rtx3090"},     {"5090", "rtx5090"},
};

enum { MAX_NAME = 32 };

// Small letters and digits alone, without a maker's name before them. False when it is too long for any of ours.
static bool plain(const char *name, char out[MAX_NAME]) {
  size_t length = 0;
  for (; *name; name++) {
    char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
    if (c == '-' || c == '_' || c == ' ')
      continue;
    if (length + 1 == MAX_NAME)
      return false;
    out[length++] = c;
  }
  out[length] = '\0';
  static const char *const makers[] = {"nvidia", "geforce"};
  for (int i = 0; i < 2; i++)
    if (strncmp(out, makers[i], strlen(makers[i])) == 0)
      memmove(out, out + strlen(makers[i]), strlen(out + strlen(makers[i])) + 1);
  return out[0] != '\0';
}

static const MirageTarget *find_plain(const char *name) {
  char text[MAX_NAME];
  for (size_t i = 0; i < NUM_TARGETS; i++)
    if (plain(TARGETS[i].name, text) && strcmp(text, name) == 0)
      return &TARGETS[i];
  for (size_t i = 0; i < NUM_TARGETS; i++)
    if (plain(TARGETS[i].chip, text) && strcmp(text, name) == 0)
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

const MirageTarget *mirage_target_find(const char *name) {
  char text[MAX_NAME];
  if (!name || !plain(name, text))
    return NULL;
  for (size_t i = 0; i < sizeof ALIASES / sizeof *ALIASES; i++)
    if (strcmp(ALIASES[i].alias, text) == 0)
      return find_plain(ALIASES[i].name);
  return find_plain(text);
}

// Insertions, deletions and exchanges from one to the other [Levenshtein].
static size_t distance(const char *a, const char *b) {
  size_t row[MAX_NAME + 1], length = strlen(b);
  for (size_t j = 0; j <= length; j++)
    row[j] = j;
  for (size_t i = 1; a[i - 1]; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= length; j++) {
      size_t change = diagonal + (a[i - 1] != b[j - 1]), least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
      diagonal = row[j];
      row[j] = change < least ? change : least;
    }
  }
  return row[length];
}

void mirage_target_list(const char *wanted, char *text, size_t size) {
  char given[MAX_NAME], name[MAX_NAME];
  size_t used = 0, nearest = 3; // further is not near
  const char *near = NULL;
  text[0] = '\0';
  for (size_t i = 0; i < NUM_TARGETS && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", i ? ", " : "", TARGETS[i].name, TARGETS[i].chip);
    size_t far = wanted && plain(wanted, given) && plain(TARGETS[i].name, name) ? distance(given, name) : nearest;
    if (far < nearest) {
      nearest = far;
      near = TARGETS[i].name;
    }
  }
  if (near && used < size)
    snprintf(text + used, size - used, "; is %s meant?", near);
}
