// Reads the arguments of UCI's `go` into search limits.
#include "uci/go.h"

#include "base/words.h"
#include "rules/notation.h"

enum { GO_NUMBER_MAX = 1 << 30 };

// Numbers that follow their keyword. Clocks may be negative: some programs send a clock that has
// run below zero.
typedef struct GoNumber {
    const char *keyword;
    int64_t least, most;
    void (*take)(SearchLimits *limits, int64_t value);
} GoNumber;

static void take_wtime(SearchLimits *limits, int64_t value) {
    limits->time_ms[WHITE] = value;
    limits->has_clock = true;
}
static void take_btime(SearchLimits *limits, int64_t value) {
    limits->time_ms[BLACK] = value;
    limits->has_clock = true;
}
static void take_winc(SearchLimits *limits, int64_t value) {
    limits->increment_ms[WHITE] = value;
}
static void take_binc(SearchLimits *limits, int64_t value) {
    limits->increment_ms[BLACK] = value;
}
static void take_movestogo(SearchLimits *limits, int64_t value) {
    limits->moves_to_go = (int)value;
}
static void take_movetime(SearchLimits *limits, int64_t value) {
    limits->move_time_ms = value > 0 ? value : 1;
}
static void take_depth(SearchLimits *limits, int64_t value) {
    limits->depth = (int)value;
}
static void take_nodes(SearchLimits *limits, int64_t value) {
    limits->nodes = (uint64_t)value;
}
static void take_mate(SearchLimits *limits, int64_t value) {
    limits->mate = (int)value;
}

static const GoNumber NUMBERS[] = {
    {"wtime", -GO_NUMBER_MAX, INT64_C(1) << 40, take_wtime},
    {"btime", -GO_NUMBER_MAX, INT64_C(1) << 40, take_btime},
    {"winc", 0, GO_NUMBER_MAX, take_winc},
    {"binc", 0, GO_NUMBER_MAX, take_binc},
    {"movestogo", 0, 10000, take_movestogo},
    {"movetime", -GO_NUMBER_MAX, INT64_C(1) << 40, take_movetime},
    {"depth", 1, 10000, take_depth},
    {"nodes", 1, INT64_MAX, take_nodes},
    {"mate", 1, PLY_MAX, take_mate},
};

static const GoNumber *number_find(Word keyword) {
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        if (word_is(keyword, NUMBERS[i].keyword))
            return &NUMBERS[i];
    return NULL;
}

static Move word_to_move(Word word, const Position *pos) {
    char text[MOVE_TEXT_MAX];
    return word_copy(word, text, sizeof text) ? move_from_uci(pos, text) : MOVE_NONE;
}

// Reads moves up to the first word that is not a move. A move that is named twice counts once.
static const char *take_search_moves(const char *cursor, const Position *pos, MoveList *list) {
    for (;;) {
        const char *next = cursor;
        Move move = word_to_move(word_next(&next), pos);
        if (move == MOVE_NONE)
            return cursor;
        cursor = next;
        bool known = false;
        for (int i = 0; i < list->size; i++)
            known = known || list->moves[i] == move;
        if (!known)
            list->moves[list->size++] = move;
    }
}

bool uci_parse_go(const char *text, const Position *pos, SearchLimits *limits, const char **bad) {
    for (Word word; (word = word_next(&text)).length > 0;) {
        const GoNumber *number = number_find(word);
        if (number) {
            int64_t value;
            if (!word_to_int(word_next(&text), number->least, number->most, &value)) {
                *bad = word.text;
                return false;
            }
            number->take(limits, value);
        } else if (word_is(word, "infinite")) {
            limits->infinite = true;
        } else if (word_is(word, "ponder")) {
            limits->ponder = true;
        } else if (word_is(word, "searchmoves")) {
            text = take_search_moves(text, pos, &limits->search_moves);
        } else {
            *bad = word.text;
            return false;
        }
    }
    return true;
}
