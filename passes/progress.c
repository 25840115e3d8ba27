// progress.c - the line that says how far a pass has come.
//
// A line is put together from parts, the most telling first; on a terminal the last ones are left out when it is
// narrow. What is not known - the time left without a budget - is not guessed. Each line is one write, so that lines of
// several programs do not run into each other.
#define _DEFAULT_SOURCE         // struct winsize
#define _POSIX_C_SOURCE 200809L // open_memstream
#include "progress.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE = 400, MAX_PART = 160, MAX_NAME = 32 };

static const double live_after = 0.2, live_pace = 0.1; // seconds
static const double auto_after = 5, auto_pace = 10, plain_after = 1, plain_pace = 5, json_pace = 1;
static const double rate_window = 0.5; // over which states a second are measured

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ------------------------------------------------------------------------------------------------------------- the
// line

typedef struct Line {
  char text[MAX_LINE];
  size_t length, width;
  bool full;
} Line;

/// Adds a part unless it, or one before it, does not fit.
__attribute__((format(printf, 2, 3))) static void add(Line *line, const char *format, ...) {
  char part[MAX_PART];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(part, sizeof part, format, arguments);
  va_end(arguments);
  size_t length = strlen(part);
  line->full |= line->length + length > line->width;
  if (line->full)
    return;
  memcpy(line->text + line->length, part, length + 1);
  line->length += length;
}

/// 950, 12.3k, 4.56M.
static const char *count_text(double count, char buffer[16]) {
  static const char units[] = " kMGT";
  size_t unit = 0;
  while (count >= 999.5 && units[unit + 1]) {
    count /= 1000;
    unit++;
  }
  int digits = unit == 0 || count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2;
  snprintf(buffer, 16, "%.*f%.*s", digits, count, unit != 0, &units[unit]);
  return buffer;
}

/// The program's name, without what could move the cursor, and not too long.
static const char *name_text(const char *name, char buffer[MAX_NAME]) {
  size_t length = strlen(name), kept = length < MAX_NAME ? length : MAX_NAME - 4;
  for (size_t i = 0; i < kept; i++)
    buffer[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
  snprintf(buffer + kept, MAX_NAME - kept, "%s", kept < length ? "..." : "");
  return buffer;
}

static size_t terminal_width(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
    return 79;
  return size.ws_col <= MAX_LINE - 20 ? size.ws_col - 1u : MAX_LINE - 20; // a full line would wrap
}

static Line begin_line(const MirageProgress *progress) {
  char name[MAX_NAME];
  bool live = progress->mode == PROGRESS_LIVE;
  Line line = {.width = live ? terminal_width() : MAX_LINE - 20};
  add(&line, "%s@%s", live ? "" : "mirage: ", name_text(progress->name, name));
  return line;
}

static void write_line(MirageProgress *progress, const Line *line) {
  if (progress->mode == PROGRESS_LIVE)
    fprintf(stderr, "\r%s\033[K", line->text);
  else
    fprintf(stderr, "%s\n", line->text);
  progress->drawn = progress->mode == PROGRESS_LIVE;
}

/// Whether it is time for a line; sets when the next one is due.
static bool is_due(MirageProgress *progress) {
  double time = now();
  if (time < progress->next)
    return false;
  progress->next = time + progress->pace;
  return true;
}

static void add_time(Line *line, double seconds, double left) {
  add(line, ", %.1f s", seconds);
  if (isfinite(left))
    add(line, ", %.1f s left", left);
  else
    add(line, ", time left unknown");
}

// -------------------------------------------------------------------------------------------------------------- search

static const char *phase_text(MirageSearchPhase phase) {
  static const char *const names[] = {
      [MIRAGE_PHASE_PLANS] = "plans", [MIRAGE_PHASE_SCHEDULES] = "schedules", [MIRAGE_PHASE_PIECES] = "pieces"};
  return names[phase];
}

static void measure_rate(MirageProgress *progress, const MirageFunnel *funnel) {
  double seconds = funnel->seconds - progress->last_seconds;
  if (seconds < rate_window && progress->rate > 0)
    return;
  progress->rate = seconds > 0 ? (double)(funnel->states - progress->last_states) / seconds : 0;
  progress->last_seconds = funnel->seconds;
  progress->last_states = funnel->states;
}

static void add_cuts(Line *line, const MirageFunnel *funnel) {
  const struct {
    const char *label;
    uint64_t count;
  } cuts[] = {{"expression", funnel->cut_expr},
              {"axis", funnel->cut_axis},
              {"order", funnel->cut_order},
              {"merging", funnel->cut_merge},
              {"memory", funnel->cut_memory}};
  char text[16];
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    add(line, "%s %s by %s", i ? "," : ", cut", count_text((double)cuts[i].count, text), cuts[i].label);
}

// --------------------------------------------------------------------------------------------------------------- events

static _Thread_local MirageListener listener; // to the passes that this thread runs

void mirageSetEventCallback(MirageEventCallback callback, void *user) { listener = (MirageListener){callback, user}; }

MirageListener mirage__listener(void) { return listener; }

FILE *mirage__event_begin(MirageEvent *event, MirageListener to) {
  *event = (MirageEvent){.file = stderr, .listener = to};
  FILE *memory = to.callback ? open_memstream(&event->text, &event->size) : NULL;
  if (memory)
    event->file = memory;
  return event->file;
}

void mirage__event_end(MirageEvent *event) {
  if (event->file == stderr) {
    fputc('\n', stderr);
    return;
  }
  if (fclose(event->file) == 0)
    event->listener.callback(mlirStringRefCreate(event->text, event->size), event->listener.user);
  free(event->text);
}

static void print_search_json(const MirageProgress *progress, const MirageSearchProgress *search) {
  MirageEvent event;
  FILE *file = mirage__event_begin(&event, progress->listener);
  fputs("{\"event\":\"progress\",\"program\":", file);
  mirage__json_string(file, progress->name);
  fprintf(file, ",\"phase\":\"%s\",\"done\":%u,\"total\":%u,", phase_text(search->phase), search->done, search->total);
  mirage__json_funnel(file, &search->funnel);
  fputs(",\"states_per_second\":", file);
  mirage__json_number(file, progress->rate);
  fputs(",\"best_us\":", file);
  mirage__json_number(file, search->best_us);
  fputs(",\"seconds_left\":", file);
  mirage__json_number(file, search->seconds_left);
  fputc('}', file);
  mirage__event_end(&event);
}

static void print_search(MirageProgress *progress, const MirageSearchProgress *search) {
  const MirageFunnel *funnel = &search->funnel;
  char states[16], rate[16], graphs[16];
  Line line = begin_line(progress);
  add(&line, " %s", phase_text(search->phase));
  if (search->total)
    add(&line, " %u/%u", search->done, search->total);
  add(&line, ", %s states, %.1f s", count_text((double)funnel->states, states), funnel->seconds);
  if (isfinite(search->seconds_left))
    add(&line, ", %.1f s left", search->seconds_left);
  if (isfinite(search->best_us))
    add(&line, ", best <= %.2f us", search->best_us);
  if (!isfinite(search->seconds_left))
    add(&line, ", time left unknown");
  add(&line, ", %s graphs", count_text((double)funnel->structures, graphs));
  add(&line, ", %s states/s", count_text(progress->rate, rate));
  add_cuts(&line, funnel);
  write_line(progress, &line);
}

void mirage__progress_search(void *user, const MirageSearchProgress *search) {
  MirageProgress *progress = user;
  bool new_phase = progress->mode == PROGRESS_JSON && progress->phase != (int)search->phase;
  if (!is_due(progress) && !new_phase)
    return;
  progress->phase = (int)search->phase;
  measure_rate(progress, &search->funnel);
  if (progress->mode == PROGRESS_JSON)
    print_search_json(progress, search);
  else if (progress->mode != PROGRESS_NONE)
    print_search(progress, search);
}

// ---------------------------------------------------------------------------------------------------------- candidates

void mirage__progress_verify(MirageProgress *progress, uint32_t done, uint32_t total, const MirageVerifyProgress *at) {
  if (!is_due(progress) || progress->mode == PROGRESS_NONE)
    return;
  double seconds = now() - progress->start, left = done ? seconds / done * (total - done) : INFINITY;
  if (progress->mode == PROGRESS_JSON) {
    MirageEvent event;
    FILE *file = mirage__event_begin(&event, progress->listener);
    fputs("{\"event\":\"progress\",\"program\":", file);
    mirage__json_string(file, progress->name);
    fprintf(file, ",\"phase\":\"verify\",\"done\":%u,\"total\":%u", done, total);
    if (at)
      fprintf(file, ",\"piece\":%u,\"pieces\":%u,\"trial\":%u,\"trials\":%u", at->piece, at->pieces, at->trial,
              at->trials);
    fprintf(file, ",\"seconds\":%.3f,\"seconds_left\":", seconds);
    mirage__json_number(file, left);
    fputc('}', file);
    mirage__event_end(&event);
    return;
  }
  Line line = begin_line(progress);
  add(&line, " verify, %u of %u candidates", done, total);
  if (at && at->pieces)
    add(&line, ", piece %u of %u", at->piece, at->pieces);
  if (at)
    add(&line, ", trial %u of %u", at->trial, at->trials);
  add_time(&line, seconds, left);
  write_line(progress, &line);
}

// ----------------------------------------------------------------------------------------------------------------- the
// ends

static MirageProgressMode find_mode(const char *mode) {
  if (strcmp(mode, "live") == 0)
    return PROGRESS_LIVE;
  if (strcmp(mode, "json") == 0)
    return PROGRESS_JSON;
  if (strcmp(mode, "none") == 0)
    return PROGRESS_NONE;
  const char *terminal = getenv("TERM");
  bool draws = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
  return strcmp(mode, "auto") == 0 && draws ? PROGRESS_LIVE : PROGRESS_PLAIN;
}

void mirage__progress_begin(MirageProgress *progress, const char *mode, const char *name) {
  bool chosen = strcmp(mode, "auto") != 0;
  *progress =
      (MirageProgress){.name = name, .mode = find_mode(mode), .start = now(), .phase = -1, .listener = listener};
  switch (progress->mode) {
  case PROGRESS_LIVE:
    progress->next = progress->start + live_after;
    progress->pace = live_pace;
    break;
  case PROGRESS_JSON:
    progress->next = progress->start + json_pace;
    progress->pace = json_pace;
    break;
  default:
    progress->next = progress->start + (chosen ? plain_after : auto_after);
    progress->pace = chosen ? plain_pace : auto_pace;
  }
}

void mirage__progress_end(MirageProgress *progress) {
  if (progress->drawn)
    fputs("\r\033[K", stderr);
  progress->drawn = false;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

void mirage__json_string(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}

void mirage__json_number(FILE *file, double value) {
  if (isfinite(value))
    fprintf(file, "%.6g", value);
  else
    fputs("null", file);
}

void mirage__json_funnel(FILE *file, const MirageFunnel *funnel) {
  fprintf(file,
          "\"states\":%" PRIu64 ",\"cut\":{\"expression\":%" PRIu64 ",\"axis\":%" PRIu64 ",\"order\":%" PRIu64
          ",\"merging\":%" PRIu64 ",\"memory\":%" PRIu64 "},\"structures\":%" PRIu64 ",\"seconds\":%.3f",
          funnel->states, funnel->cut_expr, funnel->cut_axis, funnel->cut_order, funnel->cut_merge, funnel->cut_memory,
          funnel->structures, funnel->seconds);
}
