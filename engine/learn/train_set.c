// Reads game files and packs their positions.
#include "learn/train_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "learn/gamefile.h"
#include "learn/train_random.h"
#include "learn/train_trace.h"

const char *const train_drop_texts[DROP_NB] = {
    [DROP_NONE] = "kept",
    [DROP_EARLY] = "before ply 16",
    [DROP_LOUD] = "in check, or the move is a capture or a promotion",
    [DROP_LARGE] = "scores of more than 20 pawns",
    [DROP_ABSURD] = "winning scores in lost games",
};

// ---- the choice of positions -------------------------------------------------------------------

static bool is_absurd(int score, int result) {
    return (score >= TRAIN_SCORE_ABSURD && result == 0) ||
           (score <= -TRAIN_SCORE_ABSURD && result == 2);
}

DropReason train_drop_reason(const Position *pos, Move move, int ply, int score, int result) {
    if (ply < TRAIN_PLIES_LEAST)
        return DROP_EARLY;
    if (!scored_move_is_quiet(pos, move))
        return DROP_LOUD;
    if (abs(score) > TRAIN_SCORE_MOST)
        return DROP_LARGE;
    return is_absurd(score, result) ? DROP_ABSURD : DROP_NONE;
}

static bool is_validation(const GameFileHeader *header, uint64_t number, int per_cent) {
    uint64_t hash = random_mix(random_mix(header->seed) + header->first + number);
    return (int)(hash % 100) < per_cent;
}

static void positions_append(TrainPositions *list, const TrainPosition *packed) {
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 1 << 16;
        list->at = realloc(list->at, list->room * sizeof *list->at);
        if (!list->at) {
            fprintf(stderr, "anvil: out of memory for %zu positions\n", list->room);
            exit(EXIT_FAILURE);
        }
    }
    list->at[list->count++] = *packed;
}

// ---- one game ----------------------------------------------------------------------------------

typedef struct Loader {
    TrainSet *set;
    const TrainSetOptions *options;
    uint64_t random; // for the choice of probes
    PawnCache *pawns;
    GameReader reader;
    GameFileRecord game;
    int16_t targets[GAMEFILE_PLIES_MAX]; // one for each ply of the game
} Loader;

static int64_t kept_count(const TrainSet *set) {
    return set->dropped[DROP_NONE];
}
static bool loader_is_full(const Loader *loader) {
    return loader->options->limit > 0 && kept_count(loader->set) >= loader->options->limit;
}

// Reservoir sampling (Vitter's algorithm R, 1985): each position is as likely as any other.
static void offer_probe(Loader *loader, const Position *pos) {
    TrainSet *set = loader->set;
    uint32_t place = (uint32_t)set->probe_count;
    if (set->probe_count < TRAIN_PROBES)
        set->probe_count++;
    else
        place = random_index(&loader->random, (uint32_t)kept_count(set));
    if (place < TRAIN_PROBES)
        set->probes[place] = *pos;
}

static void keep(Loader *loader, const Position *pos, int score, bool validation) {
    TrainPosition packed;
    train_position_pack(pos, score, loader->game.result, &packed);
    if (validation)
        packed.classical = (int16_t)evaluate(pos, loader->pawns);
    positions_append(validation ? &loader->set->validation : &loader->set->training, &packed);
    offer_probe(loader, pos);
}

static void offer_position(Loader *loader, const Position *pos, int i, bool validation) {
    const GameFileRecord *game = &loader->game;
    ScoredMove chosen = game->moves[i];
    int ply = game_record_ply(game, i);
    DropReason why = train_drop_reason(pos, chosen.move, ply, chosen.score, game->result);
    loader->set->dropped[why]++;
    if (why == DROP_NONE || why == DROP_ABSURD) {
        int sign = pos->side == WHITE ? 1 : -1;
        correlation_add(&loader->set->sums, sign * chosen.score, sign * (game->result - 1));
    }
    if (why == DROP_NONE)
        keep(loader, pos, validation ? chosen.score : loader->targets[i], validation);
}

static void load_game(Loader *loader) {
    const GameReader *reader = &loader->reader;
    const TrainSetOptions *options = loader->options;
    Position pos = loader->game.start;
    bool validation = is_validation(&reader->header, reader->games - 1, options->validation);
    train_trace(&loader->game, options->trace, options->scale, loader->targets);
    for (int i = 0; i < loader->game.plies && !loader_is_full(loader); i++) {
        Undo undo;
        loader->set->plies++;
        offer_position(loader, &pos, i, validation);
        position_make(&pos, loader->game.moves[i].move, &undo);
    }
    loader->set->games++;
}

// ---- files -------------------------------------------------------------------------------------

static bool load_file(Loader *loader, const char *path, Refusal *err) {
    Refusal why;
    if (!game_reader_open(&loader->reader, path, &why))
        return refused(err, "%s: %s", path, why.message);
    GameReadStatus status = GAME_READ;
    while (!loader_is_full(loader) && status == GAME_READ) {
        status = game_reader_next(&loader->reader, &loader->game, &why);
        if (status == GAME_READ)
            load_game(loader);
    }
    game_reader_close(&loader->reader);
    loader->set->files++;
    if (status == GAME_DAMAGED) {
        fprintf(stderr, "anvil: %s: %s\n", path, why.message);
        loader->set->damaged++;
    }
    return true;
}

static int is_game_file(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot && strcmp(dot, ".anvil") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name); // not alphasort, which follows the locale
}

static bool load_folder(Loader *loader, const char *folder, Refusal *err) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_game_file, by_name);
    if (count < 0)
        return refused(err, "%s: %s", folder, strerror(errno));
    bool good = count > 0 || refused(err, "%s has no game file (*.anvil)", folder);
    for (int i = 0; i < count; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (good && length >= (int)sizeof path)
            good = refused(err, "%s: the path is too long", folder);
        if (good && !loader_is_full(loader))
            good = load_file(loader, path, err);
        free(entries[i]);
    }
    free(entries);
    return good;
}

// ---- the set -----------------------------------------------------------------------------------

static bool set_is_usable(const TrainSet *set, const TrainSetOptions *options, Refusal *err) {
    if (set->training.count == 0 || set->validation.count == 0)
        return refused(err,
                       "%lld games leave %zu positions for training and %zu for "
                       "validation; both are needed: use more games",
                       (long long)set->games, set->training.count, set->validation.count);
    double correlation = correlation_of(&set->sums);
    if (correlation < options->correlation)
        return refused(err,
                       "the correlation of scores and results is %.3f, less than %.3f: a sign is "
                       "wrong, or these games are useless for training",
                       correlation, options->correlation);
    return true;
}

bool train_set_load(TrainSet *set, const TrainSetOptions *options, Refusal *err) {
    *set = (TrainSet){0};
    Loader *loader = calloc(1, sizeof *loader);
    PawnCache *pawns = calloc(1, sizeof *pawns);
    if (!loader || !pawns) {
        free(loader);
        free(pawns);
        return refused(err, "out of memory");
    }
    pawn_cache_clear(pawns);
    loader->set = set;
    loader->options = options;
    loader->pawns = pawns;
    loader->random = random_stream(options->seed, STREAM_PROBES);
    bool good = true;
    for (int i = 0; good && i < options->folder_count; i++)
        good = load_folder(loader, options->folders[i], err);
    free(loader);
    free(pawns);
    return good && set_is_usable(set, options, err);
}

void train_set_release(TrainSet *set) {
    free(set->training.at);
    free(set->validation.at);
    set->training = set->validation = (TrainPositions){0};
}

static uint64_t fold_positions(uint64_t sum, const TrainPositions *list) {
    for (size_t i = 0; i < list->count; i++) {
        uint64_t words[sizeof(TrainPosition) / 8];
        memcpy(words, &list->at[i], sizeof words);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            sum = random_mix(sum ^ words[w]);
    }
    return sum;
}

uint64_t train_set_fingerprint(const TrainSet *set) {
    return fold_positions(fold_positions(set->training.count, &set->training), &set->validation);
}
