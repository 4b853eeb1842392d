-- Queries for the routes of the worker protocol, and for books.

-- name: book_add
-- types: :chess960 bool, :user int?
INSERT INTO books (engine_id, name, blob, format, openings, duplicates, chess960, user_id, created)
VALUES (:engine, :name, :sha256, :format, :openings, :duplicates, :chess960, :user, :created)

-- name: books_list rows
-- types: chess960 bool
SELECT e.name AS engine, b.name, b.openings, b.chess960 FROM books b JOIN engines e ON e.id = b.engine_id ORDER BY e.id, b.id

-- name: book_of_blob value
-- types: value text?
SELECT name FROM books WHERE engine_id = :engine AND blob = :sha256 ORDER BY id LIMIT 1

-- name: worker_by_key row
-- types: barred text
SELECT w.id, s.barred FROM workers w JOIN standings s ON s.id = w.id WHERE w.machine_key_hash = :key_hash

-- name: worker_user_of_token row
SELECT u.id, u.name FROM api_tokens t JOIN users u ON u.id = t.user_id
WHERE t.token_hash = :token_hash AND t.scope = 'worker' AND u.state = 'active'

-- Whether the new machine :name looks like a blocked one, or like one of a blocked account. In the same network: with
-- an account (:user not 0) if name and hardware are equal, without an account if either is equal. In the same
-- account: if the names are equal.
-- name: worker_is_barred_one value
-- types: :host text, value bool
SELECT EXISTS (SELECT 1 FROM workers w JOIN standings s ON s.id = w.id
               WHERE w.network = :network AND s.barred IN ('machine', 'owner')
                 AND (w.name = :name) + (json_remove(w.host, '$.compilers', '$.sandbox', '$.os') =
                                      json_remove(:host, '$.compilers', '$.sandbox', '$.os')) > (:user > 0))
    OR EXISTS (SELECT 1 FROM workers WHERE user_id = nullif(:user, 0) AND blocked = 1 AND name = :name)

-- name: worker_registrations value
-- types: value int
SELECT count(*) FROM workers WHERE network = :network AND created > :since

-- name: worker_add
INSERT INTO workers (machine_key_hash, token_hash, user_id, name, version, host, cores, address, network, created, last_seen,
                     user_token_hash)
VALUES (:key_hash, :token_hash, nullif(:user, 0), :name, :version, :host, :cores, :address, :network, :now, :now,
        :user_token_hash)

-- name: worker_again
UPDATE workers SET token_hash = :token_hash, user_id = nullif(:user, 0), name = :name, version = :version, host = :host,
    address = :address, network = :network, last_seen = :now, user_token_hash = :user_token_hash
WHERE id = :worker

-- name: installation value
-- types: value text?
SELECT name FROM installation

-- Changes no row if the machine has this key already.
-- name: worker_key_add
INSERT INTO worker_keys (worker_id, public_key, created) VALUES (:worker, :public_key, :now)
ON CONFLICT (worker_id, public_key) DO NOTHING

-- How many keys of the machine there are besides this one.
-- name: worker_keys_other value
-- types: value int
SELECT count(*) FROM worker_keys WHERE worker_id = :worker AND public_key <> :public_key

-- A task with its test and the reference of its engine.
-- name: worker_task row
-- types: reference_snapshot text?, reference_files text, reference_commit text, reference_speed real, seed int
SELECT k.id, k.first_pair, k.pair_count, k.next_seq, k.lease_until, t.id AS test, e.name AS engine, t.title, t.workload, k.told,
       t.batch_pairs, t.variant, t.adjudication,
       e.build, coalesce(k.reference_commit, e.reference_commit) AS reference_commit, r.snapshot AS reference_snapshot,
       coalesce(r.files, '[]') AS reference_files, coalesce(k.reference_speed, e.reference_speed) AS reference_speed,
       e.scale_min, e.scale_max, o.blob AS book, coalesce(t.seed, 0) AS seed
FROM tasks k JOIN tests t ON t.id = k.test_id JOIN engines e ON e.id = t.engine_id
     LEFT JOIN commits r ON r.engine_id = t.engine_id AND r.sha = coalesce(k.reference_commit, e.reference_commit)
     JOIN books o ON o.id = t.book_id
WHERE k.id = :task

-- The sides that a task plays: first the one from whose point of view it reports. The bench count of a side is the
-- established one, or else the one that the submission declared. `wants_options`: no machine of this owner has sent the
-- options of the engine yet, and there are fewer than :most lists of them, or the owner is proven.
-- name: worker_sides rows
-- types: bench int?, wants_options bool, :most int
SELECT s.side, e.name AS engine, e.build, c.sha AS "commit", c.snapshot, coalesce(c.bench, s.bench_declared) AS bench, c.files,
       s.options, s.tc, s.threads, s.margin_ms,
       NOT EXISTS (SELECT 1 FROM option_lists l
                   WHERE l.engine_id = c.engine_id AND l.snapshot = c.snapshot AND (l.owner = k.owner OR l.worker_id = k.worker_id))
       AND ((SELECT count(*) FROM option_lists l WHERE l.engine_id = c.engine_id AND l.snapshot = c.snapshot) < :most
            OR k.level > 0) AS wants_options
FROM tasks k JOIN sides s ON s.test_id = k.test_id AND s.side IN (k.side, k.against) JOIN engines e ON e.id = s.engine_id
     JOIN known_commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
WHERE k.id = :task ORDER BY s.side = k.side DESC

-- name: worker_standing row
-- types: barred text, sandbox int
SELECT s.barred, coalesce(json_extract(w.host, '$.sandbox'), 0) AS sandbox
FROM workers w JOIN standings s ON s.id = w.id WHERE w.id = :worker

-- Games and archives are not public. A net may have the same bytes as one of them.
-- name: worker_blob_open value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM blobs WHERE sha256 = :sha256 AND kind IN ('net', 'book'))
    OR EXISTS (SELECT 1 FROM commits WHERE snapshot = :sha256)
    OR EXISTS (SELECT 1 FROM nets WHERE sha256 = :sha256)
