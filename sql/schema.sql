-- The present schema of Patchmate's database. Until the first release, a change of the schema is made here. Afterwards
-- a change is a script sql/migrate_N.sql beside this one (see sql/README.md). Times are Unix seconds with
-- decimals, ids are integers, and blobs are named by SHA-256 in lower-case hex. Results are append-only. The totals in
-- `tests` are a cache: counting the batches again gives the same totals, and `server check` compares them.

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The name of this installation, drawn when the database is made: signatures of batches hold it, so that none fits a batch
-- of another installation.
CREATE TABLE installation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL CHECK (length(name) = 32)
) STRICT;
INSERT INTO installation VALUES (1, lower(hex(randomblob(16))));

-- When the server was first reached from outside, and by what (server/ledger/outside.h). No row: never. The row stays.
CREATE TABLE reached (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    created REAL NOT NULL,
    reason TEXT NOT NULL                    -- in words
) STRICT;

-- One row. 'private': every machine that registers is vouched for. 'roles': only machines of people with a role get
-- tasks. 'public': the setting `trust` says so. It wins where it is set.
CREATE VIEW trust (mode) AS
SELECT coalesce((SELECT value FROM settings WHERE name = 'trust' AND value IN ('private', 'public')),
                CASE WHEN EXISTS (SELECT 1 FROM reached) THEN 'roles' ELSE 'private' END);

-- The files under DATA/blobs that rows refer to. Snapshots of commits are there as well, but have no rows: each can be
-- made again from git.
CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    size INTEGER NOT NULL CHECK (size >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('book', 'net', 'games', 'archive')),
    created REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (length(name) BETWEEN 2 AND 32),
    email TEXT NOT NULL DEFAULT '',
    password TEXT NOT NULL,                 -- scrypt$N$r$p$salt$hash
    state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'pending', 'blocked')),
    admin INTEGER NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
    created REAL NOT NULL
) STRICT;

CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the cookie
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    csrf TEXT NOT NULL,
    address TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user_id);

-- Networks from which an account signed in, and its browsers ('device HASH'): only the latest ones.
CREATE TABLE known_networks (
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    network TEXT NOT NULL,
    last REAL NOT NULL,
    PRIMARY KEY (user_id, network)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_tokens (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    token_hash TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL CHECK (scope IN ('submit', 'worker', 'admin')),
    name TEXT NOT NULL,
    created REAL NOT NULL,
    last_used REAL
) STRICT;

-- Wrong passwords and other limited attempts. A subject is 'user:ID', or 'name:HASH' if there is no such account; each
-- may have ' NETWORK' after it. Others are 'network:…', 'session:…' and 'signup:…'.
CREATE TABLE login_failures (
    subject TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    last REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE engines (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,              -- as in URLs and DATA/git/NAME.git
    title TEXT NOT NULL,
    branch TEXT NOT NULL DEFAULT 'main',
    baseline TEXT NOT NULL,                 -- commit at the head of the branch; the branch in git follows this column
    build TEXT NOT NULL CHECK (json_valid(build)), -- directory, command, binary, env, bench_args
    reference_commit TEXT NOT NULL,
    reference_speed REAL NOT NULL CHECK (reference_speed > 0), -- nodes/s of one slot of the reference machine
    reference_machine TEXT NOT NULL DEFAULT '', -- in words, the machine whose worker measured it
    scale_min REAL NOT NULL DEFAULT 0.1,
    scale_max REAL NOT NULL DEFAULT 10,
    margin_ms INTEGER NOT NULL DEFAULT 5 CHECK (margin_ms BETWEEN 0 AND 250), -- of the sides of tests from now on
    created REAL NOT NULL,
    -- The file of the tree that names the net of a commit, and the path at which the build finds that net; '': no nets.
    net_file TEXT NOT NULL DEFAULT 'net',
    net_path TEXT NOT NULL DEFAULT 'nets/{sha256}',
    -- What a merge needs: server/submit/policy.h. '': what the mode of trust has.
    policy TEXT NOT NULL DEFAULT '' CHECK (policy = '' OR json_valid(policy))
) STRICT;

-- developer or maintainer. A volunteer needs no role, and an admin has all rights.
CREATE TABLE roles (
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    engine_id INTEGER NOT NULL REFERENCES engines ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('developer', 'maintainer')),
    PRIMARY KEY (user_id, engine_id, role)
) STRICT, WITHOUT ROWID;

-- Accounts that ask for the role developer of an engine. A row is kept after it was declined, so that the account waits
-- before it asks again.
CREATE TABLE role_requests (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    engine_id INTEGER NOT NULL REFERENCES engines ON DELETE CASCADE,
    text TEXT NOT NULL,                     -- one line for those who decide
    created REAL NOT NULL,
    declined REAL,                          -- NULL: it waits for an answer
    UNIQUE (user_id, engine_id)
) STRICT;

-- Those that wait: of accounts that are active and have no role of the engine.
CREATE VIEW open_role_requests AS
SELECT q.* FROM role_requests q JOIN users u ON u.id = q.user_id
WHERE q.declined IS NULL AND u.state = 'active' AND u.admin = 0
  AND NOT EXISTS (SELECT 1 FROM roles r WHERE r.user_id = q.user_id AND r.engine_id = q.engine_id);

-- The people with a role: on any engine, or as an admin.
CREATE VIEW role_holders (user_id) AS
SELECT id FROM users u WHERE state = 'active' AND (admin = 1 OR EXISTS (SELECT 1 FROM roles r WHERE r.user_id = u.id));

-- Commits that can be built: the SHA-256 of their snapshot (tar), which names their tree.
CREATE TABLE commits (
    engine_id INTEGER NOT NULL REFERENCES engines,
    sha TEXT NOT NULL CHECK (length(sha) = 40),
    snapshot TEXT NOT NULL CHECK (length(snapshot) = 64),
    subject TEXT NOT NULL,
    author TEXT NOT NULL,
    created REAL NOT NULL,
    net TEXT,                               -- SHA-256 of the net that its tree names; NULL: none
    -- The files that are placed in the tree before the build: [{"blob", "path"}]; empty if the net is part of the tree.
    files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    PRIMARY KEY (engine_id, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX commits_snapshot ON commits (snapshot);
CREATE INDEX commits_net ON commits (engine_id, net) WHERE net IS NOT NULL;

-- What machines found of the program that a tree makes, so of each commit with this tree. No row: nothing yet.
CREATE TABLE trees (
    engine_id INTEGER NOT NULL REFERENCES engines,
    snapshot TEXT NOT NULL CHECK (length(snapshot) = 64),
    bench INTEGER CHECK (bench > 0),        -- NULL: not known
    -- What the engine answers to "uci" about its options, a line for each (server/common/uci_option.h), as most owners
    -- read it; NULL: not known.
    options TEXT,
    PRIMARY KEY (engine_id, snapshot)
) STRICT, WITHOUT ROWID;

CREATE VIEW known_commits AS
SELECT c.*, r.bench, r.options FROM commits c LEFT JOIN trees r ON r.engine_id = c.engine_id AND r.snapshot = c.snapshot;

-- Nets that developers uploaded.
CREATE TABLE nets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    engine_id INTEGER NOT NULL REFERENCES engines,
    sha256 TEXT NOT NULL REFERENCES blobs (sha256),
    name TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    user_id INTEGER NOT NULL REFERENCES users,
    created REAL NOT NULL,
    UNIQUE (engine_id, sha256)
) STRICT;
CREATE INDEX nets_user ON nets (user_id, created);

CREATE TABLE books (
    id INTEGER PRIMARY KEY,
    engine_id INTEGER NOT NULL REFERENCES engines,
    name TEXT NOT NULL,
    blob TEXT NOT NULL REFERENCES blobs (sha256),
    format TEXT NOT NULL CHECK (format IN ('epd', 'pgn')),
    openings INTEGER NOT NULL CHECK (openings > 0),
    duplicates INTEGER NOT NULL DEFAULT 0,  -- openings of the file that were left out: others reach the same position
    chess960 INTEGER NOT NULL DEFAULT 0 CHECK (chess960 IN (0, 1)),
    user_id INTEGER REFERENCES users,       -- who uploaded it; NULL: the operator
    created REAL NOT NULL,
    UNIQUE (engine_id, name)
) STRICT;

-- Sets of values with which the form may start. `fields` holds values by the names of form fields.
CREATE TABLE presets (
    id INTEGER PRIMARY KEY,
    engine_id INTEGER NOT NULL REFERENCES engines,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    fields TEXT NOT NULL CHECK (json_valid(fields)),
    UNIQUE (engine_id, name)
) STRICT;

CREATE TABLE tests (
    id INTEGER PRIMARY KEY,
    engine_id INTEGER NOT NULL REFERENCES engines,
    author_id INTEGER NOT NULL REFERENCES users,
    title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,

    -- The conditions. Those of a side are in `sides`.
    workload TEXT NOT NULL,                 -- a name of server/ledger/workload.h
    parameters TEXT NOT NULL CHECK (json_valid(parameters)), -- of the workload, which alone reads them
    book_id INTEGER NOT NULL REFERENCES books,
    seed INTEGER,                           -- of the order of the openings; drawn at the first approval
    variant TEXT NOT NULL CHECK (variant IN ('standard', 'chess960')),
    adjudication TEXT NOT NULL CHECK (json_valid(adjudication)),
    batch_pairs INTEGER NOT NULL CHECK (batch_pairs BETWEEN 1 AND 1000),
    pairs_max INTEGER NOT NULL CHECK (pairs_max > 0), -- the end of a fixed test, the cap of others
    priority INTEGER NOT NULL DEFAULT 0,

    -- The state. pending: waits for approval. active: in the queue. finished: see result.
    state TEXT NOT NULL CHECK (state IN ('pending', 'active', 'paused', 'finished')),
    approved_hash TEXT,                     -- of everything that will run; a change withdraws the approval
    approved_by INTEGER REFERENCES users,
    started REAL,                           -- when its first task was dealt
    finished REAL,
    result TEXT CHECK (result IN ('accepted', 'rejected', 'stopped', 'failed', 'completed', 'undecided')),
    reason TEXT NOT NULL DEFAULT '',        -- why it was stopped or failed, with the end of the compiler's output
    merged_commit TEXT,
    merged REAL,
    merged_onto TEXT,                       -- the baseline before
    retest_of INTEGER REFERENCES tests,     -- the test whose patch this one tries again on a new baseline
    trial_of INTEGER REFERENCES tests,      -- the test whose merge this one tries: see `merges`
    undone REAL,                            -- when its merge was undone; no policy merges it again
    resumed REAL,                           -- failures and bench counts reported before this time do not count
    -- 1: a maintainer marked the commit as harmful. No later test may have it among its ancestors.
    harmful INTEGER NOT NULL DEFAULT 0 CHECK (harmful IN (0, 1)),
    games_dropped REAL,                     -- when its games were deleted because the disk was nearly full
    -- When its reference was given up, so that git may remove its objects: it was stopped long ago and not approved.
    patch_dropped REAL,

    -- Dealing: each pair below next_pair was dealt at least once. Ranges that returned are in returned_pairs.
    next_pair INTEGER NOT NULL DEFAULT 0,

    -- A cache: what the counted batches make, in the order of their positions.
    units_counted INTEGER NOT NULL DEFAULT 0, -- a unit is what the workload deals: a pair of games
    counts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(counts)), -- the workload's state
    points TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(points)), -- the numbers that lists and charts show: {"llr": …}
    promise REAL NOT NULL DEFAULT 0,        -- how promising it is, for the order of lists and the scheduler
    positions INTEGER NOT NULL DEFAULT 0,   -- given to batches so far
    unsettled INTEGER NOT NULL DEFAULT 0 CHECK (unsettled IN (0, 1)), -- 1: batches that wait may be next; see places.h
    units_recorded INTEGER NOT NULL DEFAULT 0, -- of units_counted, those of recorded owners, of unproven ones, and of the
    units_unproven INTEGER NOT NULL DEFAULT 0, -- author: server/ledger/shares.h
    units_author INTEGER NOT NULL DEFAULT 0,

    CHECK ((state = 'finished') = (result IS NOT NULL)),
    CHECK ((state = 'finished') = (finished IS NOT NULL)),
    CHECK (patch_dropped IS NULL OR (result = 'stopped' AND approved_hash IS NULL)),
    CHECK (state IN ('pending', 'finished') OR approved_hash IS NOT NULL)
) STRICT;
CREATE INDEX tests_open ON tests (state, priority) WHERE state <> 'finished';
CREATE INDEX tests_finished ON tests (finished) WHERE state = 'finished';
CREATE INDEX tests_unsettled ON tests (state) WHERE unsettled = 1;
CREATE INDEX tests_author ON tests (author_id);
CREATE INDEX tests_book ON tests (book_id);
CREATE INDEX tests_retest ON tests (retest_of) WHERE retest_of IS NOT NULL;
CREATE INDEX tests_trial ON tests (trial_of) WHERE trial_of IS NOT NULL;
CREATE INDEX tests_merged ON tests (engine_id, merged_commit) WHERE merged_commit IS NOT NULL;
CREATE INDEX tests_harmful ON tests (engine_id) WHERE harmful;
CREATE INDEX tests_unapproved ON tests (finished) WHERE result = 'stopped' AND approved_hash IS NULL AND patch_dropped IS NULL;
CREATE INDEX tests_dropped ON tests (engine_id) WHERE patch_dropped IS NOT NULL;

-- The sides of a test, of equal standing: what each is and how it plays. Side 'new' is the patch, and refs/tests/ID
-- refers to its commit. A match has a second side, 'base'; a test that plays no games may have one side.
CREATE TABLE sides (
    test_id INTEGER NOT NULL REFERENCES tests,
    side TEXT NOT NULL CHECK (length(side) BETWEEN 1 AND 32), -- its name, as machines and reports use it
    engine_id INTEGER NOT NULL REFERENCES engines,
    sha TEXT NOT NULL,                      -- the commit; its net is its tree's
    options TEXT NOT NULL DEFAULT '',       -- 'Hash=16 "Move Overhead"=10': server/common/option_text.h
    tc TEXT NOT NULL,                       -- '10+0.1', '40/10+0.1', 'nodes=20000', 'depth=8', 'st=0.1'
    threads INTEGER NOT NULL CHECK (threads BETWEEN 1 AND 1024),
    margin_ms INTEGER NOT NULL CHECK (margin_ms BETWEEN 0 AND 250), -- how far it may exceed its clock, once a game
    -- The bench count that the submission declared. It applies to this test, until machines have established the
    -- commit's count.
    bench_declared INTEGER CHECK (bench_declared > 0),
    -- 1: the approval of this test suffices for the commit: it is the patch, or in the history of its engine's branch.
    -- 0: the test plays only while the approval of a test of that commit is valid.
    grounded INTEGER NOT NULL DEFAULT 1 CHECK (grounded IN (0, 1)),
    PRIMARY KEY (test_id, side),
    FOREIGN KEY (engine_id, sha) REFERENCES commits (engine_id, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX sides_commit ON sides (engine_id, sha);
CREATE INDEX sides_ungrounded ON sides (engine_id) WHERE NOT grounded;

-- The queue of merges of each engine (server/submit/merge_queue.h). waiting: the server has not looked at it, as another
-- is at work. trial: the test `trial_id` tries the merged tree. Each other state ends the row.
CREATE TABLE merges (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    engine_id INTEGER NOT NULL REFERENCES engines,
    test_id INTEGER NOT NULL REFERENCES tests,
    user_id INTEGER NOT NULL REFERENCES users, -- who merges
    turned INTEGER NOT NULL CHECK (turned IN (0, 1)), -- 1: this person has read that the verdict was turned
    state TEXT NOT NULL CHECK (state IN ('waiting', 'trial', 'merged', 'retest', 'refused')),
    baseline TEXT,                          -- on which the tree was made
    candidate TEXT,                         -- a commit of this tree, without its bench count
    trial_id INTEGER REFERENCES tests,
    reason TEXT NOT NULL DEFAULT '',        -- of the end, in words
    created REAL NOT NULL,
    ended REAL,
    CHECK ((state IN ('waiting', 'trial')) = (ended IS NULL)),
    CHECK (state <> 'trial' OR (baseline IS NOT NULL AND candidate IS NOT NULL AND trial_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX merges_open ON merges (test_id) WHERE ended IS NULL;
CREATE UNIQUE INDEX merges_at_work ON merges (engine_id) WHERE state = 'trial';
CREATE INDEX merges_test ON merges (test_id);
CREATE INDEX merges_queue ON merges (engine_id) WHERE ended IS NULL;

-- What each test changes: the trees of its base and its patch, and the patch-ids of git (server/patch/identity.h), by which
-- tests of the same idea find each other. The commits of a test never change. A row stays when the patch is dropped.
CREATE TABLE ideas (
    test_id INTEGER PRIMARY KEY REFERENCES tests,
    engine_id INTEGER NOT NULL REFERENCES engines,
    base_tree TEXT NOT NULL,
    tree TEXT NOT NULL,
    patch_id TEXT,                          -- NULL: it has none
    reverse_id TEXT,                        -- of the diff from `tree` to `base_tree`
    verbatim_id TEXT,                       -- the same with white space
    verbatim_reverse TEXT,
    missing TEXT NOT NULL,                  -- why there are no patch-ids, in words; '': there are, or the trees are equal
    -- 1: a maintainer approved the test once, or called it harmful. Lists begin with these, so that no author can push
    -- them out by tests that are submitted and stopped.
    looked_at INTEGER NOT NULL DEFAULT 0 CHECK (looked_at IN (0, 1))
) STRICT;
CREATE INDEX ideas_tree ON ideas (engine_id, tree, looked_at);
CREATE INDEX ideas_trees ON ideas (engine_id, base_tree, tree, looked_at);
CREATE INDEX ideas_patch ON ideas (engine_id, patch_id, looked_at) WHERE patch_id IS NOT NULL;
CREATE INDEX ideas_reverse ON ideas (engine_id, reverse_id, looked_at) WHERE reverse_id IS NOT NULL;
CREATE TRIGGER ideas_looked_at AFTER UPDATE OF approved_hash, harmful ON tests WHEN NEW.approved_hash IS NOT NULL OR NEW.harmful
    BEGIN UPDATE ideas SET looked_at = 1 WHERE test_id = NEW.id AND looked_at = 0; END;

-- Tests of a tree that no earlier test with results had, and that are no retests. What patches are worth before they are
-- chosen can be learned from these alone.
CREATE VIEW first_tests (id) AS SELECT t.id FROM tests t JOIN ideas i ON i.test_id = t.id
WHERE t.retest_of IS NULL
  AND NOT EXISTS (SELECT 1 FROM ideas o JOIN tests e ON e.id = o.test_id
                  WHERE o.engine_id = i.engine_id AND o.tree = i.tree AND o.test_id < i.test_id AND e.units_counted > 0);

-- Commits that workers may build now: those of tests that are approved and not finished, and the references.
CREATE VIEW commits_built AS
SELECT c.engine_id, c.sha, c.snapshot FROM commits c
WHERE EXISTS (SELECT 1 FROM engines e WHERE e.id = c.engine_id AND e.reference_commit = c.sha)
   OR EXISTS (SELECT 1 FROM sides s JOIN tests t ON t.id = s.test_id
              WHERE s.engine_id = c.engine_id AND s.sha = c.sha AND t.state IN ('active', 'paused'));

-- What a user's submissions wrote to the disk, by the hour (Unix time / 3600), whatever became of the tests. Rows of
-- the last day only.
CREATE TABLE submitted_bytes (
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    hour INTEGER NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    PRIMARY KEY (user_id, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX submitted_bytes_hour ON submitted_bytes (hour);

CREATE TABLE workers (
    id INTEGER PRIMARY KEY,
    machine_key_hash TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    user_id INTEGER REFERENCES users,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    host TEXT NOT NULL CHECK (json_valid(host)), -- os, arch, cpu, cores, memory_mib, compilers, sandbox
    cores INTEGER NOT NULL,                 -- offered at the last claim
    speed REAL,                             -- nodes/s of a slot, last measured
    address TEXT NOT NULL,
    blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked IN (0, 1)),
    games INTEGER NOT NULL DEFAULT 0,       -- credited games, counted or not
    created REAL NOT NULL,
    last_seen REAL NOT NULL,
    -- The network of its last request, as address_network() writes it: an IPv4 address, or an IPv6 /64.
    network TEXT NOT NULL DEFAULT '',
    -- An owner is an account, or the network of machines without one. What the machine sends keeps the owner to which its
    -- task was dealt: a machine may change its owner.
    owner TEXT GENERATED ALWAYS AS (coalesce('user ' || user_id, 'network ' || network)) VIRTUAL,
    user_token_hash TEXT NOT NULL DEFAULT '', -- the account's token with which it registered, as in api_tokens; '': none
    fruitless INTEGER NOT NULL DEFAULT 0,   -- tasks in a row that it ended without a result
    rest_until REAL NOT NULL DEFAULT 0,     -- until this time it gets no task because of that
    released REAL NOT NULL DEFAULT 0,       -- when a maintainer unblocked it last; 0: never
    tasked INTEGER NOT NULL DEFAULT 0       -- 0: it never got a task, and is deleted after a time (machines_forget)
) STRICT;
CREATE INDEX workers_user ON workers (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX workers_network ON workers (network, created);
CREATE INDEX workers_owner ON workers (owner);
CREATE INDEX workers_seen ON workers (last_seen);
CREATE INDEX workers_blocked ON workers (id) WHERE blocked = 1;
CREATE INDEX workers_idle ON workers (last_seen) WHERE tasked = 0 AND blocked = 0;

-- The public keys (Ed25519) with which machines registered; rows are only added. A machine may change its key, and a batch
-- names the one that signed it. They go only with a machine that never got a task.
CREATE TABLE worker_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    worker_id INTEGER NOT NULL REFERENCES workers ON DELETE CASCADE,
    public_key TEXT NOT NULL CHECK (length(public_key) = 64),
    created REAL NOT NULL,
    UNIQUE (worker_id, public_key)
) STRICT;

-- Why a machine may not work: 'machine': it is blocked, 'owner': its account is, 'token': its token was revoked; '': it
-- may.
CREATE VIEW standings AS
SELECT w.id, CASE WHEN w.blocked THEN 'machine' WHEN u.state <> 'active' THEN 'owner'
                  WHEN w.user_token_hash <> '' AND NOT EXISTS (SELECT 1 FROM api_tokens t WHERE t.token_hash = w.user_token_hash)
                  THEN 'token' ELSE '' END AS barred
FROM workers w LEFT JOIN users u ON u.id = w.user_id;

-- Accounts that are not active, as owners: what their machines reported has no say any more.
CREATE VIEW silent_owners (owner) AS SELECT 'user ' || id FROM users WHERE state <> 'active';
CREATE INDEX users_silent ON users ('user ' || id) WHERE state <> 'active';

-- Sums over all machines. 'games': the games credited to them. There may be thousands of machines, and no page reads
-- all.
CREATE TABLE totals (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO totals VALUES ('games', 0);
CREATE TRIGGER workers_total_add AFTER INSERT ON workers WHEN NEW.games <> 0
    BEGIN UPDATE totals SET value = value + NEW.games WHERE name = 'games'; END;
CREATE TRIGGER workers_total_change AFTER UPDATE OF games ON workers
    BEGIN UPDATE totals SET value = value + NEW.games - OLD.games WHERE name = 'games'; END;

-- Accounts with a record, as owners, and since when they have it. server/ledger/trust.c alone writes here.
CREATE TABLE records (
    owner TEXT PRIMARY KEY,
    since REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- How many batches the machines of an owner reported on a day (days since 1970), and how many they began and did not
-- report, by the level at which the tasks were dealt: server/ledger/begun.h.
CREATE TABLE owner_days (
    owner TEXT NOT NULL,
    day INTEGER NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
    reported INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    PRIMARY KEY (owner, day, level)
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_days_level ON owner_days (level, day);

-- Owners that did not report too many of the batches that they began. `median`: the share of the fleet then.
CREATE TABLE droppers (
    owner TEXT PRIMARY KEY,
    since REAL NOT NULL,
    dropped INTEGER NOT NULL,
    begun INTEGER NOT NULL,
    median REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Owners for which a maintainer vouches or vouched.
CREATE TABLE vouches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users, -- the maintainer
    reason TEXT NOT NULL,
    created REAL NOT NULL,
    undone REAL,
    undone_by INTEGER REFERENCES users
) STRICT;
CREATE UNIQUE INDEX vouches_live ON vouches (owner) WHERE undone IS NULL;

-- How far the owner of each machine is believed now: 0 unproven, 1 recorded, 2 vouched for (server/ledger/trust.h).
-- `own`: without the click of the maintainer `voucher`, which does not apply to tests of that maintainer.
CREATE VIEW levels AS
SELECT worker_id, owner, own, voucher, CASE WHEN voucher IS NULL THEN own ELSE 2 END AS level
FROM (SELECT w.id AS worker_id, w.owner, (SELECT v.user_id FROM vouches v WHERE v.owner = w.owner AND v.undone IS NULL) AS voucher,
             CASE WHEN (SELECT mode FROM trust) = 'private' OR EXISTS (SELECT 1 FROM roles r WHERE r.user_id = w.user_id)
                       OR EXISTS (SELECT 1 FROM users u WHERE u.id = w.user_id AND u.admin = 1) THEN 2
                  ELSE w.user_id IS NOT NULL AND EXISTS (SELECT 1 FROM records r WHERE r.owner = w.owner) END AS own
      FROM workers w);

-- A run of consecutive pairs of a test, dealt to one worker.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL DEFAULT '',         -- of the machine when the task was dealt, for ever; '': of no owner
    network TEXT NOT NULL DEFAULT '',       -- and the network of the machine then
    level INTEGER NOT NULL DEFAULT 0 CHECK (level BETWEEN 0 AND 2), -- and that of the owner: see `levels`
    first_pair INTEGER NOT NULL,
    pair_count INTEGER NOT NULL CHECK (pair_count > 0),
    -- The sides that it plays; results are from the point of view of `side`. `against` is NULL if nothing is played.
    side TEXT NOT NULL,
    against TEXT CHECK (against <> side),
    cores INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'done', 'released', 'expired', 'failed', 'stopped')),
    phase TEXT NOT NULL DEFAULT 'claimed'
        CHECK (phase IN ('claimed', 'fetch', 'build', 'bench', 'play')),
    plies INTEGER NOT NULL DEFAULT 0,
    next_seq INTEGER NOT NULL DEFAULT 0,    -- batches stored so far
    started_pairs INTEGER NOT NULL DEFAULT 0, -- pairs of which a game was started, from the task's first pair
    lease_until REAL NOT NULL,
    lease_s REAL NOT NULL DEFAULT 300,      -- a lease while playing, from the longest game on this machine
    counted_cores INTEGER NOT NULL DEFAULT 0, -- cores of the task that the scheduler counts
    batch_s REAL NOT NULL DEFAULT 86400,    -- how long its machine may take for a batch, whatever its heartbeats say
    batch_until REAL NOT NULL DEFAULT 0,
    expected_s REAL NOT NULL DEFAULT 0,     -- how long it should take for one
    due REAL NOT NULL DEFAULT 0,            -- when the batch under way should come: its place in the order of counting
    told TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(told)), -- what the workload told its machine
    -- Those of the engine when the task was dealt, so that the operator may change the engine's meanwhile; NULL: the engine's.
    reference_commit TEXT,
    reference_speed REAL,
    -- The batch that it plays again (a rerun); NULL: it plays pairs that do not count yet. Its games do not count.
    rerun_of INTEGER REFERENCES batches,
    created REAL NOT NULL,
    finished REAL,
    CHECK ((state = 'open') = (finished IS NULL)),
    FOREIGN KEY (test_id, side) REFERENCES sides (test_id, side),
    FOREIGN KEY (test_id, against) REFERENCES sides (test_id, side)
) STRICT;
CREATE INDEX tasks_open ON tasks (state, lease_until) WHERE state = 'open';
CREATE INDEX tasks_open_test ON tasks (test_id, due) WHERE state = 'open';
CREATE INDEX tasks_open_worker ON tasks (worker_id) WHERE state = 'open';
CREATE INDEX tasks_test ON tasks (test_id, worker_id);
CREATE INDEX tasks_worker ON tasks (worker_id);
CREATE INDEX tasks_rerun ON tasks (rerun_of) WHERE rerun_of IS NOT NULL;
CREATE TRIGGER tasks_tasked AFTER INSERT ON tasks
    BEGIN UPDATE workers SET tasked = 1 WHERE id = NEW.worker_id AND tasked = 0; END;

-- The tests whose games repeat if an opening is played again: at fixed nodes or depth, with one thread on each side.
CREATE VIEW repeating_tests (id) AS SELECT id FROM tests t
WHERE NOT EXISTS (SELECT 1 FROM sides s WHERE s.test_id = t.id AND NOT (s.threads = 1 AND (s.tc GLOB 'nodes=*' OR s.tc GLOB 'depth=*')));

-- Ranges of pairs that were dealt and returned unplayed. They are dealt again before new pairs.
CREATE TABLE returned_pairs (
    test_id INTEGER NOT NULL REFERENCES tests,
    first_pair INTEGER NOT NULL,
    pair_count INTEGER NOT NULL CHECK (pair_count > 0),
    owner TEXT NOT NULL DEFAULT '',         -- the owner that started these pairs and did not report them; '': not started
    PRIMARY KEY (test_id, first_pair)
) STRICT, WITHOUT ROWID;

-- Batches that were begun and not reported, and so dealt again.
CREATE TABLE dropped (
    task_id INTEGER NOT NULL REFERENCES tasks,
    first_pair INTEGER NOT NULL,
    test_id INTEGER NOT NULL REFERENCES tests,
    units INTEGER NOT NULL CHECK (units > 0),
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL,
    created REAL NOT NULL,
    PRIMARY KEY (task_id, first_pair)
) STRICT, WITHOUT ROWID;
CREATE INDEX dropped_owner ON dropped (owner, created);
CREATE INDEX dropped_test ON dropped (test_id, owner);
CREATE INDEX dropped_worker ON dropped (worker_id, created);

-- What the counted batches of each owner make, apart for each level that it had: a cache, as that of `tests`.
CREATE TABLE owner_totals (
    test_id INTEGER NOT NULL REFERENCES tests,
    owner TEXT NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
    units INTEGER NOT NULL CHECK (units > 0),
    state TEXT NOT NULL CHECK (json_valid(state)), -- of the workload, as if these were all batches of the test
    PRIMARY KEY (test_id, owner, level)
) STRICT, WITHOUT ROWID;

-- The log of results, in order of arrival (id). Of a row only `waits` and `position` ever change. The
-- workload of the test checks and counts `result`; the columns made of it are those of workloads that play pairs, NULL for others.
CREATE TABLE batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks,
    worker_id INTEGER NOT NULL REFERENCES workers,
    seq INTEGER NOT NULL CHECK (seq >= 0),
    units INTEGER NOT NULL CHECK (units > 0),
    result TEXT NOT NULL CHECK (json_valid(result)), -- as the machine reported it
    outcomes TEXT GENERATED ALWAYS AS (result ->> '$.outcomes') VIRTUAL, -- a digit for each pair, 0 (LL) to 4 (WW)
    wins INTEGER GENERATED ALWAYS AS (result ->> '$.wins') VIRTUAL,
    losses INTEGER GENERATED ALWAYS AS (result ->> '$.losses') VIRTUAL,
    draws INTEGER GENERATED ALWAYS AS (result ->> '$.draws') VIRTUAL,
    crashes INTEGER GENERATED ALWAYS AS (result ->> '$.crashes') VIRTUAL,
    time_losses INTEGER GENERATED ALWAYS AS (result ->> '$.time_losses') VIRTUAL,
    ponders INTEGER GENERATED ALWAYS AS (result ->> '$.ponders') VIRTUAL, -- lost by computing in the opponent's time
    ponders_against INTEGER GENERATED ALWAYS AS (result ->> '$.ponders_against') VIRTUAL,
    tc TEXT NOT NULL,
    speed REAL NOT NULL,
    busy REAL NOT NULL,
    thought INTEGER NOT NULL DEFAULT 0 CHECK (thought >= 0), -- ms that both sides thought in its games
    games_sha256 TEXT REFERENCES blobs (sha256),
    received REAL NOT NULL,
    due REAL NOT NULL DEFAULT 0,            -- when it should have come
    waits INTEGER NOT NULL DEFAULT 0 CHECK (waits IN (0, 1)), -- 1: for a batch that is due before it; see server/ledger/places.h
    position INTEGER CHECK (position IS NULL OR NOT waits), -- in the order of counting; NULL: it waits, or came after its task's end
    counted INTEGER GENERATED ALWAYS AS (position IS NOT NULL) VIRTUAL,
    owner TEXT NOT NULL DEFAULT '',         -- of its task
    level INTEGER NOT NULL DEFAULT 0 CHECK (level BETWEEN 0 AND 2), -- of its task

    -- The load of the machine during the batch, as the worker reported it; NULL: not reported.
    load_delay REAL,                        -- share of thinking time without a CPU
    load_steal REAL,                        -- share of CPU time that a hypervisor took
    load_swap_mib REAL,                     -- MiB swapped in during the batch
    load_rest_new REAL,                     -- CPU seconds of the new side while the base was to move
    load_rest_base REAL,                    -- and the other way round
    load_speed REAL,                        -- nodes/s in play, this batch
    load_speed_before REAL,                 -- the same, first batch of the task
    -- The limits with which the load was compared, so that the audit computes the same flags.
    limit_busy REAL,
    limit_slow REAL,
    limit_swap_mib REAL,
    flags TEXT NOT NULL DEFAULT '',         -- some of busy, slow, swap, separated by blanks
    -- What the machine signed: server/common/batch_signature.h. `key_id` is a row of worker_keys; as a foreign key it would
    -- need an index to no other use. NULL: rows that tests write. The route of batches takes none without a signature.
    key_id INTEGER,
    signature TEXT CHECK (length(signature) = 128),
    UNIQUE (task_id, seq),
    CHECK ((key_id IS NULL) = (signature IS NULL))
) STRICT;
CREATE INDEX batches_test ON batches (test_id);
CREATE UNIQUE INDEX batches_position ON batches (test_id, position) WHERE position IS NOT NULL;
CREATE INDEX batches_waiting ON batches (test_id, due, task_id, seq, owner, level, units) WHERE waits = 1;
CREATE INDEX batches_worker ON batches (worker_id);
CREATE INDEX batches_owner ON batches (owner) WHERE position IS NOT NULL;
CREATE INDEX batches_ponders ON batches (test_id) WHERE ponders + ponders_against > 0;
CREATE INDEX batches_flagged ON batches (test_id) WHERE flags <> '';
CREATE INDEX batches_flagged_worker ON batches (worker_id) WHERE flags <> '';

-- What the engine of a side said about its moves in a batch, as the machine counted it: moves that were checked, and moves
-- of which something was wrong. It changes no verdict.
CREATE TABLE said (
    batch_id INTEGER NOT NULL REFERENCES batches,
    side TEXT NOT NULL,
    moves INTEGER NOT NULL CHECK (moves >= 0),
    illegal_pv INTEGER NOT NULL CHECK (illegal_pv >= 0), -- a move of the principal variation (PV) is illegal
    other_move INTEGER NOT NULL CHECK (other_move >= 0), -- the PV begins with another move than the one played
    false_mate INTEGER NOT NULL CHECK (false_mate >= 0), -- a mate that does not hold
    no_score INTEGER NOT NULL CHECK (no_score >= 0),     -- no score or no depth
    wrong INTEGER GENERATED ALWAYS AS (illegal_pv + other_move + false_mate + no_score) VIRTUAL,
    PRIMARY KEY (batch_id, side)
) STRICT, WITHOUT ROWID;

-- Batches of repeating tests that are played again on another machine: server/ledger/rerun.h.
CREATE TABLE reruns (
    batch_id INTEGER PRIMARY KEY REFERENCES batches,
    test_id INTEGER NOT NULL REFERENCES tests,
    first_pair INTEGER NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers, -- that played it first
    owner TEXT NOT NULL,                    -- of that task
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2), -- of that task: an owner of a lower level does not check it
    class TEXT NOT NULL,                    -- of that machine: server/common/machine_class.h
    created REAL NOT NULL,
    -- due: it waits. third: two machines differ, and it waits for a third. same: they agree. first, second: this one is alone
    -- with its games. patch: the games depend on the class of the machine, or do not repeat. ended: what the test builds is harmful.
    state TEXT NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'third', 'same', 'first', 'second', 'patch', 'ended')),
    second_batch INTEGER REFERENCES batches,
    second_class TEXT,
    difference TEXT,                        -- of the first two, in words
    settled REAL
) STRICT;
CREATE INDEX reruns_due ON reruns (test_id, state) WHERE state IN ('due', 'third');
CREATE INDEX reruns_open ON reruns (created) WHERE state IN ('due', 'third');
CREATE INDEX reruns_test ON reruns (test_id);
CREATE INDEX reruns_waiting ON reruns (owner) WHERE state = 'due';
CREATE INDEX reruns_wrong ON reruns (settled) WHERE state IN ('first', 'second');

-- How often the games of an owner were the same when others played them.
CREATE TABLE rerun_runs (
    owner TEXT PRIMARY KEY,
    batches INTEGER NOT NULL,               -- that were ordered since the last bad one; the first ten all are
    good INTEGER NOT NULL,                  -- in a row
    asked INTEGER NOT NULL DEFAULT 0        -- a maintainer asked for a re-test: its batches are played again first
) STRICT, WITHOUT ROWID;

-- What a batch shows of its machine, whether it counts or not.
CREATE VIEW shown (batch_id, test_id, worker_id, task_id, seq, games, crashes, time_losses, ponders, moves, wrong, flagged, received) AS
SELECT b.id, b.test_id, b.worker_id, b.task_id, b.seq, iif(b.outcomes IS NULL, 0, 2 * b.units), coalesce(b.crashes, 0),
       coalesce(b.time_losses, 0), coalesce(b.ponders + b.ponders_against, 0),
       (SELECT coalesce(sum(s.moves), 0) FROM said s WHERE s.batch_id = b.id),
       (SELECT coalesce(sum(s.wrong), 0) FROM said s WHERE s.batch_id = b.id), b.flags <> '', b.received
FROM batches b;

-- The sums of it for each machine in each test, and for each test: a cache. What a machine showed before a maintainer
-- unblocked it stands in rows of its own (`since`: workers.released then) and is no more held against it.
CREATE TABLE conduct (
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    since REAL NOT NULL,
    batches INTEGER NOT NULL,
    games INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    time_losses INTEGER NOT NULL,
    ponders INTEGER NOT NULL,               -- of both sides
    moves INTEGER NOT NULL,                 -- that were checked
    wrong INTEGER NOT NULL,                 -- of these
    flagged INTEGER NOT NULL,               -- batches that were busy, slow or swapping
    last REAL NOT NULL,                     -- when the latest of these batches came
    PRIMARY KEY (test_id, worker_id, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX conduct_last ON conduct (last);
CREATE INDEX conduct_worker ON conduct (worker_id, last);
CREATE TABLE test_conduct (
    test_id INTEGER PRIMARY KEY REFERENCES tests,
    batches INTEGER NOT NULL,
    games INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    time_losses INTEGER NOT NULL,
    ponders INTEGER NOT NULL,
    moves INTEGER NOT NULL,
    wrong INTEGER NOT NULL,
    flagged INTEGER NOT NULL
) STRICT;

-- Kinds of faults that ended so many games of a test that an event said so, once.
CREATE TABLE fault_alarms (
    test_id INTEGER NOT NULL REFERENCES tests,
    ending TEXT NOT NULL CHECK (ending IN ('crash', 'time', 'ponder')),
    created REAL NOT NULL,
    PRIMARY KEY (test_id, ending)
) STRICT, WITHOUT ROWID;

-- How a test came to its numbers: its results after the batches of some positions (server/ledger/history.h).
CREATE TABLE history (
    test_id INTEGER NOT NULL REFERENCES tests,
    position INTEGER NOT NULL,
    units INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (json_valid(state)), -- of the workload
    PRIMARY KEY (test_id, position)
) STRICT, WITHOUT ROWID;

-- Games of a batch, uploaded before its counts.
CREATE TABLE games (
    task_id INTEGER NOT NULL REFERENCES tasks,
    seq INTEGER NOT NULL,
    sha256 TEXT NOT NULL REFERENCES blobs (sha256),
    received REAL NOT NULL,
    PRIMARY KEY (task_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX games_sha256 ON games (sha256);

-- Marks of games of open tests, by which copies are known (server/ledger/game_print.h): of some games of each batch.
CREATE TABLE prints (
    print INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks,
    seq INTEGER NOT NULL,
    game INTEGER NOT NULL                   -- number in the batch
) STRICT;
CREATE INDEX prints_test ON prints (test_id);
CREATE TABLE print_seed (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seed INTEGER NOT NULL
) STRICT;
INSERT INTO print_seed VALUES (1, random());

-- Batches that a maintainer, or the server itself, excluded from a test's results. An exclusion also applies to later
-- batches, until it is undone. The log never changes: the view `log` says which batches are excluded.
CREATE TABLE exclusions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    kind TEXT NOT NULL CHECK (kind IN ('task', 'machine', 'owner', 'window')),
    task_id INTEGER REFERENCES tasks,
    worker_id INTEGER REFERENCES workers,   -- the machine; of kind owner, the one by which a maintainer named the owner
    owner TEXT,                             -- as in `batches`
    since REAL,                             -- a window: batches that arrived from this time on, and before `until`
    until REAL CHECK (until > since),
    which TEXT NOT NULL CHECK (which IN ('flagged', 'all')),
    reason TEXT NOT NULL,
    user_id INTEGER REFERENCES users,       -- NULL: the server
    created REAL NOT NULL,
    undone REAL,
    undone_by INTEGER REFERENCES users,
    CHECK (CASE kind WHEN 'task' THEN task_id WHEN 'machine' THEN worker_id WHEN 'owner' THEN owner ELSE since + until END IS NOT NULL)
) STRICT;
CREATE INDEX exclusions_live ON exclusions (test_id) WHERE undone IS NULL;
CREATE INDEX exclusions_test ON exclusions (test_id);
CREATE INDEX exclusions_worker ON exclusions (worker_id);
CREATE INDEX exclusions_created ON exclusions (created);
CREATE INDEX exclusions_undone ON exclusions (undone) WHERE undone IS NOT NULL;

-- Machines whose bench was outvoted in a long test, and that are not excluded yet: the test is being counted again, a part
-- each second. Until then it gets no verdict.
CREATE TABLE outvoted (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    UNIQUE (test_id, worker_id)
) STRICT;
CREATE INDEX outvoted_worker ON outvoted (worker_id);

-- Decided tests that a maintainer opened again.
CREATE TABLE reopenings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    user_id INTEGER NOT NULL REFERENCES users,
    reason TEXT NOT NULL,
    created REAL NOT NULL,
    result TEXT NOT NULL,                   -- the verdict until then, and why it came
    verdict TEXT NOT NULL
) STRICT;
CREATE INDEX reopenings_test ON reopenings (test_id);

-- Whether exclusion x covers batch b of its test.
-- text covers: (x.which = 'all' OR b.flags <> '')
-- text covers: AND CASE x.kind WHEN 'task' THEN b.task_id = x.task_id WHEN 'machine' THEN b.worker_id = x.worker_id
-- text covers: WHEN 'owner' THEN b.owner = x.owner ELSE b.received >= x.since AND b.received < x.until END
CREATE VIEW log AS
SELECT b.*, EXISTS (SELECT 1 FROM exclusions x WHERE x.test_id = b.test_id AND x.undone IS NULL AND @covers) AS excluded FROM batches b;

-- The batches that count.
CREATE VIEW counted_batches AS SELECT * FROM log WHERE position IS NOT NULL AND NOT excluded;

-- What other owners scored in the pairs of batches that were dropped, from the point of view of the side that is tested.
CREATE VIEW dropped_again (test_id, owner, created, pairs, points, games) AS
SELECT d.test_id, d.owner, d.created, o.units, o.wins + 0.5 * o.draws, o.wins + o.losses + o.draws
FROM dropped d CROSS JOIN tasks k ON k.test_id = d.test_id AND d.first_pair >= k.first_pair AND d.first_pair < k.first_pair + k.pair_count
     CROSS JOIN counted_batches o ON o.task_id = k.id AND o.seq = (d.first_pair - k.first_pair) / d.units
WHERE o.owner <> d.owner;

-- Machines of which all later batches in a test are excluded.
CREATE VIEW shut_out (test_id, worker_id) AS
SELECT test_id, worker_id FROM exclusions WHERE kind = 'machine' AND which = 'all' AND undone IS NULL
UNION ALL SELECT x.test_id, w.id FROM exclusions x JOIN workers w ON w.owner = x.owner
WHERE x.kind = 'owner' AND x.which = 'all' AND x.undone IS NULL;

-- The ratio of the speed in play of a machine to the speed that it measured: server/ledger/play_speed.c.
CREATE TABLE play_speeds (
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    games INTEGER NOT NULL CHECK (games > 0), -- of its newest tasks of the test that have ended
    ratio REAL NOT NULL,                    -- the mean over these games
    PRIMARY KEY (test_id, worker_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX play_speeds_worker ON play_speeds (worker_id);

-- Machines whose ratio was too far from that of others. They get no further task of the test, until a maintainer
-- readmits them. Their batches count as before.
CREATE TABLE misfits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    games INTEGER NOT NULL CHECK (games > 0),
    ratio REAL NOT NULL,
    low REAL NOT NULL,                      -- the ratio of the others: the median, or the two in the middle
    high REAL NOT NULL,
    reason TEXT NOT NULL,                   -- the same in words
    created REAL NOT NULL,
    readmitted REAL,
    readmitted_by INTEGER REFERENCES users,
    last_task INTEGER                       -- the newest task then; the machine is judged by later ones
) STRICT;
CREATE UNIQUE INDEX misfits_live ON misfits (test_id, worker_id) WHERE readmitted IS NULL;
CREATE INDEX misfits_machine ON misfits (test_id, worker_id, last_task);
CREATE INDEX misfits_worker ON misfits (worker_id);
CREATE INDEX misfits_created ON misfits (created);

-- A game that a side lost by its own fault, as its worker reported it: see `ending`. Above a number of
-- reports for a test, only the row is kept.
CREATE TABLE fault_reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks,
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL,                    -- of its task
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 9),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64), -- of the body as received
    pair INTEGER NOT NULL,
    game INTEGER NOT NULL CHECK (game IN (0, 1)),
    side TEXT NOT NULL,                     -- the side at fault
    ending TEXT NOT NULL CHECK (ending IN ('crash', 'stall', 'illegal', 'time', 'ponder')),
    reason TEXT NOT NULL,
    overloaded INTEGER NOT NULL CHECK (overloaded IN (0, 1)),
    content BLOB,                           -- zstd of {"pgn", "protocol_log", "errors"}; NULL: not kept
    received REAL NOT NULL,
    UNIQUE (task_id, seq),
    FOREIGN KEY (test_id, side) REFERENCES sides (test_id, side)
) STRICT;
CREATE INDEX fault_reports_test ON fault_reports (test_id, id);
CREATE INDEX fault_reports_kept ON fault_reports (test_id) WHERE content IS NOT NULL;
CREATE INDEX fault_reports_worker ON fault_reports (worker_id);

-- Games that a rule of adjudication ended and that were played on: what their other end says of the rule.
CREATE TABLE endings (
    task_id INTEGER NOT NULL REFERENCES tasks,
    game INTEGER NOT NULL CHECK (game >= 0), -- of the task: 2 * pair + which of the pair
    test_id INTEGER NOT NULL REFERENCES tests,
    engine_id INTEGER NOT NULL REFERENCES engines, -- of the test
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL,                    -- of its task
    seq INTEGER NOT NULL,                   -- the batch that holds the game
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64), -- of the body as received
    ruled TEXT NOT NULL CHECK (ruled IN ('win', 'draw')),
    judgement TEXT NOT NULL CHECK (judgement IN ('right', 'wrong', 'unknown')), -- unknown: no end after 400 plies
    thought_ms INTEGER NOT NULL CHECK (thought_ms >= 0), -- both sides, up to the rule
    rest_ms INTEGER NOT NULL CHECK (rest_ms >= 0), -- and after it
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)), -- 1: its batch counts, unless it is excluded
    moves TEXT,                             -- after the rule, if it was wrong
    result TEXT NOT NULL,                   -- of the other end
    received REAL NOT NULL,
    PRIMARY KEY (task_id, game)
) STRICT, WITHOUT ROWID;
CREATE INDEX endings_engine ON endings (engine_id, ruled, judgement, thought_ms, rest_ms, test_id) WHERE counts = 1;
CREATE INDEX endings_worker ON endings (worker_id);
CREATE INDEX endings_test ON endings (test_id);
CREATE TRIGGER endings_counted AFTER UPDATE OF position ON batches
BEGIN
    UPDATE endings SET counts = NEW.position IS NOT NULL WHERE task_id = NEW.task_id AND seq = NEW.seq;
END;

-- Reports of workers that could not play a side: build, bench, option, engine, sandbox, machine. Kind 'games' is the server's
-- own: a replay of a batch showed that its games cannot have been played.
CREATE TABLE failures (
    id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks UNIQUE,
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL,                    -- of its task, and network and level of that task
    network TEXT NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
    kind TEXT NOT NULL CHECK (kind IN ('build', 'bench', 'option', 'engine', 'sandbox', 'machine', 'games')),
    side TEXT NOT NULL,                     -- '': the machine could play neither
    message TEXT NOT NULL,
    log TEXT NOT NULL,
    bench INTEGER,                          -- for kind bench: the number of nodes that the engine printed
    created REAL NOT NULL
) STRICT;
CREATE VIEW failure_headings (id, heading) AS
SELECT id, CASE kind WHEN 'games' THEN 'Games that cannot have been played' ELSE 'Could not ' || kind || rtrim(': ' || side, ': ') END FROM failures;
CREATE INDEX failures_test ON failures (test_id);
CREATE INDEX failures_worker ON failures (worker_id);
CREATE INDEX failures_games ON failures (owner) WHERE kind = 'games';
CREATE INDEX failures_games_created ON failures (created) WHERE kind = 'games';

-- Bench counts that workers measured of trees without a count. A machine has one row for a tree, in the name of the
-- owner for which it measured first: it does not vote again for another owner.
CREATE TABLE benches (
    engine_id INTEGER NOT NULL REFERENCES engines,
    snapshot TEXT NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL,                    -- of the task for which it was measured, and network and level of that task
    network TEXT NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
    nodes INTEGER NOT NULL CHECK (nodes > 0),
    created REAL NOT NULL,
    PRIMARY KEY (engine_id, snapshot, worker_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX benches_worker ON benches (worker_id);

-- The lists of options that workers read from the engine of a tree, as trees.options; one of each machine, as of
-- bench counts.
CREATE TABLE option_lists (
    engine_id INTEGER NOT NULL REFERENCES engines,
    snapshot TEXT NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    owner TEXT NOT NULL,
    network TEXT NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
    list TEXT NOT NULL CHECK (length(list) <= 65536),
    created REAL NOT NULL,
    PRIMARY KEY (engine_id, snapshot, worker_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX option_lists_worker ON option_lists (worker_id);

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created REAL NOT NULL,
    type TEXT NOT NULL,                     -- the list is event_types() of server/pages/page_lists.c
    user_id INTEGER REFERENCES users,
    worker_id INTEGER REFERENCES workers,
    test_id INTEGER REFERENCES tests,
    message TEXT NOT NULL,
    repeats INTEGER NOT NULL DEFAULT 0,     -- the later events that this row stands for, too
    last REAL NOT NULL                      -- the time of the latest of them
) STRICT;
CREATE INDEX events_test ON events (test_id);
CREATE INDEX events_type ON events (type, created, test_id);
CREATE INDEX events_worker ON events (worker_id) WHERE worker_id IS NOT NULL;

-- Types of events that machines, authors or a full disk bring about again and again. Those of an hour share rows, and
-- old ones are removed: see event_repeat and events_forget. Each event of another type keeps its own row for ever.
CREATE VIEW routine_events (type) AS
VALUES ('expired'), ('crash'), ('replay'), ('faults'), ('rerun'), ('dropped'), ('modified'), ('paused'), ('resumed'), ('disk');

-- Replies to requests with an Idempotency-Key, kept for a day.
CREATE TABLE idempotency (
    subject TEXT NOT NULL,                  -- 'worker:7' or 'user:3'
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created REAL NOT NULL,
    PRIMARY KEY (subject, key)
) STRICT, WITHOUT ROWID;
