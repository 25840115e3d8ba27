// poison.h - memory that is ours but that nobody may use: AddressSanitizer reports whoever does, as if it had been freed.
#ifndef MIRAGE_SUPPORT_POISON_H
#define MIRAGE_SUPPORT_POISON_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MIRAGE_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define MIRAGE_ASAN 1
#endif
#ifdef MIRAGE_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(pointer, size) ASAN_POISON_MEMORY_REGION(pointer, size)
#define UNPOISON(pointer, size) ASAN_UNPOISON_MEMORY_REGION(pointer, size)
#else
#define POISON(pointer, size) ((void)(pointer), (void)(size))
#define UNPOISON(pointer, size) ((void)(pointer), (void)(size))
#endif

#endif
