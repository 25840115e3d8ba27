// actors.h - who carries out a block graph, and what passes between them: the part of a plan that code generation follows.
//
// An actor is a group of warps that runs code of its own; the actors of a block are its team. A channel carries values that
// move together from one actor to another, or out of memory: where they wait, how many rounds of them there is room for,
// and the signals that say when they are there and when their place is free. actors.c derives channels from what planning
// has decided.
//
// Example: a product of warpgroups, fed by a producer four stages ahead
//
//     actor 0    producer, warps 0..3, 40 registers
//     actor 1    consumers, warps 4..11, 240 registers
//     channel 0  loads 0 and 1 in loop 0, from actor 0 to actor 1 through shared memory, 4 stages
//                full: mbarriers 0..3, 49152 bytes;  free: mbarriers 4..7, 8 arrivals
#ifndef MIRAGE_LAYOUT_ACTORS_H
#define MIRAGE_LAYOUT_ACTORS_H

#include "mirage/ugraph.h"

typedef enum {
  ACTOR_THREADS,  // all warps of the block: they copy for themselves
  ACTOR_CONSUMER, // computes what others copied; all of them meet at CONSUMERS_BARRIER
  ACTOR_PRODUCER, // the first thread of the first one issues all copies; the rest wait at its side
  ACTOR_SIDE,     // all warps of the side blocks
} ActorKind;

typedef struct Actor {
  ActorKind kind;
  int32_t warps;
  int32_t registers; // of a thread; 0 = those that the block begins with
  int32_t blocks;    // of a side actor: how many
} Actor;

enum { MAX_ACTORS = MIRAGE_MAX_ROLES + 1, CONSUMERS_BARRIER = 1, TURNS_BARRIER = 2, ANY_BARRIER = 15 };
/// Bit i: actor i.
typedef uint32_t ActorSet;

/// Dimensions of a product that workers may divide among themselves.
typedef enum { DIVIDE_ROWS = 1, DIVIDE_COLUMNS = 2, DIVIDE_DEPTH = 4, DIVIDE_ANY = 7 } Divide;

/// Who works in a block, in the order of warps, and how they divide products. With no warps it is still open how many.
typedef struct Team {
  Actor actors[MAX_ACTORS];
  int32_t num_actors;
  Divide divide;
  bool swap;      // the second operand of a product comes first in the instruction
  int32_t groups; // of those who compute: each has every so manieth tile of the block to itself; 0 and 1: all share one
} Team;

/// How the tile of a load comes.
typedef enum {
  BY_OPEN,    // not decided yet
  BY_READER,  // straight from device memory, by who asks for it
  BY_THREADS, // cp.async
  BY_BULK,    // the copy engine, in rows
  BY_TENSOR,  // the copy engine, in boxes of the tensor
} LoadBy;

typedef enum {
  PLACE_SHARED, // shared memory of the block
  PLACE_CELLS,  // registers of the threads that computed them
  PLACE_STREAM, // straight from device memory, when they are asked for
  PLACE_PEER,   // shared memory of every block of the cluster
  PLACE_DEVICE, // slots in device memory
} ChannelPlace;

typedef enum {
  SIGNAL_NONE,
  SIGNAL_COPY_GROUP, // each thread waits for its own cp.async, then all meet at a barrier
  SIGNAL_BARRIER,    // that of the actors that read
  SIGNAL_MBARRIER,   // `first` and so on, one a stage
  SIGNAL_CLUSTER,    // the barrier of the cluster
  SIGNAL_FLAG,       // a counter in device memory
  SIGNAL_WORDS,      // each word of the value itself, which is zero before
} SignalKind;

typedef struct Signal {
  SignalKind kind;
  int32_t first;    // number of the first mbarrier
  int32_t arrivals; // that complete a phase of an mbarrier
  int64_t bytes;    // that a phase waits for besides
} Signal;

typedef struct Channel {
  MirageValue *values; // in textual order
  uint32_t num_values;
  ActorSet from, to;
  int32_t loop; // in each of whose iterations they move; -1 = once
  ChannelPlace place;
  int32_t stages;
  Signal full, free;
  bool multicast; // some of it is copied once for several blocks of a cluster
  int32_t lag;    // groups of matrix instructions that still read it in the iteration after
} Channel;

#endif
