// The task document that a server sends: whatever is taken keeps its promises. Whatever is JSON has
// no more values than were counted before.
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/api/json_values.h"
#include "worker/task/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_values(const json_t *value) {
    size_t i, count = 1;
    const char *name;
    json_t *part;
    json_array_foreach (value, i, part)
        count += count_values(part);
    json_object_foreach ((json_t *)value, name, part)
        count += count_values(part);
    return count;
}

static void check_path(const char *path) {
    if (!*path || *path == '/' || strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0 ||
        strstr(path, "/../") || (strlen(path) > 2 && !strcmp(path + strlen(path) - 3, "/..")))
        abort();
}

static void check_recipe(const TaskBuild *recipe) {
    check_path(recipe->directory);
    check_path(recipe->binary);
    if (recipe->files.count > RECIPE_FILES_MAX)
        abort();
    for (int i = 0; i < recipe->files.count; i++)
        check_path(recipe->files.items[i].path);
}

static void check_name(const char *name) {
    size_t size = strlen(name);
    if (size < 1 || size > TASK_NAME_MAX)
        abort();
    for (size_t i = 0; i < size; i++)
        if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '0' && name[i] <= '9') &&
            name[i] != '_' && name[i] != '-')
            abort();
}

static void check_side(const TaskSide *side) {
    MatchLimit limit = side->limit;
    char text[TC_TEXT_MAX];
    check_name(side->name);
    check_recipe(&side->build);
    limit_scale(&limit, 3.7);
    limit_text(&limit, text);
    if (!limit.base_ms && !limit.move_ms && !limit.nodes && !limit.depth)
        abort();
    if (side->threads < 1 || side->threads > TASK_THREADS_MAX || limit.margin_ms < 0 ||
        limit.margin_ms > TASK_MARGIN_MAX_MS)
        abort();
}

static void check_task(const Task *task) {
    if (task->id <= 0 || task->pairs < 1 || task->pairs % task->batch_pairs)
        abort();
    for (int side = 0; side < SIDE_COUNT; side++)
        check_side(&task->sides[side]);
    if (strcmp(task->sides[SIDE_NEW].name, task->sides[SIDE_BASE].name) == 0)
        abort();
    if (task->has_scale)
        check_recipe(&task->reference.build);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Task task;
    Error err;
    json_auto_t *root = json_loadb((const char *)data, size, 0, NULL);
    if (root && count_values(root) > json_values_most((const char *)data, size))
        abort();
    if (!root || !task_read(&task, root, &err))
        return 0;
    check_task(&task);
    task_release(&task);
    return 0;
}
