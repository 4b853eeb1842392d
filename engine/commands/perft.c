// `perft`: counts the leaves of the move tree by root move, and measures the time.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/commands.h"
#include "rules/notation.h"

enum { PERFT_DEPTH_MAX = 20 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t divide(Position *pos, int depth) {
    MoveList list;
    uint64_t total = 0;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++) {
        char text[MOVE_TEXT_MAX];
        Undo undo;
        move_to_uci(pos, list.moves[i], text);
        position_make(pos, list.moves[i], &undo);
        uint64_t nodes = perft(pos, depth - 1);
        position_unmake(pos, list.moves[i], &undo);
        printf("%s: %" PRIu64 "\n", text, nodes);
        total += nodes;
    }
    return total;
}

// A FEN may come as one argument or as its fields.
static bool join_fen(int argc, char **argv, char out[FEN_MAX]) {
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < argc; i++) {
        int n = snprintf(out + length, FEN_MAX - length, "%s%s", i ? " " : "", argv[i]);
        length += (size_t)n;
        if (length >= FEN_MAX)
            return false;
    }
    return true;
}

static bool read_position(int argc, char **argv, Position *pos) {
    char fen[FEN_MAX];
    Refusal err = {"the FEN is too long"};
    if (argc == 0)
        return position_from_fen(pos, POSITION_START_FEN, false, &err);
    if (join_fen(argc, argv, fen) && position_from_fen(pos, fen, false, &err))
        return true;
    fprintf(stderr, "perft: FEN: %s\n", err.message);
    return false;
}

const char PERFT_USAGE[] = "usage: perft DEPTH [FEN]   (DEPTH: from 1 to 20)\n";
_Static_assert(PERFT_DEPTH_MAX == 20, "as the usage says");

int command_perft(int argc, char **argv) {
    char *end = NULL;
    long depth = argc > 0 ? strtol(argv[0], &end, 10) : 0;
    if (!end || end == argv[0] || *end || depth < 1 || depth > PERFT_DEPTH_MAX)
        return COMMAND_MISUSED;
    rules_init();
    Position pos;
    if (!read_position(argc - 1, argv + 1, &pos))
        return COMMAND_MISUSED;
    double start = seconds_now();
    uint64_t nodes = divide(&pos, (int)depth);
    double seconds = seconds_now() - start;
    printf("\nNodes searched  : %" PRIu64 "\n", nodes);
    printf("Time            : %.3f s\n", seconds);
    printf("Nodes/second    : %.0f\n", seconds > 0 ? (double)nodes / seconds : 0.0);
    return 0;
}
