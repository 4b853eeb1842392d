// See speed_kit.h.
#include "tests/kit/speed_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

LedgerKit speed_kit;

int speed_open(void **state) {
    (void)state;
    int64_t task = kit_open_task(&speed_kit);
    if (!task || !ledger_release(&speed_kit.turn, task, 1, 0, &speed_kit.err))
        return -1;
    kit_sql(&speed_kit,
            "INSERT INTO users (id, name, password, created) VALUES (4, 'dan', 'x', 1)");
    kit_sql(&speed_kit,
            "INSERT INTO workers (id, machine_key_hash, token_hash, user_id, name, version, "
            "host, cores, address, created, last_seen) WITH n(i) AS (VALUES (5) UNION ALL "
            "SELECT max(i + 1, 11) FROM n WHERE i < 20) SELECT i, 'k' || i, 't' || i, "
            "CASE i WHEN 5 THEN 3 ELSE 4 END, 'm' || i, '1.0', '{}', 4, '10.0.0.9', 1, 0 "
            "FROM n");
    return 0;
}

int speed_close(void **state) {
    (void)state;
    kit_close(&speed_kit);
    return 0;
}

int64_t speed_claim(int64_t worker) {
    int64_t task = kit_claim(&speed_kit, worker, 4, 0);
    if (task < 0)
        fail_msg("claim of machine %d: %s", (int)worker, speed_kit.err.message);
    return task;
}

void speed_post(int64_t task, int64_t seq, Told told) {
    BatchReply reply;
    char tc[40];
    snprintf(tc, sizeof tc, "%.3f+%.3f", 10 / told.measured, 0.1 / told.measured);
    json_auto_t *result = kit_result_with("1322", told.result ? told.result : "{}");
    Batch batch = kit_batch(task, told.worker, seq, result);
    batch.tc = kit_int(&speed_kit, "SELECT tc = 'nodes=1000' FROM sides") ? "nodes=1000" : tc;
    batch.speed = 1e6 * told.measured;
    batch.load = LOAD_UNKNOWN;
    if (told.in_play > 0)
        batch.load.speed = 1e6 * told.in_play;
    if (!ledger_batch(&speed_kit.turn, &batch, &reply, &speed_kit.err))
        fail_msg("batch %d of machine %d: %s", (int)seq, (int)told.worker, speed_kit.err.message);
}

void speed_play(Told told) {
    for (int played = 0; played < 2;) {
        int64_t task = speed_claim(told.worker);
        if (!task)
            fail_msg("machine %d gets no task", (int)told.worker);
        int64_t batches = kit_int(&speed_kit, "SELECT pair_count / 4 FROM tasks WHERE id = %lld",
                                  (long long)task);
        for (int64_t seq = 0; seq < batches; seq++, played++)
            speed_post(task, seq, told);
    }
}

bool speed_is_barred(int64_t worker) {
    int64_t task = speed_claim(worker);
    if (task && !ledger_release(&speed_kit.turn, task, worker, 0, &speed_kit.err))
        fail_msg("release: %s", speed_kit.err.message);
    bool barred = kit_int(&speed_kit,
                          "SELECT count(*) FROM misfits WHERE worker_id = %lld AND readmitted IS "
                          "NULL",
                          (long long)worker);
    assert_int_equal(barred, !task);
    return barred;
}

int64_t speed_misfits(void) {
    return kit_int(&speed_kit, "SELECT count(*) FROM misfits");
}

void speed_others_play(void) {
    speed_play((Told){1, 0.5, 0.45, NULL});
    speed_play((Told){3, 2, 2.1, NULL});
    speed_play((Told){4, 1, 1, NULL});
}
