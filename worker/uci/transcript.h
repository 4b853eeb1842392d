// The last lines to and from an engine, for the report when it fails. The memory is fixed: nothing
// is allocated while a game is played.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "server/common/str.h"

// A buffer of two halves. When one half is full, the other is emptied and filled next. So it holds
// the last 8 KiB at least, and the last 16 KiB at most.
enum { TAIL_HALF = 8 << 10, TRANSCRIPT_LINE_MAX = 480 };

typedef struct Tail {
    int at; // the half being filled
    size_t sizes[2];
    char bytes[2][TAIL_HALF];
} Tail;

void tail_clear(Tail *tail);

// Adds a line: '>' to the engine, '<' from the engine, '*' a remark of the referee. The middle of a
// long line, such as "position" with many moves, is left out.
void transcript_add(Tail *tail, char mark, const char *text, size_t size, int64_t now_ns);
// Prints lines such as "    1.234 > go depth 5", with the seconds since `start_ns`. bytes_text.h
// says how other bytes than text are printed.
void transcript_print(const Tail *tail, int64_t start_ns, Str *out);

// Adds bytes without a mark. Only the last bytes are kept.
void tail_add(Tail *tail, const char *bytes, size_t size);
// Prints the last TAIL_HALF bytes, in the form of bytes_text.h.
void tail_print(const Tail *tail, Str *out);
