-- Patchmate's database, version 1. Times are Unix seconds with decimals, ids are integers, blobs are
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

CREATE TABLE api_tokens (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    token_hash TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL CHECK (scope IN ('submit', 'worker', 'admin')),
    name TEXT NOT NULL,
    created REAL NOT NULL,
    last_used REAL
) STRICT;

-- Wrong passwords, by account and by address; a right one clears the account's.
CREATE TABLE login_failures (
    subject TEXT PRIMARY KEY,               -- 'user:NAME' or 'address:IP'
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
    created REAL NOT NULL
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
    PRIMARY KEY (engine_id, sha)
) STRICT, WITHOUT ROWID;

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

    -- How.
    kind TEXT NOT NULL CHECK (kind IN ('sprt', 'fixed')),
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
    last_seen REAL NOT NULL
) STRICT;

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
    started_pairs INTEGER NOT NULL DEFAULT 0,       -- pairs of which a game was started, from the task's first
    lease_until REAL NOT NULL,
    lease_s REAL NOT NULL DEFAULT 300,      -- a lease while playing, by the longest game on this machine
    created REAL NOT NULL,
    finished REAL,
    CHECK ((state = 'open') = (finished IS NULL))
) STRICT;
CREATE INDEX tasks_open ON tasks (state, lease_until) WHERE state = 'open';
CREATE INDEX tasks_open_test ON tasks (test_id) WHERE state = 'open';
CREATE INDEX tasks_open_worker ON tasks (worker_id) WHERE state = 'open';
CREATE INDEX tasks_test ON tasks (test_id);
CREATE INDEX tasks_worker ON tasks (worker_id);

-- Ranges of pairs that were dealt and came back unplayed; dealt again before new ones.
CREATE TABLE returned_pairs (
    test_id INTEGER NOT NULL REFERENCES tests,
    first_pair INTEGER NOT NULL,
    pair_count INTEGER NOT NULL CHECK (pair_count > 0),
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
    UNIQUE (task_id, seq),
    CHECK (wins + losses + draws = 2 * length(outcomes))
) STRICT;
CREATE INDEX batches_test ON batches (test_id);
CREATE INDEX batches_worker ON batches (worker_id);

-- Games of a batch, uploaded before its counts.
CREATE TABLE games (
    task_id INTEGER NOT NULL REFERENCES tasks,
    seq INTEGER NOT NULL,
    sha256 TEXT NOT NULL REFERENCES blobs (sha256),
    received REAL NOT NULL,
    PRIMARY KEY (task_id, seq)
) STRICT, WITHOUT ROWID;

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

-- Bench counts as workers established them for commits that declared none.
CREATE TABLE benches (
    engine_id INTEGER NOT NULL REFERENCES engines,
    sha TEXT NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    nodes INTEGER NOT NULL CHECK (nodes > 0),
    created REAL NOT NULL,
    PRIMARY KEY (engine_id, sha, worker_id)
) STRICT, WITHOUT ROWID;

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
