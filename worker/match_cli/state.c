// See state.h. The file is JSON, so that people can read it. Every value that is read is checked.
#include "worker/match_cli/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/file.h"
#include "worker/match_cli/args.h"

static const char format_name[] = "patchmate match state";
enum { FORMAT_VERSION = 1, PAIRS_MAX = 2000000000 };

void match_state_release(MatchState *state) {
    json_decref(state->settings);
    json_decref(state->command);
    free(state->scores);
    *state = (MatchState){0};
}

// ---- out ----------------------------------------------------------------------------------------

static json_t *score_to_json(const MatchScore *s) {
    return json_pack("{s:[ii], s:[III], s:[III], s:[fffff], s:f, s:[II], s:[II], s:I}", "engines",
                     s->first, s->second, "games", (json_int_t)s->wins, (json_int_t)s->losses,
                     (json_int_t)s->draws, "white", (json_int_t)s->white[0],
                     (json_int_t)s->white[1], (json_int_t)s->white[2], "pairs", s->pairs[0],
                     s->pairs[1], s->pairs[2], s->pairs[3], s->pairs[4], "drawn_pairs",
                     s->drawn_pairs, "time_losses", (json_int_t)s->time_losses[0],
                     (json_int_t)s->time_losses[1], "faults", (json_int_t)s->faults[0],
                     (json_int_t)s->faults[1], "overloaded", (json_int_t)s->overloaded);
}

bool match_state_save(const MatchState *state, const char *path, Error *err) {
    json_auto_t *scores = json_array();
    for (int i = 0; i < state->score_count; i++)
        json_array_append_new(scores, score_to_json(&state->scores[i]));
    json_auto_t *document = json_pack(
        "{s:s, s:i, s:O, s:O, s:i, s:O, s:[III], s:i}", "format", format_name, "version",
        FORMAT_VERSION, "command", state->command, "settings", state->settings, "pairs",
        state->pairs, "scores", scores, "sizes", (json_int_t)state->sizes[0],
        (json_int_t)state->sizes[1], (json_int_t)state->sizes[2], "verdict", state->verdict);
    char *text scope(free_ptr) = document ? json_dumps(document, JSON_INDENT(1)) : NULL;
    if (!text)
        return error_set(err, 500, "", "the state cannot be written as JSON");
    return file_write_durable(path, text, strlen(text), err);
}

// ---- in -----------------------------------------------------------------------------------------

static bool read_longs(const json_t *array, size_t count, long *out) {
    if (json_array_size(array) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        out[i] = (long)json_integer_value(item);
        if (!json_is_integer(item) || out[i] < 0)
            return false;
    }
    return true;
}

static bool read_score(const json_t *object, MatchScore *s) {
    long engines[2], games[3];
    const json_t *pairs = json_object_get(object, "pairs");
    if (!read_longs(json_object_get(object, "engines"), 2, engines) ||
        !read_longs(json_object_get(object, "games"), 3, games) ||
        !read_longs(json_object_get(object, "white"), 3, s->white) ||
        !read_longs(json_object_get(object, "time_losses"), 2, s->time_losses) ||
        !read_longs(json_object_get(object, "faults"), 2, s->faults) ||
        json_array_size(pairs) != 5 || engines[0] >= MATCH_ENGINES_MAX ||
        engines[1] >= MATCH_ENGINES_MAX)
        return false;
    s->first = (int)engines[0];
    s->second = (int)engines[1];
    s->wins = games[0];
    s->losses = games[1];
    s->draws = games[2];
    s->drawn_pairs = json_number_value(json_object_get(object, "drawn_pairs"));
    s->overloaded = (long)json_integer_value(json_object_get(object, "overloaded"));
    for (size_t i = 0; i < 5; i++) {
        s->pairs[i] = json_number_value(json_array_get(pairs, i));
        if (!(s->pairs[i] >= 0 && s->pairs[i] <= PAIRS_MAX))
            return false;
    }
    return s->drawn_pairs >= 0 && s->drawn_pairs <= s->pairs[2];
}

static bool all_texts(const json_t *texts) {
    size_t i;
    const char *key;
    json_t *item;
    json_array_foreach (texts, i, item) {
        if (!json_is_string(item))
            return false;
    }
    json_object_foreach ((json_t *)texts, key, item) {
        if (!json_is_string(item))
            return false;
    }
    return true;
}

static bool read_scores(MatchState *state, const json_t *scores) {
    size_t count = json_array_size(scores);
    if (count < 1 || count > MATCH_ENGINES_MAX * MATCH_ENGINES_MAX)
        return false;
    state->score_count = (int)count;
    state->scores = xcalloc(count, sizeof *state->scores);
    for (size_t i = 0; i < count; i++)
        if (!read_score(json_array_get(scores, i), &state->scores[i]))
            return false;
    return true;
}

static bool read_document(MatchState *state, const json_t *document) {
    const char *format = json_string_value(json_object_get(document, "format"));
    const json_t *pairs = json_object_get(document, "pairs");
    const json_t *verdict = json_object_get(document, "verdict");
    long sizes[MATCH_STATE_FILES];
    state->settings = json_incref(json_object_get(document, "settings"));
    state->command = json_incref(json_object_get(document, "command"));
    if (!format || strcmp(format, format_name) != 0 ||
        json_integer_value(json_object_get(document, "version")) != FORMAT_VERSION ||
        !json_is_object(state->settings) || !json_is_array(state->command) ||
        !all_texts(state->settings) || !all_texts(state->command) || !json_is_integer(pairs) ||
        json_integer_value(pairs) < 0 || json_integer_value(pairs) > PAIRS_MAX ||
        !json_is_integer(verdict) || json_integer_value(verdict) < SPRT_OPEN ||
        json_integer_value(verdict) > SPRT_REJECTED ||
        !read_longs(json_object_get(document, "sizes"), MATCH_STATE_FILES, sizes) ||
        !read_scores(state, json_object_get(document, "scores")))
        return false;
    state->pairs = (int)json_integer_value(pairs);
    state->verdict = (int)json_integer_value(verdict);
    for (int i = 0; i < MATCH_STATE_FILES; i++)
        state->sizes[i] = sizes[i];
    return true;
}

bool match_state_parse(MatchState *state, const char *text, size_t size, Error *err) {
    json_error_t problem;
    *state = (MatchState){0};
    json_auto_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (!document)
        return error_set(err, 422, "bad_state", "line %d: %s", problem.line, problem.text);
    return read_document(state, document) ||
           error_set(err, 422, "bad_state", "is not the state of a match");
}

bool match_state_load(MatchState *state, const char *path, bool *missing, Error *err) {
    size_t size;
    *state = (MatchState){0};
    *missing = access(path, F_OK) != 0;
    if (*missing)
        return error_set(err, 404, "no_state", "%s does not exist", path);
    scope(free_ptr) char *text = file_read(path, MATCH_STATE_MAX, &size, err);
    return text && (match_state_parse(state, text, size, err) || error_prefix(err, "%s", path));
}

// ---- comparing ----------------------------------------------------------------------------------

static bool differs(const char *key, const json_t *was, const json_t *is, Error *err) {
    const char *before = json_string_value(was), *now = json_string_value(is);
    return error_set(err, 409, "other_match", "%s was \"%s\" and is \"%s\"", key,
                     before ? before : "", now ? now : "");
}

bool match_state_same(const MatchState *state, const json_t *settings, Error *err) {
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)settings, key, value) {
        const json_t *was = json_object_get(state->settings, key);
        if (!json_equal(was, value))
            return differs(key, was, value, err);
    }
    json_object_foreach (state->settings, key, value) {
        if (!json_object_get(settings, key))
            return differs(key, value, NULL, err);
    }
    return true;
}
