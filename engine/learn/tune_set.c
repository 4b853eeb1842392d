// The tuner's positions: how often each value counts in them, read from games.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "learn/gamefile.h"
#include "learn/tune.h"
#include "rules/error.h"
#include "search/see.h"

enum {
    VALIDATION_ONE_IN = 10, // games
    PLY_LEAST = 16,         // earlier positions are part of the opening
    SCORE_MOST = 2000,      // beyond this the game is decided
};

// ---- a set -------------------------------------------------------------------------------------

// Returns the array with room for one more element of `size` bytes after `count` elements.
static void *grown(void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity + *capacity / 2 : 1024;
    void *bigger = realloc(array, *capacity * size);
    if (!bigger) {
        fputs("anvil: out of memory; try fewer --positions\n", stderr);
        exit(EXIT_FAILURE);
    }
    return bigger;
}

static void add_item(TuneSet *set, int index, int count) {
    set->items = grown(set->items, set->item_count, &set->item_capacity, sizeof *set->items);
    set->items[set->item_count++] = (TuneItem){(uint16_t)index, (int16_t)count};
}

// Adds the values of one kind that have a count, and returns how many there are.
static uint16_t add_items(TuneSet *set, ValueKind kind, const int16_t *plus, const int16_t *minus) {
    size_t before = set->item_count;
    for (int row = 0, first = 0; row < EVAL_ROW_COUNT; first += EVAL_ROWS[row++].count) {
        if (EVAL_ROWS[row].kind != kind)
            continue;
        for (int i = first; i < first + EVAL_ROWS[row].count; i++) {
            int count = plus[i] - (minus ? minus[i] : 0);
            if (count)
                add_item(set, i, count);
        }
    }
    return (uint16_t)(set->item_count - before);
}

void tune_set_add(TuneSet *set, const EvalTrace *trace, double result) {
    TunePosition pos = {.first = set->item_count,
                        .phase = (uint8_t)trace->phase,
                        .scale = {(uint8_t)trace->scale[WHITE], (uint8_t)trace->scale[BLACK]},
                        .rule50 = (uint8_t)trace->rule50,
                        .side = (uint8_t)trace->side,
                        .result = (float)result};
    const int16_t *white = trace->counts[WHITE], *black = trace->counts[BLACK];
    pos.linear = add_items(set, VALUE_LINEAR, white, black);
    pos.dangers[WHITE] = add_items(set, VALUE_DANGER, white, NULL);
    pos.dangers[BLACK] = add_items(set, VALUE_DANGER, black, NULL);
    pos.winnable = add_items(set, VALUE_WINNABLE, white, NULL);
    set->positions = grown(set->positions, set->count, &set->capacity, sizeof *set->positions);
    set->positions[set->count++] = pos;
}

void tune_set_release(TuneSet *set) {
    free(set->positions);
    free(set->items);
    *set = (TuneSet){0};
}

void tune_data_release(TuneData *data) {
    tune_set_release(&data->training);
    tune_set_release(&data->validation);
}

// ---- from games --------------------------------------------------------------------------------

// True for quiet positions after the opening, since the evaluation is meant for quiet positions.
static bool is_worth_learning(const GameFileRecord *game, int i, const Position *pos) {
    const ScoredMove *move = &game->moves[i];
    return game_record_ply(game, i) >= PLY_LEAST && abs(move->score) <= SCORE_MOST &&
           scored_move_is_quiet(pos, move->move) && !see_wins_material(pos);
}

static size_t positions_of(const TuneData *data) {
    return data->training.count + data->validation.count;
}

static void add_game(TuneData *data, const GameFileRecord *game, size_t positions_max) {
    bool validates = ++data->games % VALIDATION_ONE_IN == 0;
    TuneSet *set = validates ? &data->validation : &data->training;
    Position pos = game->start;
    for (int i = 0; i < game->plies && positions_of(data) < positions_max; i++) {
        EvalTrace trace;
        Undo undo;
        data->seen++;
        if (is_worth_learning(game, i, &pos)) {
            eval_trace(&pos, &trace);
            if (!trace.is_known)
                tune_set_add(set, &trace, game->result / 2.0);
        }
        position_make(&pos, game->moves[i].move, &undo);
    }
}

static bool load_file(TuneData *data, const char *path, size_t positions_max, Refusal *err) {
    GameReader reader;
    GameFileRecord game;
    Refusal why;
    if (!game_reader_open(&reader, path, &why))
        return refused(err, "%.90s: %s", path, why.message);
    GameReadStatus status = GAME_READ;
    while (positions_of(data) < positions_max &&
           (status = game_reader_next(&reader, &game, &why)) == GAME_READ)
        add_game(data, &game, positions_max);
    if (status == GAME_DAMAGED)
        fprintf(stderr, "anvil: %s: %s\n", path, why.message);
    game_reader_close(&reader);
    return true;
}

static int is_chunk(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return strncmp(entry->d_name, "games-", 6) == 0 && length > 6 &&
           strcmp(entry->d_name + length - 6, ".anvil") == 0;
}

static bool load_folder(TuneData *data, const char *path, struct dirent **entries, int count,
                        size_t positions_max, Refusal *err) {
    bool good = count > 0;
    if (!good)
        snprintf(err->message, sizeof err->message, "%.100s: has no games-*.anvil", path);
    for (int i = 0; i < count && good; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        good = load_file(data, file, positions_max, err);
    }
    return good;
}

bool tune_data_load(TuneData *data, const char *path, size_t positions_max, Refusal *err) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_chunk, alphasort);
    if (count < 0 && errno == ENOTDIR)
        return load_file(data, path, positions_max, err);
    if (count < 0) {
        snprintf(err->message, sizeof err->message, "%.100s: %s", path, strerror(errno));
        return false;
    }
    bool good = load_folder(data, path, entries, count, positions_max, err);
    while (count > 0)
        free(entries[--count]);
    free(entries);
    return good;
}
