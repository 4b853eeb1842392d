-- Version 3: nets that developers upload, and which of them each commit is built with.

-- The file of the tree that names the net of a commit, and where the build finds that net; '': there are no nets.
ALTER TABLE engines ADD COLUMN net_file TEXT NOT NULL DEFAULT 'net';
ALTER TABLE engines ADD COLUMN net_path TEXT NOT NULL DEFAULT 'nets/{sha256}';

ALTER TABLE commits ADD COLUMN net TEXT;    -- SHA-256 of the net that its tree names; NULL: none
-- What is laid down before the build: [{"blob", "path"}]; empty where the net lies in the tree.
ALTER TABLE commits ADD COLUMN files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files));
CREATE INDEX commits_net ON commits (engine_id, net) WHERE net IS NOT NULL;

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

-- Which tests a net was in.
CREATE INDEX tests_new_commit ON tests (engine_id, new_commit);
CREATE INDEX tests_base_commit ON tests (engine_id, base_commit);
