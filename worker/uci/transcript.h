// The end of what an engine was told and said, kept for the case that it fails: fixed memory, no
// allocation while a game is played.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "server/common/str.h"

// Filled half by half: when one is full, what the other held is forgotten. So the last 8 KiB are
// always there, and up to twice as much.
enum { TAIL_HALF = 8 << 10, TRANSCRIPT_LINE_MAX = 480 };

typedef struct Tail {
    int at; // the half being filled
    size_t sizes[2];
    char bytes[2][TAIL_HALF];
} Tail;

void tail_clear(Tail *tail);

// One line of a conversation: '>' to the engine, '<' from it, '*' the referee's own remark. Of a
// long line, as "position" with many moves, the middle is left out.
void transcript_add(Tail *tail, char mark, const char *text, size_t size, int64_t now_ns);
// Lines such as "    1.234 > go depth 5", with the seconds since `start_ns`; text as
// of bytes_text.h.
void transcript_print(const Tail *tail, int64_t start_ns, Str *out);

// Bytes as they come, of which only the last matter.
void tail_add(Tail *tail, const char *bytes, size_t size);
// At most TAIL_HALF of them, as bytes_text.h has it.
void tail_print(const Tail *tail, Str *out);
