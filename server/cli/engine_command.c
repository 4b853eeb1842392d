// See engine_command.h. Each command is one transaction, so it may run beside a server. As
// everywhere, git is written before the COMMIT.
#include "server/cli/engine_command.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/cli/cli.h"
#include "server/cli/engine_reference.h"
#include "server/git/commit_record.h"
#include "server/git/git_program.h"
#include "server/git/tree.h"
#include "server/ledger/approval.h"
#include "server/ledger/ledger.h"
#include "server/submit/policy.h"
#include "sql/core.h"
#include "sql/git.h"
#include "sql/nets.h"

static const char usage[] =
    "usage: server engine list DATA\n"
    "           lists the engines with baseline and reference\n"
    "       server engine import DATA FOLDER [--message TEXT] [--branch NAME]\n"
    "           commits the files of the source folder (without build outputs) on top of the\n"
    "           baseline, and moves the baseline there. With --branch, the baseline stays and the\n"
    "           commit gets that name: a test may use it as its commit, and as its base once\n"
    "           such a test is approved\n"
    "       server engine export DATA COMMIT FOLDER\n"
    "           writes the files of a branch or commit into a new or empty folder\n"
    "       server engine fetch DATA REPOSITORY REF [--branch NAME]\n"
    "           fetches a branch or tag from another repository (address or path), under its own\n"
    "           name or NAME. A test may use it as its commit, and as its base once such a test\n"
    "           is approved\n"
    "       server engine baseline DATA COMMIT\n"
    "           moves the baseline forward to a branch or commit that descends from it\n"
    "       server engine nets DATA FILE PATH\n"
    "           sets where commits name their net. FILE of the source tree is one line with the\n"
    "           net's SHA-256. The build finds the net at PATH, in which {sha256} stands for that\n"
    "           line. Defaults: net nets/{sha256}. FILE none: the engine has no nets. Commits\n"
    "           that are already here keep their net\n"
    "       server engine reference DATA --worker NUMBER [--commit COMMIT]\n"
    "       server engine reference DATA NODES_PER_SECOND --machine NAME [--commit COMMIT]\n"
    "           sets the speed for which time controls are meant, and the commit with which\n"
    "           workers measure their speed. The first takes what machine NUMBER of this server\n"
    "           measured for its last tasks, the second a figure that a worker measured elsewhere\n"
    "       server engine margin DATA MILLISECONDS\n"
    "           sets by how much an engine may exceed its clock, once in a game, before it loses\n"
    "           on time, in tests that are submitted from now on: 0 to 250, 5 by default\n"
    "       server engine policy DATA POLICY\n"
    "           sets what a merge needs, as JSON: the accepted tests, how many vouched owners\n"
    "           played each, and how many commits may be merged since a test began that is merged\n"
    "           without a new one. '{\"stages\": [{\"preset\": \"STC\"}, {\"preset\": \"LTC\"}],\n"
    "           \"owners\": 2, \"untested\": 10}'. A stage may state workload, model, elo0, elo1, "
    "tc\n"
    "           and threads (as they must be), alpha and beta (at most) and games (the cap, at\n"
    "           least) in place of those of a preset. default: what the mode of trust has\n"
    "       server engine bench DATA COMMIT NODES\n"
    "           corrects the bench count of a commit; its open tests continue with the new count\n"
    "If there are several engines, add --engine NAME to a command (not to list).\n";

typedef struct Plan {
    const char *words[4]; // DATA and the words after it
    int word_count;
    const char *engine, *message, *branch, *commit, *machine, *worker;
} Plan;

typedef struct EngineJob {
    const Plan *plan;
    Db *db;
    git_repository *repo;
    SqlEngineById engine;
} EngineJob;

static void note(const EngineJob *job, const char *message) {
    Error err;
    if (!sql_event_add(job->db, &err, .type = "engine", .user = 0, .worker = 0, .test = 0,
                       .message = message, .created = (double)time(NULL)))
        fprintf(stderr, "server: the event log cannot be written: %s\n", err.message);
}

// ---- commits

// Records `sha`, so that workers can build it.
static bool record_commit(const EngineJob *job, const char *sha, CommitRecord *record, Error *err) {
    NetRule rule = net_rule_of(&job->engine);
    return commit_prepare(job->repo, NULL, sha, &rule, record, err) &&
           commit_record(job->db, job->engine.id, record, (double)time(NULL), err);
}

// The net that the recorded commit needs and that was not uploaded; NULL: none.
static char *missing_net(const EngineJob *job, const char *sha) {
    return sql_net_missing_of_commit(job->db, .engine = job->engine.id, .sha = sha);
}

// Sets the baseline in the row, then the branch. Fails if another command or a merge has moved it
// meanwhile.
static bool set_baseline(const EngineJob *job, const char *sha, Error *err) {
    CommitRecord record scope(commit_record_release) = {0};
    char *ref scope(free_ptr) = xasprintf("refs/heads/%s", job->engine.branch);
    if (!approval_unharmed(job->db, job->repo, job->engine.id, sha, err) ||
        !record_commit(job, sha, &record, err) ||
        !sql_engine_set_baseline(job->db, err, .engine = job->engine.id, .baseline = sha,
                                 .old = job->engine.baseline))
        return false;
    if (db_changes(job->db) != 1)
        return error_set(err, 409, "conflict", "the baseline has moved meanwhile; try again");
    if (!repo_ref_set(job->repo, ref, sha, err))
        return false;
    char *line scope(free_ptr) =
        xasprintf("%s: the operator moved %s to %.10s", job->engine.name, job->engine.branch, sha);
    note(job, line);
    printf("%s is now at %s: %s\n", job->engine.branch, sha, record.info.subject);
    char *net scope(free_ptr) = missing_net(job, sha);
    if (net)
        printf(
            "It names the net %s, which was not uploaded yet. Upload it on the page /nets. Before "
            "that, no test of this commit can be approved\n",
            net);
    return true;
}

static bool set_branch(const EngineJob *job, const char *branch, const char *sha, Error *err) {
    char *ref scope(free_ptr) = xasprintf("refs/heads/%s", branch);
    int valid = 0;
    if (git_reference_name_is_valid(&valid, ref) < 0 || !valid)
        return error_set(err, 422, "bad_field", "'%s' is not a valid name of a branch", branch);
    if (strcmp(branch, job->engine.branch) == 0)
        return error_set(err, 422, "bad_field",
                         "%s is the baseline's branch; `server engine baseline` moves it", branch);
    if (!repo_ref_set(job->repo, ref, sha, err))
        return false;
    printf("%s is now at %s\n", branch, sha);
    return true;
}

// ---- commands

static bool do_list(EngineJob *job, Error *err) {
    (void)err;
    for (SqlEnginesAllRows engines = sql_engines_all(job->db); sql_engines_all_next(&engines);)
        printf("%s: %s at %s, reference %.10s at %.0f nodes/s, measured on %s\n", engines.row.name,
               engines.row.branch, engines.row.baseline, engines.row.reference_commit,
               engines.row.reference_speed, engines.row.reference_machine);
    return true;
}

static bool tree_is_of(const EngineJob *job, const git_oid *tree, const char *sha) {
    CommitInfo info scope(repo_commit_info_release) = {0};
    Error ignored;
    char hex[REPO_SHA_MAX];
    return repo_commit_info(job->repo, sha, &info, &ignored) &&
           strcmp(git_oid_tostr(hex, sizeof hex, tree), info.tree) == 0;
}

static bool do_import(EngineJob *job, Error *err) {
    git_oid tree;
    char sha[REPO_SHA_MAX];
    const char *message = job->plan->message ? job->plan->message : "Import a source tree";
    CommitSpec spec = {.tree = &tree,
                       .parent = job->engine.baseline,
                       .author = "Patchmate",
                       .author_email = "noreply@patchmate",
                       .authored = (double)time(NULL),
                       .committer = "Patchmate",
                       .committer_email = "noreply@patchmate",
                       .committed = (double)time(NULL),
                       .message = message};
    if (!repo_tree_import(job->repo, job->plan->words[1], &tree, err))
        return false;
    if (tree_is_of(job, &tree, spec.parent))
        return printf("nothing to import: the baseline has the same files\n") > 0;
    return repo_commit(job->repo, &spec, sha, err) && repo_sync(job->repo, err) &&
           (job->plan->branch ? set_branch(job, job->plan->branch, sha, err)
                              : set_baseline(job, sha, err));
}

static bool do_export(EngineJob *job, Error *err) {
    char sha[REPO_SHA_MAX];
    return repo_resolve(job->repo, job->plan->words[1], sha, err) &&
           repo_tree_export(job->repo, sha, job->plan->words[2], err) &&
           printf("%s is in %s\n", sha, job->plan->words[2]) > 0;
}

// Fetches into a reference of its own, because the branch's name must be checked first.
static bool do_fetch(EngineJob *job, Error *err) {
    static const char arrived[] = "refs/patchmate/arrived";
    const char *ref = job->plan->words[2];
    const char *slash = strrchr(ref, '/');
    const char *branch = job->plan->branch ? job->plan->branch : slash ? slash + 1 : ref;
    char *folder scope(free_ptr) = xasprintf("--git-dir=%s", git_repository_path(job->repo));
    char *spec scope(free_ptr) = xasprintf("+%s:%s", ref, arrived);
    const char *argv[] = {"git",       folder,
                          "-c",        "core.fsync=all",
                          "fetch",     "--quiet",
                          "--no-tags", "--no-write-fetch-head",
                          "--",        job->plan->words[1],
                          spec,        NULL};
    const char *env[] = {"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", NULL};
    GitCall call = {.argv = argv, .env = env, .timeout_s = 600};
    Str out scope(str_release);
    str_init(&out, 1 << 20);
    git_oid oid;
    char sha[REPO_SHA_MAX];
    if (!git_run(&call, &out, err))
        return error_prefix(err, "cannot fetch %s from %s", ref, job->plan->words[1]);
    if (git_reference_name_to_id(&oid, job->repo, arrived) < 0)
        return repo_error(err, 500, "git", "the fetched reference is missing");
    git_reference_remove(job->repo, arrived);
    git_oid_tostr(sha, sizeof sha, &oid);
    return repo_sync(job->repo, err) && set_branch(job, branch, sha, err);
}

static bool do_baseline(EngineJob *job, Error *err) {
    char sha[REPO_SHA_MAX];
    const char *old = job->engine.baseline;
    if (!repo_resolve(job->repo, job->plan->words[1], sha, err))
        return false;
    if (!repo_is_ancestor(job->repo, old, sha))
        return error_set(err, 409, "not_forward",
                         "%.10s does not descend from the baseline %.10s; the baseline only moves "
                         "forward",
                         sha, old);
    return set_baseline(job, sha, err);
}

static bool read_reference(const EngineJob *job, const char *sha, Reference *out, Error *err) {
    const Plan *plan = job->plan;
    long worker;
    bool given = plan->word_count == 2;
    if (given == (plan->worker != NULL) || (plan->machine && !given))
        return error_set(err, 422, "bad_field",
                         "name either a machine of this server with --worker NUMBER, or a speed "
                         "and with --machine where it was measured");
    if (given)
        return reference_given(plan->words[1], plan->machine, out, err);
    if (!parse_long(plan->worker, 1, LONG_MAX, &worker))
        return error_set(err, 422, "bad_field", "'%s' is not the number of a machine",
                         plan->worker);
    return reference_measured(job->db, job->engine.id, sha, worker, out, err);
}

static bool do_reference(EngineJob *job, Error *err) {
    char sha[REPO_SHA_MAX];
    CommitRecord record scope(commit_record_release) = {0};
    Reference reference scope(reference_release) = {0};
    const char *commit = job->plan->commit ? job->plan->commit : job->engine.reference_commit;
    if (!repo_resolve(job->repo, commit, sha, err) || !read_reference(job, sha, &reference, err) ||
        !record_commit(job, sha, &record, err))
        return false;
    char *net scope(free_ptr) = missing_net(job, sha);
    if (net)
        return error_set(err, 409, "net_missing",
                         "%.10s names the net %s, which was not uploaded: workers could not "
                         "build it",
                         sha, net);
    if (!sql_engine_set_reference(job->db, err, .engine = job->engine.id, .sha = sha,
                                  .speed = reference.speed, .machine = reference.machine))
        return false;
    char *line scope(free_ptr) =
        xasprintf("%s: reference is %.10s at %.0f nodes/s, measured on %s", job->engine.name, sha,
                  reference.speed, reference.machine);
    note(job, line);
    return printf("%s\n", line) > 0;
}

static bool do_margin(EngineJob *job, Error *err) {
    long margin_ms;
    if (!parse_long(job->plan->words[1], 0, 250, &margin_ms))
        return error_set(err, 422, "bad_field", "'%s' is not a margin in milliseconds (0 to 250)",
                         job->plan->words[1]);
    if (!sql_engine_set_margin(job->db, err, .engine = job->engine.id, .margin_ms = margin_ms))
        return false;
    char *line scope(free_ptr) = xasprintf("%s: the margin of time is %ld ms for tests from now on",
                                           job->engine.name, margin_ms);
    note(job, line);
    return printf("%s\n", line) > 0;
}

static bool do_policy(EngineJob *job, Error *err) {
    const char *text = job->plan->words[1];
    if (!policy_set(job->db, job->engine.id, strcmp(text, "default") == 0 ? "" : text, err))
        return false;
    Str line scope(str_release);
    str_init(&line, 4000);
    str_printf(&line, "%s: a merge needs", job->engine.name);
    json_auto_t *words = policy_words(job->db, job->engine.id);
    size_t i;
    json_t *text_of_stage;
    json_array_foreach (words, i, text_of_stage)
        str_printf(&line, "%s %s", i ? ";" : "", json_string_value(text_of_stage));
    str_printf(&line, "; commits between, without a new test: at most %d",
               policy_untested(job->db, job->engine.id));
    note(job, line.data);
    return printf("%s\n", line.data) > 0;
}

static bool do_nets(EngineJob *job, Error *err) {
    bool none = strcmp(job->plan->words[1], "none") == 0;
    NetRule rule = {none ? "" : job->plan->words[1], job->plan->words[2]};
    return net_rule_check(&rule, err) &&
           sql_engine_set_nets(job->db, err, .engine = job->engine.id, .file = rule.file,
                               .path = rule.path) &&
           (none ? printf("%s has no nets\n", job->engine.name)
                 : printf("%s: %s names the net, the build finds it at %s\n", job->engine.name,
                          rule.file, rule.path)) > 0;
}

static bool do_bench(EngineJob *job, Error *err) {
    char sha[REPO_SHA_MAX];
    long nodes;
    scope(turn_release) Turn turn = {.db = job->db, .now = (double)time(NULL)};
    if (!parse_long(job->plan->words[2], 1, 1000000000000000, &nodes))
        return error_set(err, 422, "bad_field", "'%s' is not a number of nodes",
                         job->plan->words[2]);
    return repo_resolve(job->repo, job->plan->words[1], sha, err) &&
           ledger_bench_correct(&turn, job->engine.id, sha, nodes, 0, 0, err) &&
           printf("%s: bench of %.10s is %ld\n", job->engine.name, sha, nodes) > 0;
}

typedef struct Command {
    const char *name;
    int words, most_words; // DATA among them
    bool writes;           // the database: in a transaction, so it must be short
    bool (*run)(EngineJob *, Error *);
} Command;

static const Command commands[] = {
    {"list", 1, 1, false, do_list},        {"import", 2, 2, true, do_import},
    {"export", 3, 3, false, do_export},    {"fetch", 3, 3, false, do_fetch},
    {"baseline", 2, 2, true, do_baseline}, {"reference", 1, 2, true, do_reference},
    {"nets", 3, 3, true, do_nets},         {"bench", 3, 3, true, do_bench},
    {"margin", 2, 2, true, do_margin},     {"policy", 2, 2, true, do_policy},
};

// ---- running one

static bool read_plan(int argc, char **argv, Plan *plan) {
    static const struct option options[] = {{"engine", required_argument, NULL, 0},
                                            {"message", required_argument, NULL, 0},
                                            {"branch", required_argument, NULL, 0},
                                            {"commit", required_argument, NULL, 0},
                                            {"machine", required_argument, NULL, 0},
                                            {"worker", required_argument, NULL, 0},
                                            {0}};
    const char **const places[] = {&plan->engine, &plan->message, &plan->branch,
                                   &plan->commit, &plan->machine, &plan->worker};
    optind = 1;
    for (int c, which; (c = getopt_long(argc, argv, "", options, &which)) != -1;) {
        if (c)
            return false;
        *places[which] = optarg;
    }
    for (; optind < argc && plan->word_count < 4; optind++)
        plan->words[plan->word_count++] = argv[optind];
    return optind == argc;
}

static bool open_engine(EngineJob *job, Error *err) {
    const char *name = job->plan->engine;
    int64_t id = name ? sql_engine_of_name(job->db, 0, name) : sql_engine_only(job->db, 0);
    if (!id && !name)
        return error_set(err, 422, "no_such_engine", "name the engine with --engine NAME");
    if (!sql_engine_by_id(job->db, &job->engine, id))
        return error_set(err, 404, "no_such_engine", "there is no engine '%s'", name ? name : "");
    job->repo = repo_open(job->plan->words[0], job->engine.name, err);
    return job->repo;
}

static int run(const Plan *plan, const Command *command) {
    Error err = {0};
    EngineJob job = {.plan = plan, .db = command_database(plan->words[0])};
    if (!job.db)
        return 1;
    bool ok = (command->run == do_list || open_engine(&job, &err)) &&
              (!command->writes || db_begin(job.db, &err)) && command->run(&job, &err) &&
              (!command->writes || db_commit(job.db, &err));
    if (!ok && command->writes)
        db_rollback(job.db);
    git_repository_free(job.repo);
    sql_row_free(&job.engine);
    db_close(job.db);
    return ok ? 0 : command_failed(&err);
}

int command_engine(int argc, char **argv) {
    Plan plan = {0};
    if (argc > 1)
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (strcmp(commands[i].name, argv[1]) == 0 && read_plan(argc - 1, argv + 1, &plan) &&
                plan.word_count >= commands[i].words && plan.word_count <= commands[i].most_words)
                return run(&plan, &commands[i]);
    fputs(usage, stderr);
    return 2;
}
