// See task.h. A document is read from the top down, with one function per object.
#include "worker/task/task.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/option_text.h"
#include "server/common/str.h"

enum { PATH_MAX_BYTES = 200, BUILD_COMMAND_MAX = 4000 };

static bool bad(Error *err, const char *what) {
    return error_set(err, 422, "bad_task", "the server sent a task with %s", what);
}

// Relative, inside its tree, and without characters that are special in a shell or a terminal.
static bool path_is_safe(const char *path) {
    size_t size = strlen(path);
    if (size == 0 || size > PATH_MAX_BYTES || *path == '/' || *path == '-')
        return false;
    for (const char *part = path;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 2 && memcmp(part, "..", 2) == 0))
            return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)part[i] < ' ' || part[i] == 127 || part[i] == '\\')
                return false;
        part += n;
        if (!*part)
            return true;
    }
}

// The path of one file in its shortest form, without ".".
static bool path_is_file(const char *path) {
    size_t size = strlen(path);
    bool has_dot = strcmp(path, ".") == 0 || strncmp(path, "./", 2) == 0 || strstr(path, "/./") ||
                   (size > 1 && strcmp(path + size - 2, "/.") == 0);
    return !has_dot && path_is_safe(path);
}

static bool text_is_line(const char *text, size_t max) {
    return strlen(text) <= max && !strpbrk(text, "\r\n");
}

// ---- files --------------------------------------------------------------------------------------

static bool has_path(const TaskFiles *files, const char *path) {
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->items[i].path, path) == 0)
            return true;
    return false;
}

// Adds those of a list. A list that is absent or null is empty.
static bool read_files(TaskFiles *files, json_t *list, Error *err) {
    size_t i;
    json_t *file;
    if (list && !json_is_array(list) && !json_is_null(list))
        return bad(err, "files that are no list");
    if (json_array_size(list) > (size_t)(RECIPE_FILES_MAX - files->count))
        return bad(err, "too many files");
    json_array_foreach (list, i, file) {
        TaskFile *out = &files->items[files->count];
        if (json_unpack(file, "{s:s, s:s}", "blob", &out->blob, "path", &out->path) < 0 ||
            !sha256_is_hex(out->blob) || !path_is_file(out->path))
            return bad(err, "a file without a hash or outside the tree");
        if (has_path(files, out->path))
            return bad(err, "two files in one place");
        files->count++;
    }
    return true;
}

// ---- build --------------------------------------------------------------------------------------

static bool read_bench_args(TaskBuild *build, json_t *args, Error *err) {
    size_t i, max = sizeof build->bench_args / sizeof *build->bench_args - 1;
    json_t *arg;
    if (json_array_size(args) > max)
        return bad(err, "too many bench_args");
    json_array_foreach (args, i, arg) {
        build->bench_args[i] = json_string_value(arg);
        if (!build->bench_args[i])
            return bad(err, "bench_args that are no strings");
    }
    return true;
}

// Names that a shell accepts. LD_PRELOAD and similar are harmless in the sandbox.
static bool env_is_fine(json_t *env) {
    const char *name;
    json_t *value;
    json_object_foreach (env, name, value)
        if (!json_is_string(value) || !*name || *name == '-' || strpbrk(name, "= \n"))
            return false;
    return json_is_object(env) && json_object_size(env) <= 64;
}

static bool read_build(TaskBuild *build, json_t *root, Error *err) {
    json_t *args = NULL, *files = NULL;
    if (json_unpack(root, "{s:s, s:s, s:s, s:o, s:o, s:o}", "directory", &build->directory,
                    "command", &build->command, "binary", &build->binary, "env", &build->env,
                    "bench_args", &args, "files", &files) < 0)
        return bad(err, "a build that lacks members");
    if (!*build->directory)
        build->directory = "."; // some servers write "" for the top
    if (!path_is_safe(build->directory) || !path_is_safe(build->binary))
        return bad(err, "a build outside its tree");
    if (!*build->command || strlen(build->command) > BUILD_COMMAND_MAX || !env_is_fine(build->env))
        return bad(err, "a build command or environment that cannot be used");
    return read_bench_args(build, args, err) && read_files(&build->files, files, err);
}

// ---- sides --------------------------------------------------------------------------------------

// A volunteer and the pages of the server see it.
static bool name_is_fine(const char *name) {
    size_t size = strlen(name);
    return size >= 1 && size <= TASK_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == size;
}

// A value must not contain a second command for the engine.
static bool read_options(TaskSide *side, json_t *options, Error *err) {
    const char *name;
    json_t *value;
    json_object_foreach (options, name, value) {
        const char *text = json_string_value(value);
        if (!text || !text_is_line(text, OPTION_VALUE_MAX) || !text_is_line(name, OPTION_NAME_MAX))
            return bad(err, "a UCI option that is no line of text");
        if (side->option_count == TASK_OPTIONS_MAX)
            return bad(err, "too many UCI options");
        side->options[side->option_count++] = (EngineOption){name, text};
    }
    return true;
}

// Read as 64 bits, so that no number wraps around to a small one.
static bool read_numbers(TaskSide *side, json_t *root, Error *err) {
    json_int_t threads = 0, margin_ms = 0;
    if (json_unpack(root, "{s:I, s:I}", "threads", &threads, "margin_ms", &margin_ms) < 0)
        return bad(err, "a side that lacks its threads or its margin");
    if (threads < 1 || threads > TASK_THREADS_MAX)
        return bad(err, "a side of absurd threads");
    if (margin_ms < 0 || margin_ms > TASK_MARGIN_MAX_MS)
        return bad(err, "a side with an absurd margin");
    side->threads = (int)threads;
    side->limit.margin_ms = margin_ms;
    side->limit.owed = true;
    return true;
}

static bool read_side(TaskSide *side, json_t *root, Error *err) {
    json_t *build = NULL, *bench = NULL, *options = NULL, *files = NULL, *wants = NULL;
    if (json_unpack(root, "{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:s, s?o, s?o}", "name", &side->name,
                    "engine", &side->engine, "build", &build, "commit", &side->commit, "snapshot",
                    &side->snapshot, "bench", &bench, "options", &options, "tc", &side->tc, "files",
                    &files, "wants_options", &wants) < 0)
        return bad(err, "a side that lacks members");
    if (!name_is_fine(side->name))
        return bad(err, "a side whose name is not 1 to 32 characters of a-z, 0-9, _ and -");
    side->bench = json_integer_value(bench);
    side->wants_options = json_is_true(wants);
    if (!sha256_is_hex(side->snapshot) || side->bench < 0)
        return bad(err, "a snapshot without its hash");
    return limit_parse(side->tc, &side->limit, err) && read_numbers(side, root, err) &&
           read_build(&side->build, build, err) && read_options(side, options, err) &&
           read_files(&side->build.files, files, err);
}

static bool read_sides(Task *task, json_t *list, Error *err) {
    if (!json_is_array(list))
        return bad(err, "sides that are no list");
    if (json_array_size(list) != SIDE_COUNT)
        return error_set(err, 422, "bad_task",
                         "the server sent a task whose number of sides is %zu, not %d",
                         json_array_size(list), SIDE_COUNT);
    for (int i = 0; i < SIDE_COUNT; i++)
        if (!read_side(&task->sides[i], json_array_get(list, (size_t)i), err))
            return false;
    return strcmp(task->sides[SIDE_NEW].name, task->sides[SIDE_BASE].name) != 0 ||
           bad(err, "two sides of one name");
}

// ---- test ---------------------------------------------------------------------------------------

static bool read_adjudication(Adjudication *a, json_t *root, Error *err) {
    int two_sided = 0;
    if (json_unpack(root, "{s:i, s:i, s:b, s:i, s:i, s:i, s:i}", "resign_score", &a->resign_score,
                    "resign_count", &a->resign_count, "resign_two_sided", &two_sided, "draw_move",
                    &a->draw_move, "draw_score", &a->draw_score, "draw_count", &a->draw_count,
                    "max_moves", &a->max_moves) < 0)
        return bad(err, "adjudication that lacks members");
    a->resign_two_sided = two_sided != 0;
    return (a->resign_count >= 0 && a->draw_count >= 0 && a->max_moves >= 0) ||
           bad(err, "a negative count in its adjudication");
}

static bool read_test(Task *task, json_t *root, Error *err) {
    json_t *adjudication = NULL;
    json_int_t id = 0;
    const char *variant = "";
    if (json_unpack(root, "{s:I, s:s, s:s, s:i, s:s, s:o}", "id", &id, "engine", &task->engine,
                    "title", &task->title, "batch_pairs", &task->batch_pairs, "variant", &variant,
                    "adjudication", &adjudication) < 0)
        return bad(err, "a test that lacks members");
    task->test_id = id;
    task->chess960 = strcmp(variant, "chess960") == 0;
    if (!task->chess960 && strcmp(variant, "standard") != 0)
        return bad(err, "a variant that this worker does not know");
    if (task->batch_pairs < 1 || task->batch_pairs > 1000)
        return bad(err, "absurd batch_pairs");
    return read_adjudication(&task->adjudication, adjudication, err);
}

static bool read_scale(Task *task, json_t *root, Error *err) {
    ClockScale *s = &task->scale;
    json_t *build = NULL, *files = NULL;
    if (json_is_null(root))
        return true;
    if (json_unpack(root, "{s:s, s:F, s:F, s:F, s:o, s?o}", "reference_snapshot",
                    &task->reference.snapshot, "reference_speed", &s->reference_speed, "min",
                    &s->min, "max", &s->max, "build", &build, "reference_files", &files) < 0)
        return bad(err, "a scale that lacks members");
    task->has_scale = true;
    task->reference.name = "reference";
    task->reference.engine = task->engine;
    if (!sha256_is_hex(task->reference.snapshot) || !(s->reference_speed > 0) || !(s->min > 0) ||
        !(s->max >= s->min))
        return bad(err, "a scale with impossible numbers");
    return read_build(&task->reference.build, build, err) &&
           read_files(&task->reference.build.files, files, err);
}

// ---- openings -----------------------------------------------------------------------------------

static bool read_openings(Task *task, json_t *openings, Error *err) {
    size_t i;
    json_t *opening;
    if ((int)json_array_size(openings) != task->pairs)
        return bad(err, "not one opening a pair");
    task->openings = xcalloc((size_t)task->pairs, sizeof *task->openings);
    json_array_foreach (openings, i, opening) {
        Opening *out = &task->openings[i];
        if (json_unpack(opening, "{s:s, s:s}", "fen", &out->fen, "moves", &out->moves) < 0 ||
            !text_is_line(out->fen, TASK_FEN_MAX) || !text_is_line(out->moves, TASK_MOVES_MAX))
            return bad(err, "an opening that is no position");
    }
    return true;
}

// The numbers of games in the task.
static bool read_play_on(Task *task, const json_t *numbers, Error *err) {
    size_t i;
    const json_t *number;
    task->play_on = xcalloc(2 * (size_t)task->pairs, sizeof *task->play_on);
    json_array_foreach (numbers, i, number) {
        json_int_t value = json_is_integer(number) ? json_integer_value(number) : -1;
        if (value < 0 || value >= 2 * task->pairs)
            return bad(err, "a game to play on that it does not have");
        task->play_on[value] = true;
    }
    return true;
}

static bool read_next(Task *task, json_t *root, Error *err) {
    json_t *options = NULL;
    if (json_unpack(root, "{s:i, s?o}", "seq", &task->next_seq, "options", &options) < 0)
        return bad(err, "no `next`");
    if (options && !json_is_null(options))
        return bad(err, "options that change from batch to batch, which this worker cannot do");
    return (task->next_seq >= 0 && task->next_seq <= task->pairs / task->batch_pairs) ||
           bad(err, "a `next` behind its end");
}

// ---- unit ---------------------------------------------------------------------------------------

// The units that play.c can play. It does the same for every workload of one unit.
static const char *const units[] = {"pair"};
enum { UNITS = sizeof units / sizeof *units };

json_t *task_units(void) {
    json_t *names = json_array();
    for (int i = 0; i < UNITS; i++)
        json_array_append_new(names, json_string(units[i]));
    return names;
}

// A test that names no unit is one of pairs. This is checked first, because a test of another unit
// may lack members.
static bool unit_is_known(const json_t *test, Error *err) {
    const json_t *unit = json_object_get(test, "unit");
    for (int i = 0; i < UNITS; i++)
        if (!unit || (json_is_string(unit) && strcmp(json_string_value(unit), units[i]) == 0))
            return true;
    return error_set(err, 422, "bad_task",
                     "this worker cannot play the workload '%.40s', whose unit is '%.40s'; "
                     "install a newer worker",
                     member_text(test, "workload"), member_text(test, "unit"));
}

static bool read_all(Task *task, Error *err) {
    json_t *root = task->root;
    json_t *openings = NULL, *next = NULL, *test = NULL, *sides = NULL, *scale = NULL;
    task->id = task_id(root);
    if (!unit_is_known(json_object_get(root, "test"), err))
        return false;
    if (json_unpack(root, "{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "first_pair", &task->first_pair,
                    "pairs", &task->pairs, "test", &test, "sides", &sides, "scale", &scale,
                    "openings", &openings, "next", &next) < 0 ||
        task->id <= 0)
        return bad(err, "missing members");
    if (!read_test(task, test, err))
        return false;
    if (task->pairs < 1 || task->pairs > TASK_PAIRS_MAX || task->first_pair < 0 ||
        task->pairs % task->batch_pairs != 0)
        return bad(err, "pairs that are no whole batches");
    return read_sides(task, sides, err) && read_scale(task, scale, err) &&
           read_openings(task, openings, err) &&
           read_play_on(task, json_object_get(root, "play_on"), err) && read_next(task, next, err);
}

bool task_read(Task *task, json_t *document, Error *err) {
    *task = (Task){.root = json_incref(document)};
    if (read_all(task, err))
        return true;
    task_release(task);
    return false;
}

void task_release(Task *task) {
    free(task->openings);
    free(task->play_on);
    json_decref(task->root);
    *task = (Task){0};
}

int64_t task_id(const json_t *document) {
    return member_int(document, "id");
}
