// Residuals of workers, and SPSA steps.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/sprt.h"

static void a_worker_apart_has_the_largest_residual(void **state) {
    (void)state;
    // Figures of Fishtest's own code; the fourth worker has too few games.
    static const double ROWS[5][3] = {
        {45, 45, 110}, {38, 42, 120}, {30, 50, 60}, {1, 1, 2}, {50, 50, 100}};
    double r[5];
    Chi2 chi2 = chi2_workers(ROWS, 5, r);
    assert_near(chi2.chi2, 14.850212460, 1e-8);
    assert_int_equal(chi2.dof, 6);
    assert_near(chi2.p, 0.0214542706, 1e-9);
    assert_near(chi2.z95, 2.241403, 1e-6);
    assert_near(chi2.z99, 2.807034, 1e-6);
    assert_near(r[0], 0, 0);
    assert_near(r[1], 1.619414, 1e-6);
    assert_near(r[2], 2.586239, 1e-6);
    assert_true(isnan(r[3]));
    assert_near(r[4], 0.061906, 1e-6);
}

static void a_table_of_one_worker_says_nothing(void **state) {
    (void)state;
    static const double ROWS[2][3] = {{500, 500, 1000}, {1, 0, 3}};
    double r[2];
    Chi2 chi2 = chi2_workers(ROWS, 2, r);
    assert_true(isnan(chi2.chi2) && isnan(chi2.p) && isnan(r[0]) && isnan(r[1]));
    assert_int_equal(chi2.dof, 0);
    chi2 = chi2_workers(ROWS, 0, r);
    assert_true(isnan(chi2.chi2));
}

static void a_residual_stays_finite_where_its_probability_underflows(void **state) {
    (void)state;
    static const double ROWS[2][3] = {{5000, 100, 100}, {100, 5000, 100}};
    double r[2];
    chi2_workers(ROWS, 2, r);
    assert_true(r[0] > 60 && r[0] < 200);
    assert_near(r[0], r[1], 1e-9);
}

typedef struct Worker {
    const char *key;
    double row[3];
} Worker;

// Adds a task to its worker's row; pairs where the first task has them, else games.
static int add_task(Worker *workers, int count, const json_t *task, bool pairs) {
    const char *key =
        json_string_value(json_object_get(json_object_get(task, "worker_info"), "unique_key"));
    const json_t *stats = json_object_get(task, "stats");
    int w = 0;
    while (w < count && strcmp(workers[w].key, key) != 0)
        w++;
    if (w == count)
        workers[count++] = (Worker){.key = key};
    double p[5] = {0}, *row = workers[w].row;
    if (pairs) {
        member_counts(stats, "pentanomial", p);
        row[0] += p[3] + p[4], row[1] += p[0] + p[1], row[2] += p[2];
    } else {
        row[0] += member(stats, "wins"), row[1] += member(stats, "losses");
        row[2] += member(stats, "draws");
    }
    return count;
}

static int workers_of(const json_t *tasks, Worker *workers) {
    size_t i;
    json_t *task;
    int count = 0, pairs = -1;
    json_array_foreach (tasks, i, task) {
        if (json_is_true(json_object_get(task, "bad")) || !json_object_get(task, "stats"))
            continue;
        if (pairs < 0)
            pairs = json_object_get(json_object_get(task, "stats"), "pentanomial") != NULL;
        count = add_task(workers, count, task, pairs);
    }
    return count;
}

static void check_residuals(const json_t *known, const Worker *workers, int count,
                            const double *found) {
    for (int w = 0; w < count; w++) {
        const json_t *value = json_object_get(known, workers[w].key);
        if (!value || !isfinite(value_of(value)))
            assert_true(!value || isnan(found[w]) || found[w] > 37);
        else
            assert_close(found[w], value_of(value), 1e-9);
    }
}

static void residuals_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *cases = shared_vectors("chi2", &file);
    size_t i;
    json_array_foreach (cases, i, c) {
        static Worker workers[512];
        double rows[512][3], found[512];
        int count = workers_of(json_object_get(c, "tasks"), workers);
        for (int w = 0; w < count; w++)
            memcpy(rows[w], workers[w].row, sizeof rows[w]);
        Chi2 chi2 = chi2_workers(rows, count, found);
        const json_t *known = json_object_get(c, "chi2");
        assert_near((double)chi2.dof, member(known, "dof"), 0);
        assert_close(chi2.chi2, member(known, "chi2"), 1e-9);
        assert_near(chi2.p, member(known, "p"), 1e-12);
        assert_close(chi2.z95, member(known, "z_95"), 1e-9);
        assert_close(chi2.z99, member(known, "z_99"), 1e-9);
        check_residuals(json_object_get(known, "residual"), workers, count, found);
        memset(workers, 0, sizeof workers);
    }
}

// 60,000 games, c_end 4, r_end 0.002, Fishtest's defaults for the rest.
static void spsa_step_sizes_follow_the_schedule(void **state) {
    (void)state;
    static const double KNOWN[][3] = {
        {0, 11.330504, .00105556}, {100, 7.10907, .00262897}, {29999, 4.0, .002}};
    SpsaSchedule schedule = {.A = 3000, .alpha = 0.602, .gamma = 0.101, .iterations = 30000};
    SpsaParam param = {.min = 0, .max = 100, .c_end = 4, .r_end = 0.002};
    spsa_init(&param, &schedule);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        double c, r;
        spsa_step_sizes(&param, &schedule, KNOWN[i][0], &c, &r);
        assert_near(c, KNOWN[i][1], 1e-5);
        assert_near(r, KNOWN[i][2], 6e-9);
    }
}

static void an_spsa_step_stays_within_its_limits(void **state) {
    (void)state;
    SpsaParam param = {.theta = 50, .min = 45, .max = 60};
    assert_near(spsa_update(&param, 4, 0.1, 5, 1), 52, 1e-12);
    assert_near(spsa_update(&param, 4, 0.1, 5, -1), 48, 1e-12);
    assert_near(spsa_update(&param, 4, 0.1, 500, 1), 60, 0);
    assert_near(spsa_update(&param, 4, 0.1, -500, 1), 45, 0);
}

enum { PARAMS_MAX = 32 };

static int spsa_load(const json_t *initial, SpsaSchedule *schedule, SpsaParam *params) {
    *schedule = (SpsaSchedule){member(initial, "A"), member(initial, "alpha"),
                               member(initial, "gamma"), member(initial, "num_iter")};
    size_t i;
    json_t *p, *list = json_object_get(initial, "params");
    json_array_foreach (list, i, p) {
        params[i] = (SpsaParam){.theta = member(p, "start"),
                                .min = member(p, "min"),
                                .max = member(p, "max"),
                                .c_end = member(p, "c_end"),
                                .r_end = member(p, "r_end")};
        spsa_init(&params[i], schedule);
        assert_near(params[i].c, member(p, "c"), 1e-12 * member(p, "c"));
        assert_near(params[i].a, member(p, "a"), 1e-12 * member(p, "a"));
    }
    return (int)i;
}

static void check_spsa_update(const json_t *update, const SpsaSchedule *schedule, SpsaParam *param,
                              size_t i) {
    double c, r, sizes[2] = {0};
    counts_of(json_array_get(json_object_get(update, "worker_c_R"), i), sizes);
    spsa_step_sizes(param, schedule, member(update, "request_iter"), &c, &r);
    assert_near(c, sizes[0], 1e-12 * sizes[0]);
    assert_near(r, sizes[1], 1e-12 * sizes[1]);
    int flip = (int)value_of(json_array_get(json_object_get(update, "flips"), i));
    param->theta = spsa_update(param, c, r, member(update, "result_wins_minus_losses"), flip);
    double known = value_of(json_array_get(json_object_get(update, "theta_after"), i));
    assert_near(param->theta, known, 1e-12 * fabs(known));
}

static void spsa_runs_agree_with_the_shared_vectors(void **state) {
    (void)state;
    json_auto_t *file = NULL;
    json_t *c, *update, *cases = shared_vectors("spsa", &file);
    size_t i, u;
    json_array_foreach (cases, i, c) {
        SpsaSchedule schedule;
        SpsaParam params[PARAMS_MAX];
        int n = spsa_load(json_object_get(c, "initial_state"), &schedule, params);
        json_array_foreach (json_object_get(c, "updates"), u, update) {
            for (int p = 0; p < n; p++)
                check_spsa_update(update, &schedule, &params[p], (size_t)p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_apart_has_the_largest_residual),
        cmocka_unit_test(a_table_of_one_worker_says_nothing),
        cmocka_unit_test(a_residual_stays_finite_where_its_probability_underflows),
        cmocka_unit_test(residuals_agree_with_the_shared_vectors),
        cmocka_unit_test(spsa_step_sizes_follow_the_schedule),
        cmocka_unit_test(an_spsa_step_stays_within_its_limits),
        cmocka_unit_test(spsa_runs_agree_with_the_shared_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
