// `eval` and `net`: static evaluations of positions, and a description of a net.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "eval/eval.h"
#include "nnue/kernel.h"
#include "rules/bitboard.h"
#include "rules/pgn.h"
#include "search/evaluator.h"

enum { FEN_LINE_MAX = 256 };

// ---- one position ------------------------------------------------------------------------------

typedef struct Features {
    int count;
    long index_sum, sum;
    NetRow values;
} Features;

static Features features_of(const Network *net, const Position *pos, Color view) {
    Features features = {0};
    Square king = position_king(pos, view);
    for (Bitboard pieces = position_occupied(pos) & ~pos->by_type[KING]; pieces; features.count++) {
        Square s = bitboard_pop(&pieces);
        features.index_sum += net_index(view, king, pos->board[s], s);
    }
    network_accumulate(net, pos, view, features.values);
    for (int i = 0; i < NET_WIDTH; i++)
        features.sum += features.values[i];
    return features;
}

static void print_bytes(const char *name, const uint8_t *values) {
    printf(", \"%s\": [", name);
    for (int i = 0; i < NET_HIDDEN; i++)
        printf("%s%d", i ? ", " : "", values[i]);
    putchar(']');
}

static void print_features(const Network *net, const Position *pos) {
    char fen[FEN_MAX];
    MoveList moves;
    NetTrace trace;
    int clipped = 0;
    Features view[COLOR_NB] = {features_of(net, pos, WHITE), features_of(net, pos, BLACK)};
    network_trace(net, view[pos->side].values, view[color_flip(pos->side)].values, &trace);
    for (int i = 0; i < NET_INPUTS; i++)
        clipped += trace.clipped[i];
    movegen_legal(pos, &moves);
    printf("{\"fen\": \"%s\", \"raw\": %d, \"value\": %d", position_to_fen(pos, fen), trace.raw,
           trace.raw / 16);
    printf(", \"in_check\": %s, \"legal_moves\": %d", pos->checkers ? "true" : "false", moves.size);
    printf(", \"features\": [%d, %d]", view[WHITE].count, view[BLACK].count);
    printf(", \"index_sum\": [%ld, %ld]", view[WHITE].index_sum, view[BLACK].index_sum);
    printf(", \"acc_sum\": [%ld, %ld]", view[WHITE].sum, view[BLACK].sum);
    printf(", \"clipped_sum\": %d", clipped);
    print_bytes("h1", trace.h1);
    print_bytes("h2", trace.h2);
    puts("}");
}

static void print_position(const Network *net, bool with_features, const Position *pos,
                           const char *fen) {
    if (with_features) {
        print_features(net, pos);
    } else if (net) {
        printf("%d\n", network_evaluate(net, pos));
    } else {
        Score score = position_evaluate(pos, NULL);
        printf("%d %s\n", pos->side == WHITE ? score : -score, fen);
    }
}

// ---- commands ----------------------------------------------------------------------------------

static int eval_lines(const Network *net, bool with_features) {
    char line[FEN_LINE_MAX];
    int status = 0;
    while (fgets(line, sizeof line, stdin)) {
        Position pos;
        Refusal err;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0')
            continue;
        if (epd_read(line, false, &pos, NULL, &err)) {
            print_position(net, with_features, &pos, line);
        } else {
            fprintf(stderr, "anvil: %s: %s\n", line, err.message);
            status = 1;
        }
    }
    return status;
}

static bool read_eval_arguments(int argc, char **argv, const char **name, bool *with_features) {
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--features") == 0)
            *with_features = true;
        else if (strcmp(argv[i], "--net") == 0 && i + 1 < argc)
            *name = argv[++i];
        else
            return false;
    return true;
}

const char EVAL_USAGE[] =
    "usage: eval [--net FILE|none] [--features] < POSITIONS\n"
    "Prints one line for each FEN or EPD: the raw output of the net. Without a net the line has\n"
    "the classical evaluation in centipawns, seen by White, and the position.\n"
    "  --net FILE|none   net to use (the default net); none: the classical evaluation\n"
    "  --features        prints the values of all layers of the net, as JSON\n";

int command_eval(int argc, char **argv) {
    const char *name = "<default>";
    bool with_features = false;
    Network own;
    const Network *net;
    Refusal err;
    if (!read_eval_arguments(argc, argv, &name, &with_features))
        return COMMAND_MISUSED;
    if (!network_choose(name, &own, &net, &err)) {
        fprintf(stderr, "anvil: %s\n", err.message);
        return 1;
    }
    if (with_features && !net) {
        fputs("anvil: eval: --features needs a net\n", stderr);
        return COMMAND_MISUSED;
    }
    rules_init();
    eval_init();
    int status = eval_lines(net, with_features);
    network_release(&own);
    return status;
}

static int write_published(const Network *net, const char *path) {
    size_t size;
    uint8_t *bytes = network_write(net, &size);
    FILE *file = fopen(path, "wb");
    bool fine = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) != 0)
        fine = false;
    free(bytes);
    if (!fine)
        fprintf(stderr, "anvil: net: %s: %s\n", path, strerror(errno));
    return fine ? 0 : 1;
}

static int largest_weight(const Network *net) {
    int largest = 0;
    for (uint32_t r = 0; r < net->row_count; r++)
        for (int i = 0; i < NET_WIDTH; i++)
            largest = abs(net->rows[r][i]) > largest ? abs(net->rows[r][i]) : largest;
    return largest;
}

static void describe(const Network *net) {
    int classes = 0;
    for (int king = 0; king < 64; king++)
        classes += net->row_class[king] == king;
    printf("rows            : %u, %d kinds of king squares\n", net->row_count, classes);
    printf("largest weight  : %d\n", largest_weight(net));
    printf("kernel          : %s\n", net->kernel->name);
}

const char NET_USAGE[] =
    "usage: net FILE|'<default>' [--published OUT]\n"
    "Describes a net.\n"
    "  --published OUT   writes the net in the published form, 21 MB, to OUT\n";

int command_net(int argc, char **argv) {
    Network own;
    const Network *net;
    Refusal err;
    bool is_written = argc == 3 && strcmp(argv[1], "--published") == 0;
    if ((argc != 1 && !is_written) || argv[0][0] == '-')
        return COMMAND_MISUSED;
    if (!network_choose(argv[0], &own, &net, &err)) {
        fprintf(stderr, "anvil: %s\n", err.message);
        return 1;
    }
    if (!net) {
        fputs("anvil: net: this engine has no default net\n", stderr);
        return 1;
    }
    describe(net);
    int status = is_written ? write_published(net, argv[2]) : 0;
    network_release(&own);
    return status;
}
