// The contract between the ledger and a workload: what the machines do for a test, and what follows
// from their results. A workload is one file (workload_NAME.c), one row of WORKLOADS and one
// template of its panel (web/templates/workload_NAME.html). All other code asks the table.
//
// The ledger deals *units* in whole batches, keeps each unit in exactly one place, and logs each
// batch with what its machine reported. It knows neither what a unit is nor what a result says. The
// workload knows nothing of rows, machines and tasks. So the same function counts a batch when it
// arrives, when a test is counted again after an exclusion, and in the audit.
//
// A test has `parameters`, which people state, and a `state`, which its counted batches make. Both
// are JSON objects that the workload alone reads. The state begins as {}. Its member `v` is the
// version of its form: a server that starts with another version counts such tests again.
// accept() takes the batches in the order of counting (batches.position), so equal logs give equal
// states, byte by byte.
//
// A test has sides, rows of equal standing: engine, commit with its net, options, clock, threads,
// time margin. A task names those that it plays, `side` against `against`, and results are from the
// point of view of `side`. Today these are "new" and, where there is one, "base".
//
// How later workloads fit:
// - Speed: a unit is a measurement of both sides, `result` two speeds, the state their sums.
// - A suite has one side: no row "base". A unit is a position, told() lists the positions of a
//   task, check() compares the number of answers, and the state maps positions to node counts.
// - Progression is the fixed workload with another pair of sides and other words.
// - SPSA: both sides are one commit. The state holds the parameters; told() takes them from there
//   and draws the signs for each unit, which come back to accept() with the task.
// - A group of takes has more than two sides, and chooses the two of a task when it is dealt, by a
//   further function here; the state keeps a table of pairs of sides, judge() compares takes.
// - Overlapping tests: accept() gets no row, so one batch counts for each test that names the same
//   two sides, with `sign` -1 if they stand the other way round.
// - A chain: ended() submits the next test.
// - A second owner who must agree: told() maps two units to one piece of work, and the state keeps
//   an answer with its owner until the other comes. That another owner gets the second unit is
//   for the scheduler to learn.
// - Data: a unit is a chunk of games to keep, `result` names its blob, and the state is a sum.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/str.h"
#include "server/db/turn.h"
#include "server/ledger/field_rule.h"
#include "server/ledger/trust.h"

#define WORKLOADS(WORKLOAD_)                                                                       \
    WORKLOAD_(sprt)                                                                                \
    WORKLOAD_(fixed)                                                                               \
    WORKLOAD_(width)

// A parameter, and how the form shows it.
typedef struct WorkloadField {
    FieldRule rule;
    const char *label, *hint; // `code` stands between backticks
    bool rare;                // the form shows it among those that seldom change
} WorkloadField;

typedef enum {
    UNIT_PAIR,  // two games from one opening: the server deals openings and replays the games
    UNIT_OTHER, // what told() says
    UNIT_COUNT
} WorkloadUnit;
const char *workload_unit_name(WorkloadUnit unit); // as workers know it: "pair", "other"

// What a workload knows of a test.
typedef struct WorkloadTest {
    const json_t *parameters; // borrowed
    int64_t batch_units, units_max;
} WorkloadTest;

// A batch when it arrives: what its task was told, and its units.
typedef struct WorkloadDealt {
    const json_t *told;
    int64_t first_unit, units;
} WorkloadDealt;

// A batch that counts. `sign` is -1 if it was played for another test with the sides exchanged.
typedef struct WorkloadBatch {
    const json_t *told, *result; // borrowed
    const char *owner;
    OwnerLevel level; // of the owner when the task was dealt
    int sign;
    int64_t units;
} WorkloadBatch;

// A test for people. `units` are counted; `games_per_hour` is what its machines play now, 0 if that
// is not known.
typedef struct WorkloadFacts {
    WorkloadTest test;
    const json_t *state;
    const char *result; // "" while it is not finished
    int64_t units;
    double games_per_hour;
} WorkloadFacts;

// What a finished test says of the first side; pages have a colour for each.
typedef enum {
    MEANING_NONE,
    MEANING_BETTER,
    MEANING_NOT_WORSE, // enough for a simplification
    MEANING_UNCLEAR,   // the result says no, the games a little yes
    MEANING_WORSE,
    MEANING_UNDECIDED, // it should have decided, and its units were too few
} WorkloadMeaning;

typedef struct Workload {
    const char *name, *label; // the label is for people
    int version;              // of the state
    WorkloadUnit unit;
    int64_t units_max;           // the length of a test, if a submission states none
    const WorkloadField *fields; // ends with a rule without a name

    // What several fields of a submission say together. 422 `bad_field`.
    bool (*agree)(const json_t *fields, Error *err);
    // What the worker is told of a task beyond its sides: an object that is stored with the task.
    // `state` holds the batches that count so far. New.
    json_t *(*told)(const WorkloadTest *test, const json_t *state, int64_t first_unit,
                    int64_t units);
    // Whether a result is possible for these units. 422 `bad_counts`.
    bool (*check)(const WorkloadDealt *dealt, const json_t *result, Error *err);
    void (*accept)(const WorkloadTest *test, const WorkloadBatch *batch, json_t *state);
    // Takes the batches that made `part`, a state, out of `state`, as far as sums tell. points()
    // and summary() then say what the test would be without them. Nothing is added to it later.
    void (*subtract)(const WorkloadTest *test, const json_t *part, json_t *state);
    // The result if the test ends with these units: "accepted", "rejected", "undecided" or
    // "completed"; NULL: it goes on. From `units_max` on it is never NULL.
    const char *(*judge)(const WorkloadTest *test, const json_t *state, int64_t units);
    // The numbers that history, event stream and lists keep: {"llr": 1.25}. New.
    json_t *(*points)(const WorkloadTest *test, const json_t *state);
    // What the parameters ask for, in a few characters for lists: "<0.00, 2.00>".
    void (*terms)(const WorkloadTest *test, Str *out);
    // The result so far in a few words, for lists, the reason of the end, the event stream and the
    // worker's console; nothing before the first batch.
    void (*summary)(const WorkloadTest *test, const json_t *state, Str *out);
    // How promising the test is, for the order of lists and the scheduler: 0 is usual, 1 as much as
    // a test can be.
    double (*promise)(const WorkloadTest *test, const json_t *state);
    // The greatest probability with which a test accepts a patch that should not pass; 0: it
    // accepts none.
    double (*false_accept)(const WorkloadTest *test);
    WorkloadMeaning (*meaning)(const WorkloadFacts *facts);
    // Adds the members of the statistics (API.md).
    void (*document)(const WorkloadFacts *facts, json_t *out);
    // What the test will take, before it begins: {"unit", "assumes": bool, "cases": [{"elo",
    // "accepted", "rejected", "undecided", "units"}]}. Each case is a true difference in `unit`
    // with the probabilities of the ends and the mean number of units. Null stands for what does
    // not matter or is not known. `even` is the distribution of the pairs of two equal engines
    // (sprt/sprt.h); `assumes`: it matters. New.
    json_t *(*expected)(const WorkloadTest *test, const double even[5]);
    // What follows when a test has ended, in the same turn: by a verdict, or "stopped" or "failed".
    // The test's state is `finished`. False undoes the request that ended the test.
    bool (*ended)(Turn *turn, int64_t test, const char *result, Error *err);
} Workload;

// Defines the row of a workload from its functions, which are named NAME_FUNCTION. A function that
// is missing does not compile. The four others are given by name: .label, .version, .unit and
// .units_max.
#define WORKLOAD_DEFINE(NAME, LABEL, VERSION, UNIT, UNITS)                                         \
    extern const Workload workload_##NAME;                                                         \
    const Workload workload_##NAME = {.name = #NAME,                                               \
                                      LABEL,                                                       \
                                      VERSION,                                                     \
                                      UNIT,                                                        \
                                      UNITS,                                                       \
                                      .fields = NAME##_fields,                                     \
                                      .agree = NAME##_agree,                                       \
                                      .told = NAME##_told,                                         \
                                      .check = NAME##_check,                                       \
                                      .accept = NAME##_accept,                                     \
                                      .subtract = NAME##_subtract,                                 \
                                      .judge = NAME##_judge,                                       \
                                      .points = NAME##_points,                                     \
                                      .terms = NAME##_terms,                                       \
                                      .summary = NAME##_summary,                                   \
                                      .promise = NAME##_promise,                                   \
                                      .false_accept = NAME##_false_accept,                         \
                                      .meaning = NAME##_meaning,                                   \
                                      .document = NAME##_document,                                 \
                                      .expected = NAME##_expected,                                 \
                                      .ended = NAME##_ended}

// The workloads, in the order in which the form offers them.
int workload_count(void);
const Workload *workload_at(int index);
const Workload *workload_named(const char *name); // NULL: there is none of that name
// A further one, before the server starts: for tests.
void workload_add(const Workload *workload);
// The parameters of a test from complete fields, in their one form: sorted, numbers with 17 digits.
// New, malloc'ed.
char *workload_parameters(const Workload *workload, const json_t *fields);
// The rule of a parameter; NULL: no workload has it.
const WorkloadField *workload_field(const char *name);
