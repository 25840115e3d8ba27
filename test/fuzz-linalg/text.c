// text.c - text that grows. A test program: it ends where memory does.
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_append(Text *text, const char *data, size_t size) {
  if (text->used + size + 1 > text->room) {
    text->room = 2 * (text->used + size + 1);
    text->data = realloc(text->data, text->room);
    if (!text->data)
      abort();
  }
  memcpy(text->data + text->used, data, size);
  text->used += size;
  text->data[text->used] = '\0';
}

void text_add(Text *text, const char *format, ...) {
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof line)
    abort(); // no line of ours is as long
  text_append(text, line, (size_t)length);
}

void text_print(MlirStringRef part, void *user) { text_append(user, part.data, part.length); }

void text_clear(Text *text) {
  text->used = 0;
  if (text->data)
    text->data[0] = '\0';
}

void text_free(Text *text) {
  free(text->data);
  *text = (Text){0};
}
