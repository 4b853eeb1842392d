// How SQLite reads the tables by the queries of the server: what grows with the months is never
// read as a whole. SQLite chooses without statistics, so the plans of an empty database are those
// of a full one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "server/db/db.h"
#include "server/db/schema.h"
#include "sql/core.h"
#include "sql/pages.h"

static char folder[64], path[96];

static int open_fresh(void **state) {
    (void)state;
    Error err;
    snprintf(folder, sizeof folder, "/tmp/test_plans.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/test.db", folder);
    Db *db = db_open(path, false, &err);
    db_close(db);
    return db ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    Error err;
    return folder_remove(folder, &err) ? 0 : -1;
}

// Returns whether a statement reads the machines, or an index of them, from one end and not from a
// place that it has searched for. `roots` are the pages at which they begin. The steps of a
// statement have the columns addr, opcode, p1 (the cursor), p2 (of OpenRead: the page).
static bool walks_machines(sqlite3 *raw, const char *text, const char *roots) {
    sqlite3_stmt *step;
    bool is_of_machines[64] = {0}, walks = false;
    char *explain scope(free_ptr) = xasprintf("EXPLAIN %s", text);
    assert_int_equal(sqlite3_prepare_v2(raw, explain, -1, &step, NULL), SQLITE_OK);
    while (sqlite3_step(step) == SQLITE_ROW) {
        const char *opcode = (const char *)sqlite3_column_text(step, 1);
        int cursor = sqlite3_column_int(step, 2);
        char *page scope(free_ptr) = xasprintf(" %d ", sqlite3_column_int(step, 3));
        if (cursor < 0 || cursor >= 64)
            continue;
        if (!strcmp(opcode, "OpenRead") || !strcmp(opcode, "OpenWrite"))
            is_of_machines[cursor] = strstr(roots, page);
        walks = walks ||
                (is_of_machines[cursor] && (!strcmp(opcode, "Rewind") || !strcmp(opcode, "Last") ||
                                            !strcmp(opcode, "Count")));
    }
    sqlite3_finalize(step);
    return walks;
}

// One query reads the oldest idle machines by an index of them; two belong to `server check`.
static bool may_walk(int id) {
    return id == SQL_MACHINES_FORGET || id == SQL_INTEGRITY_CHECK || id == SQL_FOREIGN_KEY_CHECK;
}

// Machines that register and never come back may be hundreds of thousands.
static void no_query_walks_all_machines(void **state) {
    (void)state;
    sqlite3 *raw;
    sqlite3_stmt *table;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    sqlite3_prepare_v2(raw,
                       "SELECT ' ' || group_concat(rootpage, '  ') || ' ' FROM sqlite_schema "
                       "WHERE tbl_name = 'workers'",
                       -1, &table, NULL);
    assert_int_equal(sqlite3_step(table), SQLITE_ROW);
    const char *roots = (const char *)sqlite3_column_text(table, 0);
    assert_true(walks_machines(raw, "SELECT count(*) FROM workers", roots));
    assert_true(walks_machines(raw, "SELECT count(*) FROM workers WHERE cores > 1", roots));
    assert_true(walks_machines(raw, "SELECT max(last_seen + 1) FROM workers", roots));
    assert_false(walks_machines(raw, "SELECT name FROM workers WHERE id = 1", roots));
    for (int id = 0; id < SQL_COUNT; id++)
        if (!may_walk(id) && walks_machines(raw, db_query_text(id), roots))
            fail_msg("%s walks all machines", db_query_name(id));
    sqlite3_finalize(table);
    sqlite3_close(raw);
}

// What machines show is read from where the last days begin, by an index.
static void the_list_of_suspects_reads_the_last_days(void **state) {
    (void)state;
    sqlite3 *raw;
    sqlite3_stmt *step;
    bool by_time = false, by_machine = false;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    char *explain scope(free_ptr) =
        xasprintf("EXPLAIN QUERY PLAN %s", db_query_text(SQL_LEDGER_SUSPECTS));
    assert_int_equal(sqlite3_prepare_v2(raw, explain, -1, &step, NULL), SQLITE_OK);
    while (sqlite3_step(step) == SQLITE_ROW) {
        const char *line = (const char *)sqlite3_column_text(step, 3);
        by_time |= strstr(line, "SEARCH conduct USING INDEX conduct_last") != NULL;
        by_machine |= strstr(line, "SEARCH conduct USING INDEX conduct_worker") != NULL;
        static const char *const whole[] = {"SCAN conduct", "SCAN failures", "SCAN misfits"};
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            assert_null(strstr(line, whole[i]));
    }
    assert_true(by_time && by_machine);
    sqlite3_finalize(step);
    sqlite3_close(raw);
}

// Whether a text asks for open tasks by this name of the table, and the line of its plan reads them
// by an index that holds all tasks.
static bool reads_ended_tasks(const char *text, const char *line) {
    static const char search[] = "SEARCH ", index[] = " USING INDEX tasks_",
                      covering[] = " USING COVERING INDEX tasks_";
    const char *at = strstr(line, index), *other = strstr(line, covering);
    const char *name = at ? at + strlen(index) : other ? other + strlen(covering) : NULL;
    if (!name || strncmp(line, search, strlen(search)) != 0 || strncmp(name, "open", 4) == 0)
        return false;
    const char *alias = line + strlen(search);
    int length = (int)((at ? at : other) - alias);
    char *of_alias scope(free_ptr) = xasprintf(" %.*s.state = 'open'", length, alias);
    return strstr(text, of_alias) ||
           (strncmp(alias, "tasks", 5) == 0 && strstr(text, " state = 'open'"));
}

static bool has_such_a_line(sqlite3 *raw, const char *text) {
    sqlite3_stmt *step;
    bool found = false;
    char *explain scope(free_ptr) = xasprintf("EXPLAIN QUERY PLAN %s", text);
    assert_int_equal(sqlite3_prepare_v2(raw, explain, -1, &step, NULL), SQLITE_OK);
    while (sqlite3_step(step) == SQLITE_ROW)
        found |= reads_ended_tasks(text, (const char *)sqlite3_column_text(step, 3));
    sqlite3_finalize(step);
    return found;
}

// A machine has thousands of tasks after some months, and a few that are open.
static void who_asks_for_open_tasks_reads_no_others(void **state) {
    (void)state;
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    assert_true(has_such_a_line(
        raw,
        "SELECT id FROM tasks INDEXED BY tasks_worker WHERE worker_id = 1 AND state = 'open'"));
    assert_true(has_such_a_line(raw, "SELECT k.id FROM tasks k INDEXED BY tasks_test WHERE "
                                     "k.test_id = 1 AND k.state = 'open'"));
    assert_false(has_such_a_line(raw, "SELECT id FROM tasks INDEXED BY tasks_open_worker WHERE "
                                      "worker_id = 1 AND state = 'open'"));
    for (int id = 0; id < SQL_COUNT; id++)
        if (has_such_a_line(raw, db_query_text(id)))
            fail_msg("%s reads tasks that have ended", db_query_name(id));
    sqlite3_close(raw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_query_walks_all_machines),
        cmocka_unit_test(the_list_of_suspects_reads_the_last_days),
        cmocka_unit_test(who_asks_for_open_tasks_reads_no_others),
    };
    return cmocka_run_group_tests_name("query_plans", tests, open_fresh, remove_folder);
}
