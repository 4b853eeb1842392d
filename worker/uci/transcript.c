// See transcript.h.
#include "worker/uci/transcript.h"

#include <inttypes.h>
#include <string.h>

#include "server/common/bytes_text.h"

enum { HEAD_SIZE = 320 }; // bytes that are kept from the beginning of a long line

typedef struct Entry {
    int64_t at_ns;
    uint16_t size;
    char mark;
} Entry;

void tail_clear(Tail *tail) {
    tail->at = 0;
    tail->sizes[0] = tail->sizes[1] = 0;
}

// Reserves `size` contiguous bytes, at most TAIL_HALF.
static char *tail_room(Tail *tail, size_t size) {
    if (tail->sizes[tail->at] + size > TAIL_HALF) {
        tail->at ^= 1;
        tail->sizes[tail->at] = 0;
    }
    char *room = tail->bytes[tail->at] + tail->sizes[tail->at];
    tail->sizes[tail->at] += size;
    return room;
}

void transcript_add(Tail *tail, char mark, const char *text, size_t size, int64_t now_ns) {
    static const char cut[] = " ... ";
    size_t kept = size <= TRANSCRIPT_LINE_MAX ? size : TRANSCRIPT_LINE_MAX;
    Entry entry = {now_ns, (uint16_t)kept, mark};
    char *room = tail_room(tail, sizeof entry + kept);
    memcpy(room, &entry, sizeof entry);
    room += sizeof entry;
    if (kept == size) {
        memcpy(room, text, size);
        return;
    }
    size_t end = kept - HEAD_SIZE - (sizeof cut - 1);
    memcpy(room, text, HEAD_SIZE);
    memcpy(room + HEAD_SIZE, cut, sizeof cut - 1);
    memcpy(room + kept - end, text + size - end, end);
}

static void print_entry(const Entry *entry, const char *text, int64_t start_ns, Str *out) {
    int64_t ms = (entry->at_ns - start_ns) / 1000000;
    str_printf(out, "%5" PRId64 ".%03d %c ", ms / 1000, (int)(ms < 0 ? 0 : ms % 1000), entry->mark);
    bytes_text_add(out, text, entry->size);
    str_putc(out, '\n');
}

void transcript_print(const Tail *tail, int64_t start_ns, Str *out) {
    for (int turn = 1; turn >= 0; turn--) {
        int half = tail->at ^ turn;
        for (size_t at = 0; at < tail->sizes[half];) {
            Entry entry;
            memcpy(&entry, tail->bytes[half] + at, sizeof entry);
            at += sizeof entry;
            print_entry(&entry, tail->bytes[half] + at, start_ns, out);
            at += entry.size;
        }
    }
}

void tail_add(Tail *tail, const char *bytes, size_t size) {
    if (size > TAIL_HALF) {
        bytes += size - TAIL_HALF;
        size = TAIL_HALF;
    }
    size_t room = TAIL_HALF - tail->sizes[tail->at], first = size < room ? size : room;
    if (first)
        memcpy(tail_room(tail, first), bytes, first);
    if (size > first)
        memcpy(tail_room(tail, size - first), bytes + first, size - first);
}

// Joins the halves first, because a UTF-8 character may be partly in each.
void tail_print(const Tail *tail, Str *out) {
    char bytes[2 * TAIL_HALF];
    int older = tail->at ^ 1;
    size_t size = tail->sizes[0] + tail->sizes[1];
    size_t skip = size > TAIL_HALF ? size - TAIL_HALF : 0;
    memcpy(bytes, tail->bytes[older], tail->sizes[older]);
    memcpy(bytes + tail->sizes[older], tail->bytes[tail->at], tail->sizes[tail->at]);
    bytes_text_add(out, bytes + skip, size - skip);
}
