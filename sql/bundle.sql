-- Queries for bundles, by which a stranger checks a verdict: server/proof. Each gives all that is stored of one test, as JSON.

-- Machines without an account are an owner by their network, which is nothing for strangers: in a bundle it is named after
-- one of its machines.
-- text owner_names: names (owner, name) AS (SELECT owner, CASE WHEN owner GLOB 'network *' THEN 'network of machine ' || min(worker_id) ELSE owner END
-- text owner_names: FROM batches WHERE test_id = :test GROUP BY owner)

-- name: bundle_test object
-- types: finished real?
SELECT t.id, t.title, e.name AS engine, u.name AS author, 'user ' || t.author_id AS author_owner, t.author_id, t.created, t.started,
       t.finished, t.workload, t.parameters AS parameters_json, coalesce(t.seed, 0) AS seed, t.variant,
       t.adjudication AS adjudication_json, t.batch_pairs, t.pairs_max, t.next_pair, t.state, coalesce(t.result, '') AS result, t.reason,
       t.positions, t.units_counted, t.counts AS counts_json, t.points AS points_json, t.games_dropped, e.scale_min, e.scale_max,
       o.name AS book_name, o.blob AS book, o.openings,
       EXISTS (SELECT 1 FROM repeating_tests g WHERE g.id = t.id) AS repeats, i.name AS installation
FROM tests t JOIN engines e ON e.id = t.engine_id JOIN users u ON u.id = t.author_id JOIN books o ON o.id = t.book_id, installation i
WHERE t.id = :test

-- name: bundle_sides array
SELECT s.side, e.name AS engine, s.sha AS "commit", c.snapshot, coalesce(c.bench, s.bench_declared) AS bench, s.options, s.tc,
       s.threads, s.margin_ms, CASE s.side WHEN 'new' THEN i.tree WHEN 'base' THEN i.base_tree END AS tree
FROM sides s JOIN engines e ON e.id = s.engine_id JOIN known_commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
     LEFT JOIN ideas i ON i.test_id = s.test_id
WHERE s.test_id = :test ORDER BY s.side DESC

-- The machines that sent batches, with the accounts to which they belong today.
-- name: bundle_machines array
SELECT w.id, w.name, u.name AS user FROM workers w LEFT JOIN users u ON u.id = w.user_id
WHERE w.id IN (SELECT b.worker_id FROM batches b WHERE b.test_id = :test) ORDER BY w.id

-- name: bundle_keys array
SELECT y.id, y.worker_id AS machine, y.public_key, y.created FROM worker_keys y
WHERE y.worker_id IN (SELECT b.worker_id FROM batches b WHERE b.test_id = :test) ORDER BY y.id

-- The accounts that batches name as their owners.
-- name: bundle_owners array
SELECT 'user ' || u.id AS owner, u.name FROM users u
WHERE 'user ' || u.id IN (SELECT b.owner FROM batches b WHERE b.test_id = :test) ORDER BY u.id

-- name: bundle_exclusions array
WITH @owner_names
SELECT x.id, x.kind, x.task_id AS task, x.worker_id AS machine,
       coalesce((SELECT n.name FROM names n WHERE n.owner = x.owner), '') AS owner, x.since, x.until, x.which, x.reason, u.name AS user,
       x.created, x.undone
FROM exclusions x LEFT JOIN users u ON u.id = x.user_id WHERE x.test_id = :test ORDER BY x.id

-- name: bundle_reopenings array
SELECT r.reason, u.name AS user, r.created, r.result, r.verdict FROM reopenings r JOIN users u ON u.id = r.user_id
WHERE r.test_id = :test ORDER BY r.id

-- What people and the server did to the test. The most recent thousand.
-- name: bundle_events array
SELECT * FROM (SELECT v.id, v.created, v.type, u.name AS user, v.worker_id AS machine, v.message
               FROM events v LEFT JOIN users u ON u.id = v.user_id WHERE v.test_id = :test ORDER BY v.id DESC LIMIT 1000) ORDER BY id

-- All batches: those that have a position in its order, then the others.
-- name: bundle_batches array
WITH @owner_names
SELECT b.position, b.task_id AS task, b.seq, k.first_pair + b.seq * t.batch_pairs AS first_pair, b.units, b.worker_id AS machine,
       (SELECT n.name FROM names n WHERE n.owner = b.owner) AS owner, b.level, coalesce(y.public_key, '') AS key, coalesce(b.signature, '') AS signature, b.games_sha256 AS games, b.tc, b.speed, b.thought,
       b.result AS result_json, k.told AS told_json, coalesce(k.reference_speed, e.reference_speed) AS reference_speed,
       b.received, b.flags, k.rerun_of IS NOT NULL AS rerun
FROM batches b JOIN tasks k ON k.id = b.task_id JOIN tests t ON t.id = b.test_id JOIN engines e ON e.id = t.engine_id
     LEFT JOIN worker_keys y ON y.id = b.key_id
WHERE b.test_id = :test ORDER BY b.position IS NULL, b.position, b.id
