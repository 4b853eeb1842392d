-- Patchmate's database as it is. Until the first release a change is made here; afterwards a change of the schema
-- is a script sql/migrate_N.sql beside this one (see server/db/schema.c). Times are Unix seconds with decimals, ids are integers, blobs are
-- named by SHA-256 in lower-case hex. Results are append-only: totals in `tests` are a cache of what
-- a replay of the counted batches gives (`server check` compares).

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Everything stored under DATA/blobs.
CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    size INTEGER NOT NULL CHECK (size >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('snapshot', 'book', 'net', 'games', 'archive')),
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

-- Networks that an account signed in from, and its browsers ('device HASH'): the latest ones.
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

-- Wrong passwords and other attempts that are limited. Subjects: 'user:ID', 'name:HASH' where there is no such account,
-- each also with ' NETWORK' after it; 'network:…', 'session:…', 'signup:…'.
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
    baseline TEXT NOT NULL,                 -- commit at the head of the branch; the truth, git follows
    build TEXT NOT NULL CHECK (json_valid(build)), -- directory, command, binary, env, bench_args
    reference_commit TEXT NOT NULL,
    reference_speed REAL NOT NULL CHECK (reference_speed > 0), -- nodes/s one slot of the reference machine
    scale_min REAL NOT NULL DEFAULT 0.1,
    scale_max REAL NOT NULL DEFAULT 10,
    created REAL NOT NULL,
    -- The file of the tree that names the net of a commit, and where the build finds that net; '': there are no nets.
    net_file TEXT NOT NULL DEFAULT 'net',
    net_path TEXT NOT NULL DEFAULT 'nets/{sha256}'
) STRICT;

-- developer, maintainer; a volunteer needs none, an admin has all.
CREATE TABLE roles (
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    engine_id INTEGER NOT NULL REFERENCES engines ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('developer', 'maintainer')),
    PRIMARY KEY (user_id, engine_id, role)
) STRICT, WITHOUT ROWID;

-- Commits that can be built: their snapshot (tar) and bench, once known.
CREATE TABLE commits (
    engine_id INTEGER NOT NULL REFERENCES engines,
    sha TEXT NOT NULL CHECK (length(sha) = 40),
    snapshot TEXT NOT NULL REFERENCES blobs (sha256),
    bench INTEGER CHECK (bench > 0),
    subject TEXT NOT NULL,
    author TEXT NOT NULL,
    created REAL NOT NULL,
    net TEXT,                               -- SHA-256 of the net that its tree names; NULL: none
    -- What is put into the tree before the build: [{"blob", "path"}]; empty where the net lies in the tree.
    files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    PRIMARY KEY (engine_id, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX commits_net ON commits (engine_id, net) WHERE net IS NOT NULL;

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
    chess960 INTEGER NOT NULL DEFAULT 0 CHECK (chess960 IN (0, 1)),
    created REAL NOT NULL,
    UNIQUE (engine_id, name)
) STRICT;

-- The form's starting points. `fields` holds form fields by name.
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

    -- What is compared.
    base_commit TEXT NOT NULL,
    new_commit TEXT NOT NULL,               -- refs/tests/ID
    base_options TEXT NOT NULL DEFAULT '',  -- 'Hash=16 Name=value', values without blanks
    new_options TEXT NOT NULL DEFAULT '',
    -- Bench counts that the submission declared: of this test alone, and only until machines have established the commit's.
    new_bench_declared INTEGER CHECK (new_bench_declared > 0),
    base_bench_declared INTEGER CHECK (base_bench_declared > 0),
    -- 0: the base is not in the history of the baseline; the test holds while the approval of a test of that commit stands.
    base_in_baseline INTEGER NOT NULL DEFAULT 1 CHECK (base_in_baseline IN (0, 1)),

    -- How.
    kind TEXT NOT NULL,                     -- a name of server/ledger/kind.h
    model TEXT NOT NULL CHECK (model IN ('normalized', 'logistic')),
    elo0 REAL NOT NULL,
    elo1 REAL NOT NULL CHECK (elo1 > elo0),
    alpha REAL NOT NULL CHECK (alpha > 0 AND alpha < 1),
    beta REAL NOT NULL CHECK (beta > 0 AND beta < 1 AND alpha + beta < 1),
    tc TEXT NOT NULL,                       -- '10+0.1', '40/10+0.1', 'nodes=20000', 'depth=8', 'st=0.1'
    threads INTEGER NOT NULL CHECK (threads BETWEEN 1 AND 1024),
    book_id INTEGER NOT NULL REFERENCES books,
    seed INTEGER NOT NULL,                  -- of the permutation of the book
    variant TEXT NOT NULL CHECK (variant IN ('standard', 'chess960')),
    adjudication TEXT NOT NULL CHECK (json_valid(adjudication)),
    batch_pairs INTEGER NOT NULL CHECK (batch_pairs BETWEEN 1 AND 1000),
    pairs_max INTEGER NOT NULL CHECK (pairs_max > 0), -- the end of a fixed test, the cap of an SPRT
    priority INTEGER NOT NULL DEFAULT 0,

    -- Where it stands. pending: awaits approval. active: in the queue. finished: see result.
    state TEXT NOT NULL CHECK (state IN ('pending', 'active', 'paused', 'finished')),
    approved_hash TEXT,                     -- of everything that will run; a change takes approval back
    approved_by INTEGER REFERENCES users,
    started REAL,                           -- first task
    finished REAL,
    result TEXT CHECK (result IN ('accepted', 'rejected', 'stopped', 'failed', 'completed')),
    reason TEXT NOT NULL DEFAULT '',        -- why stopped or failed, with the compiler's last words
    merged_commit TEXT,
    merged REAL,
    retest_of INTEGER REFERENCES tests,     -- offered again on a new baseline
    resumed REAL,                           -- reports of failures and benches before this time no longer count
    -- A maintainer said that the commit does harm: no later test has it among its ancestors.
    harmful INTEGER NOT NULL DEFAULT 0 CHECK (harmful IN (0, 1)),
    games_dropped REAL,                     -- when its games were deleted because the disk was nearly full

    -- Dealing: pairs up to next_pair were dealt once; ranges that came back stand in returned_pairs.
    next_pair INTEGER NOT NULL DEFAULT 0,

    -- Cache of the counted batches, in order of arrival.
    ptnml0 INTEGER NOT NULL DEFAULT 0,
    ptnml1 INTEGER NOT NULL DEFAULT 0,
    ptnml2 INTEGER NOT NULL DEFAULT 0,
    ptnml3 INTEGER NOT NULL DEFAULT 0,
    ptnml4 INTEGER NOT NULL DEFAULT 0,
    wins INTEGER NOT NULL DEFAULT 0,
    losses INTEGER NOT NULL DEFAULT 0,
    draws INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    time_losses INTEGER NOT NULL DEFAULT 0,
    llr REAL NOT NULL DEFAULT 0,
    sprt_state TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(sprt_state)),

    CHECK ((state = 'finished') = (result IS NOT NULL)),
    CHECK ((state = 'finished') = (finished IS NOT NULL)),
    CHECK (state IN ('pending', 'finished') OR approved_hash IS NOT NULL),
    FOREIGN KEY (engine_id, base_commit) REFERENCES commits (engine_id, sha),
    FOREIGN KEY (engine_id, new_commit) REFERENCES commits (engine_id, sha)
) STRICT;
CREATE INDEX tests_open ON tests (state, priority) WHERE state <> 'finished';
CREATE INDEX tests_finished ON tests (finished) WHERE state = 'finished';
CREATE INDEX tests_author ON tests (author_id);
CREATE INDEX tests_new_commit ON tests (engine_id, new_commit);
CREATE INDEX tests_base_commit ON tests (engine_id, base_commit);
CREATE INDEX tests_harmful ON tests (engine_id) WHERE harmful;
CREATE INDEX tests_outside ON tests (engine_id, state) WHERE NOT base_in_baseline;

CREATE TABLE workers (
    id INTEGER PRIMARY KEY,
    machine_key_hash TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    user_id INTEGER REFERENCES users,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    host TEXT NOT NULL CHECK (json_valid(host)), -- os, arch, cpu, cores, memory_mib, compilers, sandbox
    cores INTEGER NOT NULL,                 -- offered at the last claim
    speed REAL,                             -- nodes/s a slot, last measured
    address TEXT NOT NULL,
    blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked IN (0, 1)),
    games INTEGER NOT NULL DEFAULT 0,       -- credited, counted or not
    created REAL NOT NULL,
    last_seen REAL NOT NULL,
    -- The network that it last came from, as address_network() writes it: an IPv4 address, or an IPv6 /64.
    network TEXT NOT NULL DEFAULT '',
    -- An owner is an account, or the network of machines without one.
    owner TEXT GENERATED ALWAYS AS (coalesce('user ' || user_id, 'network ' || network)) VIRTUAL,
    user_token_hash TEXT NOT NULL DEFAULT '', -- the account's token that it registered with, as in api_tokens; '': none
    fruitless INTEGER NOT NULL DEFAULT 0,   -- tasks in a row that it ended without a result
    rest_until REAL NOT NULL DEFAULT 0,     -- until when it gets no task for that
    tasked INTEGER NOT NULL DEFAULT 0       -- 0: it was never given a task, and is forgotten in time (machines_forget)
) STRICT;
CREATE INDEX workers_user ON workers (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX workers_network ON workers (network, created);
CREATE INDEX workers_owner ON workers (owner);
CREATE INDEX workers_seen ON workers (last_seen);
CREATE INDEX workers_idle ON workers (last_seen) WHERE tasked = 0 AND blocked = 0;

-- Numbers that several queries share. A machine is online that was heard of within so many seconds.
CREATE VIEW limits AS SELECT 300.0 AS online_s;

-- Why a machine may not work: 'machine' it is blocked, 'owner' its account is, 'token' its token was revoked; '': it may.
CREATE VIEW standings AS
SELECT w.id, CASE WHEN w.blocked THEN 'machine' WHEN u.state <> 'active' THEN 'owner'
                  WHEN w.user_token_hash <> '' AND NOT EXISTS (SELECT 1 FROM api_tokens t WHERE t.token_hash = w.user_token_hash)
                  THEN 'token' ELSE '' END AS barred
FROM workers w LEFT JOIN users u ON u.id = w.user_id;

-- Sums over all machines: 'games', credited to them. Machines come and go by the thousand; no page walks all of them.
CREATE TABLE totals (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO totals VALUES ('games', 0);
CREATE TRIGGER workers_total_add AFTER INSERT ON workers WHEN NEW.games <> 0
    BEGIN UPDATE totals SET value = value + NEW.games WHERE name = 'games'; END;
CREATE TRIGGER workers_total_change AFTER UPDATE OF games ON workers
    BEGIN UPDATE totals SET value = value + NEW.games - OLD.games WHERE name = 'games'; END;

-- Owners with a record, and since when: see ledger_record_judge.
CREATE TABLE records (
    owner TEXT PRIMARY KEY,
    since REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- A run of consecutive openings of the test's permutation, given to one worker.
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    first_pair INTEGER NOT NULL,
    pair_count INTEGER NOT NULL CHECK (pair_count > 0),
    cores INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'done', 'released', 'expired', 'failed', 'stopped')),
    phase TEXT NOT NULL DEFAULT 'claimed'
        CHECK (phase IN ('claimed', 'fetch', 'build', 'bench', 'play')),
    plies INTEGER NOT NULL DEFAULT 0,
    next_seq INTEGER NOT NULL DEFAULT 0,    -- batches stored so far
    started_pairs INTEGER NOT NULL DEFAULT 0, -- pairs of which a game was started, from the task's first
    lease_until REAL NOT NULL,
    lease_s REAL NOT NULL DEFAULT 300,      -- a lease while playing, by the longest game on this machine
    counted_cores INTEGER NOT NULL DEFAULT 0, -- cores that the scheduler counts for it
    batch_s REAL NOT NULL DEFAULT 86400,    -- how long its machine may need for a batch, whatever its heartbeats say
    batch_until REAL NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    finished REAL,
    CHECK ((state = 'open') = (finished IS NULL))
) STRICT;
CREATE INDEX tasks_open ON tasks (state, lease_until) WHERE state = 'open';
CREATE INDEX tasks_open_test ON tasks (test_id) WHERE state = 'open';
CREATE INDEX tasks_open_worker ON tasks (worker_id) WHERE state = 'open';
CREATE INDEX tasks_test ON tasks (test_id);
CREATE INDEX tasks_worker ON tasks (worker_id);
CREATE TRIGGER tasks_tasked AFTER INSERT ON tasks
    BEGIN UPDATE workers SET tasked = 1 WHERE id = NEW.worker_id AND tasked = 0; END;

-- Ranges of pairs that were dealt and came back unplayed; dealt again before new ones.
CREATE TABLE returned_pairs (
    test_id INTEGER NOT NULL REFERENCES tests,
    first_pair INTEGER NOT NULL,
    pair_count INTEGER NOT NULL CHECK (pair_count > 0),
    owner TEXT NOT NULL DEFAULT '',         -- who started these pairs and did not report them; '': no one
    PRIMARY KEY (test_id, first_pair)
) STRICT, WITHOUT ROWID;

-- The log of results, in order of arrival (id). A row is never changed but for `excluded`.
CREATE TABLE batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks,
    worker_id INTEGER NOT NULL REFERENCES workers,
    seq INTEGER NOT NULL CHECK (seq >= 0),
    outcomes TEXT NOT NULL CHECK (length(outcomes) > 0 AND outcomes NOT GLOB '*[^0-4]*'),
    wins INTEGER NOT NULL CHECK (wins >= 0),
    losses INTEGER NOT NULL CHECK (losses >= 0),
    draws INTEGER NOT NULL CHECK (draws >= 0),
    crashes INTEGER NOT NULL CHECK (crashes >= 0),
    time_losses INTEGER NOT NULL CHECK (time_losses >= 0),
    tc TEXT NOT NULL,
    speed REAL NOT NULL,
    busy REAL NOT NULL,
    games_sha256 TEXT REFERENCES blobs (sha256),
    received REAL NOT NULL,
    counted INTEGER NOT NULL CHECK (counted IN (0, 1)), -- 0: came after the verdict or its range was dealt again
    excluded INTEGER NOT NULL DEFAULT 0 CHECK (excluded IN (0, 1)),
    llr REAL NOT NULL,                      -- of the test after this batch
    owner TEXT NOT NULL DEFAULT '',         -- whose machine it was when the batch arrived; a machine may change hands

    -- What the machine was like while it played, as the worker reported it; NULL: it did not.
    load_delay REAL,                        -- share of thinking time without a CPU
    load_steal REAL,                        -- share of CPU time that a hypervisor took
    load_swap_mib REAL,                     -- swapped in meanwhile
    load_speed REAL,                        -- nodes/s in play, this batch
    load_speed_before REAL,                 -- the same, first batch of the task
    -- The limits that it was held against, so that the audit flags as the ledger did.
    limit_busy REAL,
    limit_slow REAL,
    limit_swap_mib REAL,
    flags TEXT NOT NULL DEFAULT '',         -- of busy, slow, swap, with blanks between
    UNIQUE (task_id, seq),
    CHECK (wins + losses + draws = 2 * length(outcomes))
) STRICT;
CREATE INDEX batches_test ON batches (test_id);
CREATE INDEX batches_worker ON batches (worker_id);
CREATE INDEX batches_owner ON batches (owner) WHERE counted = 1 AND excluded = 0;
CREATE INDEX batches_flagged ON batches (test_id) WHERE flags <> '';
CREATE INDEX batches_flagged_worker ON batches (worker_id) WHERE flags <> '';

-- Games of a batch, uploaded before its counts.
CREATE TABLE games (
    task_id INTEGER NOT NULL REFERENCES tasks,
    seq INTEGER NOT NULL,
    sha256 TEXT NOT NULL REFERENCES blobs (sha256),
    received REAL NOT NULL,
    PRIMARY KEY (task_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX games_sha256 ON games (sha256);

-- Batches whose games the server has played over again with the rules. `fault` is empty where all was well.
CREATE TABLE replays (
    batch_id INTEGER PRIMARY KEY REFERENCES batches,
    fault TEXT NOT NULL,
    games INTEGER NOT NULL,
    created REAL NOT NULL,
    left_out TEXT NOT NULL DEFAULT ''       -- why the games were not played over again after all; '': they were
) STRICT;
CREATE INDEX replays_fault ON replays (batch_id) WHERE fault <> '';
CREATE INDEX replays_left_out ON replays (batch_id) WHERE left_out <> '';

-- Batches that are being played over again now: one, and those before it whose result is not written yet. A row that is
-- there when the server starts is of a batch during which the server ended: that batch is not tried again.
CREATE TABLE replays_started (
    batch_id INTEGER PRIMARY KEY REFERENCES batches,
    started REAL NOT NULL
) STRICT;

-- What a maintainer, or the server by itself, took out of a test's results: whole windows of one machine. It holds for
-- later batches, too, until it is taken back.
CREATE TABLE exclusions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    which TEXT NOT NULL CHECK (which IN ('flagged', 'all')),
    reason TEXT NOT NULL,
    user_id INTEGER REFERENCES users,       -- NULL: the server
    created REAL NOT NULL,
    undone REAL,
    undone_by INTEGER REFERENCES users
) STRICT;
CREATE UNIQUE INDEX exclusions_live ON exclusions (test_id, worker_id, which) WHERE undone IS NULL;
CREATE INDEX exclusions_worker ON exclusions (worker_id);

-- A game that ended by a crash, a stall, an illegal move or on time, as its worker saw it. Beyond so many a test only
-- the row is kept.
CREATE TABLE fault_reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks,
    worker_id INTEGER NOT NULL REFERENCES workers,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 9),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64), -- of the body as it came
    pair INTEGER NOT NULL,
    game INTEGER NOT NULL CHECK (game IN (0, 1)),
    side TEXT NOT NULL CHECK (side IN ('new', 'base')), -- the culprit
    ending TEXT NOT NULL CHECK (ending IN ('crash', 'stall', 'illegal', 'time')),
    reason TEXT NOT NULL,
    overloaded INTEGER NOT NULL CHECK (overloaded IN (0, 1)),
    content BLOB,                           -- zstd of {"pgn", "protocol_log", "errors"}; NULL: not kept
    received REAL NOT NULL,
    UNIQUE (task_id, seq)
) STRICT;
CREATE INDEX fault_reports_test ON fault_reports (test_id, id);
CREATE INDEX fault_reports_kept ON fault_reports (test_id) WHERE content IS NOT NULL;
CREATE INDEX fault_reports_worker ON fault_reports (worker_id);

-- What workers reported of a side they could not play: build, bench, engine, sandbox, machine.
CREATE TABLE failures (
    id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks UNIQUE,
    worker_id INTEGER NOT NULL REFERENCES workers,
    kind TEXT NOT NULL CHECK (kind IN ('build', 'bench', 'engine', 'sandbox', 'machine')),
    side TEXT NOT NULL CHECK (side IN ('new', 'base', '')),
    message TEXT NOT NULL,
    log TEXT NOT NULL,
    bench INTEGER,                          -- nodes it printed, for kind bench
    created REAL NOT NULL
) STRICT;
CREATE INDEX failures_test ON failures (test_id);
CREATE INDEX failures_worker ON failures (worker_id);

-- Bench counts as workers established them for commits that declared none.
CREATE TABLE benches (
    engine_id INTEGER NOT NULL REFERENCES engines,
    sha TEXT NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    nodes INTEGER NOT NULL CHECK (nodes > 0),
    created REAL NOT NULL,
    PRIMARY KEY (engine_id, sha, worker_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX benches_worker ON benches (worker_id);

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created REAL NOT NULL,
    type TEXT NOT NULL, -- submitted, approved, started, verdict, stopped, paused, resumed, modified, merged, failed, expired, crash, user, engine, excluded
    user_id INTEGER REFERENCES users,
    worker_id INTEGER REFERENCES workers,
    test_id INTEGER REFERENCES tests,
    message TEXT NOT NULL
) STRICT;
CREATE INDEX events_test ON events (test_id);
CREATE INDEX events_worker ON events (worker_id) WHERE worker_id IS NOT NULL;

-- Replies to requests that carried an Idempotency-Key, kept for a day.
CREATE TABLE idempotency (
    subject TEXT NOT NULL,                  -- 'worker:7' or 'user:3'
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created REAL NOT NULL,
    PRIMARY KEY (subject, key)
) STRICT, WITHOUT ROWID;
