-- Queries of the pages and of the read API. Rows of tests carry t.*; the documents choose their columns.

-- ---- the whole installation

-- A machine is online at :now if it has sent a request within :online_s seconds; so in the queries below.
-- name: page_totals object
-- types: :online_s real
-- types: :now real
SELECT (SELECT count(*) FROM workers WHERE last_seen > :now - :online_s AND blocked = 0) AS machines,
       (SELECT coalesce(sum(cores), 0) FROM workers WHERE last_seen > :now - :online_s AND blocked = 0) AS cores,
       (SELECT coalesce(sum(cores), 0) FROM tasks WHERE state = 'open') AS cores_busy,
       (SELECT count(*) FROM tests WHERE state = 'pending') AS pending,
       (SELECT count(*) FROM tests WHERE state = 'paused') AS paused,
       (SELECT count(*) FROM tests WHERE state = 'active') AS active,
       (SELECT count(*) FROM tests WHERE state = 'finished') AS finished,
       (SELECT value FROM totals WHERE name = 'games') AS games

-- Games per minute, from the oldest batch of the last :period seconds to :now. The oldest batch itself was played
-- before that period.
-- name: page_rate value
-- types: value real, :now real, :period real
WITH recent AS (SELECT id, received, 2 * units AS games FROM batches ORDER BY id DESC LIMIT 1000),
     kept AS (SELECT * FROM recent WHERE received > :now - :period)
SELECT CASE WHEN count(*) < 2 THEN 0.0
            ELSE (sum(games) - (SELECT games FROM kept ORDER BY id LIMIT 1)) * 60.0 / max(1.0, :now - min(received)) END
FROM kept

-- name: page_rate_of_test value
-- types: value real, :now real, :period real
WITH recent AS (SELECT id, received, 2 * units AS games FROM batches WHERE test_id = :test
                ORDER BY id DESC LIMIT 200),
     kept AS (SELECT * FROM recent WHERE received > :now - :period)
SELECT CASE WHEN count(*) < 2 THEN 0.0
            ELSE (sum(games) - (SELECT games FROM kept ORDER BY id LIMIT 1)) * 60.0 / max(1.0, :now - min(received)) END
FROM kept

-- name: page_engines array
SELECT id, name, title, branch, baseline FROM engines ORDER BY id

-- name: page_engine_facts array
SELECT id, name, title, branch, baseline, reference_commit, reference_speed, reference_machine, margin_ms FROM engines ORDER BY id

-- The games of an engine's tests that were played on after a rule had ended them.
-- name: page_endings array
-- types: games int, thought_ms int, rest_ms int
SELECT ruled, judgement, count(*) AS games, sum(thought_ms) AS thought_ms, sum(rest_ms) AS rest_ms
FROM endings e WHERE engine_id = :engine AND counts = 1
      AND NOT EXISTS (SELECT 1 FROM exclusions x CROSS JOIN batches b ON b.task_id = e.task_id AND b.seq = e.seq
                      WHERE x.test_id = e.test_id AND x.undone IS NULL AND @covers)
GROUP BY ruled, judgement

-- ---- tests

-- name: page_test object
-- types: harmful bool, base_in_baseline bool, base_bench_open bool, new_bench_open bool, repeats bool
SELECT t.*, EXISTS (SELECT 1 FROM repeating_tests g WHERE g.id = t.id) AS repeats, n.sha AS new_commit, n.options AS new_options, n.tc, n.threads, b.sha AS base_commit, b.options AS base_options,
       b.grounded AS base_in_baseline, t.adjudication AS rules_json, u.name AS author, e.name AS engine, e.branch, e.baseline,
       e.build AS build_json, a.name AS approved_by_name, o.name AS book, o.openings, o.chess960,
       cb.subject AS base_subject, cb.author AS base_author, coalesce(cb.bench, b.bench_declared) AS base_bench, cb.bench IS NULL AS base_bench_open, cb.snapshot AS base_snapshot,
       cn.options AS new_option_list, cb.options AS base_option_list,
       cb.net AS base_net, cb.files AS base_files_json, cn.net AS new_net, cn.files AS new_files_json,
       cn.subject AS new_subject, cn.author AS new_author, coalesce(cn.bench, n.bench_declared) AS new_bench, cn.bench IS NULL AS new_bench_open, cn.snapshot AS new_snapshot,
       (SELECT coalesce(sum(k.cores), 0) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open') AS cores,
       (SELECT count(*) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open') AS machines,
       (SELECT max(r.id) FROM tests r WHERE r.retest_of = t.id) AS retest
FROM tests t JOIN users u ON u.id = t.author_id JOIN engines e ON e.id = t.engine_id
     LEFT JOIN users a ON a.id = t.approved_by JOIN books o ON o.id = t.book_id
     JOIN sides n ON n.test_id = t.id AND n.side = 'new' JOIN known_commits cn ON cn.engine_id = n.engine_id AND cn.sha = n.sha
     LEFT JOIN sides b ON b.test_id = t.id AND b.side = 'base'
     LEFT JOIN known_commits cb ON cb.engine_id = b.engine_id AND cb.sha = b.sha
WHERE t.id = :test

-- name: page_first_test value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM first_tests WHERE id = :test)

-- No result changes without an event.
-- name: page_newest_event value
-- types: value int
SELECT coalesce(max(id), 0) FROM events

-- The final counts of first tests of an engine by the same bounds, newest first. A test that failed ended by a fault.
-- name: page_first_results rows
-- types: :model text, :elo0 real, :elo1 real, :limit int, n0 int, n1 int, n2 int, n3 int, n4 int
SELECT t.counts ->> '$.ptnml[0]' AS n0, t.counts ->> '$.ptnml[1]' AS n1, t.counts ->> '$.ptnml[2]' AS n2,
       t.counts ->> '$.ptnml[3]' AS n3, t.counts ->> '$.ptnml[4]' AS n4
FROM tests t JOIN first_tests f ON f.id = t.id
WHERE t.state = 'finished' AND t.result <> 'failed' AND t.units_counted > 0 AND t.engine_id = :engine AND t.workload = :workload
  AND t.parameters ->> '$.model' = :model AND t.parameters ->> '$.elo0' = :elo0 AND t.parameters ->> '$.elo1' = :elo1
ORDER BY t.finished DESC LIMIT :limit

-- name: page_title value
SELECT title FROM tests WHERE id = :test

-- name: page_tests_in_state array
SELECT t.*, n.tc, n.threads, u.name AS author, e.name AS engine,
       (SELECT coalesce(sum(k.cores), 0) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open') AS cores,
       (SELECT count(*) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open') AS machines
FROM tests t JOIN users u ON u.id = t.author_id JOIN engines e ON e.id = t.engine_id JOIN sides n ON n.test_id = t.id AND n.side = 'new'
WHERE t.state = :state AND t.state <> 'finished' ORDER BY t.priority DESC, t.promise DESC, t.id LIMIT 500

-- Newest first, before (:before, :before_id) in (finished, id).
-- name: page_tests_finished array
-- types: :before real, :before_id int, :text text, :limit int
SELECT t.*, n.tc, n.threads, u.name AS author, e.name AS engine, 0 AS cores, 0 AS machines
FROM tests t JOIN users u ON u.id = t.author_id JOIN engines e ON e.id = t.engine_id JOIN sides n ON n.test_id = t.id AND n.side = 'new'
WHERE t.state = 'finished' AND (t.finished, t.id) < (:before, :before_id)
  AND (:user_name = '' OR u.name = :user_name COLLATE NOCASE)
  AND (:text = '' OR instr(lower(t.title || ' ' || t.description), lower(:text)) > 0)
ORDER BY t.finished DESC, t.id DESC LIMIT :limit

-- name: page_tests_of_author array
-- types: :limit int
SELECT t.*, n.tc, n.threads, u.name AS author, e.name AS engine,
       (SELECT coalesce(sum(k.cores), 0) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open') AS cores,
       (SELECT count(*) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open') AS machines
FROM tests t JOIN users u ON u.id = t.author_id JOIN engines e ON e.id = t.engine_id JOIN sides n ON n.test_id = t.id AND n.side = 'new'
WHERE t.author_id = :user AND t.id < :before ORDER BY t.id DESC LIMIT :limit

-- Why the machines that are online at :now do not play a test: each machine counts once, for the first reason. :sandbox
-- is the sandbox level that the server requires. ledger_candidates decides in the same way whether a failure excludes a
-- machine.
-- name: page_idle row
-- types: :online_s real
-- types: :now real, :sandbox int, :retry_s real, machines int, bare int, few_cores int, failed int, elsewhere int, resting int, misfit int
-- types: stranger int, share int, only_roles bool
SELECT count(*) AS machines, count(*) FILTER (WHERE what = 'bare') AS bare, count(*) FILTER (WHERE what = 'few_cores') AS few_cores,
       count(*) FILTER (WHERE what = 'failed') AS failed, count(*) FILTER (WHERE what = 'elsewhere') AS elsewhere, count(*) FILTER (WHERE what = 'resting') AS resting,
       count(*) FILTER (WHERE what = 'misfit') AS misfit, count(*) FILTER (WHERE what = 'stranger') AS stranger,
       count(*) FILTER (WHERE what = 'share') AS share, (SELECT mode = 'roles' FROM trust) AS only_roles
FROM (SELECT CASE WHEN (SELECT mode FROM trust) = 'roles' AND NOT EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = w.user_id)
                  THEN 'stranger'
                  WHEN coalesce(json_extract(w.host, '$.sandbox'), 0) < :sandbox THEN 'bare'
                  WHEN w.cores < (SELECT max(threads) FROM sides WHERE test_id = t.id) THEN 'few_cores'
                  WHEN EXISTS (SELECT 1 FROM failures f WHERE f.test_id = t.id AND f.worker_id = w.id AND f.created > coalesce(t.resumed, 0)
                               AND (f.kind NOT IN ('sandbox', 'machine') OR f.created > :now - :retry_s)) THEN 'failed'
                  WHEN EXISTS (SELECT 1 FROM misfits m WHERE m.test_id = t.id AND m.worker_id = w.id AND m.readmitted IS NULL) THEN 'misfit'
                  WHEN EXISTS (SELECT 1 FROM tasks k INDEXED BY tasks_open_worker WHERE k.worker_id = w.id AND k.state = 'open') THEN 'elsewhere'
                  WHEN w.rest_until > :now THEN 'resting'
                  WHEN (SELECT CASE iif(l.voucher = t.author_id, l.own, l.level)
                        WHEN 0 THEN t.units_unproven + t.batch_pairs > (t.units_counted - t.units_unproven) / 19
                        WHEN 1 THEN t.units_recorded + t.batch_pairs > (t.units_counted - t.units_unproven - t.units_recorded) / 2
                        ELSE 0 END FROM levels l WHERE l.worker_id = w.id) THEN 'share'
                  ELSE '' END AS what
      FROM workers w JOIN tests t ON t.id = :test WHERE w.last_seen > :now - :online_s AND w.blocked = 0)

-- The pairs of the last finished tests of an engine with this book and clock.
-- name: page_pairs_before row
-- types: tests int, n0 int, n1 int, n2 int, n3 int, n4 int, :limit int
SELECT count(*) AS tests, coalesce(sum(json_extract(counts, '$.ptnml[0]')), 0) AS n0, coalesce(sum(json_extract(counts, '$.ptnml[1]')), 0) AS n1,
       coalesce(sum(json_extract(counts, '$.ptnml[2]')), 0) AS n2, coalesce(sum(json_extract(counts, '$.ptnml[3]')), 0) AS n3,
       coalesce(sum(json_extract(counts, '$.ptnml[4]')), 0) AS n4
FROM (SELECT t.counts FROM tests t JOIN sides s ON s.test_id = t.id AND s.side = 'new'
      WHERE t.engine_id = :engine AND t.book_id = :book AND t.state = 'finished' AND t.units_counted > 0 AND s.tc = :tc AND s.threads = :threads
      ORDER BY t.id DESC LIMIT :limit)

-- A test after each batch of its history and after the last one, with the time when that batch could count: it may have come
-- before batches that count before it.
-- name: page_history rows
-- types: received real
SELECT h.units, h.state, max(b.received) OVER (ORDER BY h.position) AS received FROM
    (SELECT position, units, state FROM history WHERE test_id = :test
     UNION SELECT positions, units_counted, counts FROM tests WHERE id = :test) h
    JOIN batches b ON b.test_id = :test AND b.position = h.position
ORDER BY h.position

-- name: page_uncounted object
SELECT count(*) AS batches, coalesce(sum(2 * units), 0) AS games, coalesce(sum(excluded), 0) AS excluded
FROM log b WHERE test_id = :test AND (excluded OR (position IS NULL AND (waits = 0 OR
    (SELECT state FROM tests WHERE id = :test) = 'finished')))
  AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.id = b.task_id AND k.rerun_of IS NOT NULL)

-- Those that will count after others. `since`: when the first of them came.
-- name: page_waiting object
SELECT count(*) AS batches, coalesce(sum(units), 0) AS units, min(received) AS since FROM batches INDEXED BY batches_waiting WHERE test_id = :test AND waits = 1

-- CPU seconds of each side while the other was to move.
-- name: page_rest_of_test object
SELECT coalesce(sum(load_rest_new), 0.0) AS new, coalesce(sum(load_rest_base), 0.0) AS base
FROM counted_batches WHERE test_id = :test

-- What each side of a test said about its moves: of how many moves it was checked, and in how many it was wrong.
-- name: page_said_of_sides array
SELECT s.side, sum(s.moves) AS moves, sum(s.wrong) AS wrong, sum(s.illegal_pv) AS illegal_pv, sum(s.other_move) AS other_move,
       sum(s.false_mate) AS false_mate, sum(s.no_score) AS no_score
FROM counted_batches b CROSS JOIN said s ON s.batch_id = b.id WHERE b.test_id = :test
GROUP BY s.side ORDER BY s.side DESC

-- The same on each machine, for sides that were wrong on any.
-- name: page_said_of_machines array
-- types: user text?
SELECT c.side, c.worker_id AS id, w.name, u.name AS user, c.moves, c.wrong
FROM (SELECT s.side, b.worker_id, sum(s.moves) AS moves, sum(s.wrong) AS wrong
      FROM counted_batches b CROSS JOIN said s ON s.batch_id = b.id WHERE b.test_id = :test
      GROUP BY s.side, b.worker_id) c
CROSS JOIN workers w ON w.id = c.worker_id LEFT JOIN users u ON u.id = w.user_id
ORDER BY c.side DESC, c.wrong DESC, c.moves DESC LIMIT 1000

-- The results of each machine in a test.
-- name: page_workers_of_test array
SELECT b.worker_id AS id, w.name, u.name AS user, w.host ->> '$.arch' AS arch, w.host ->> '$.isa' AS isa, w.host ->> '$.cpu' AS cpu,
       w.host ->> '$.compilers[0]' AS compiler, avg(nullif(b.speed, 0)) AS speed, count(*) AS batches, sum(b.units) AS pairs,
       sum(length(b.outcomes) - length(replace(b.outcomes, '0', ''))) AS n0,
       sum(length(b.outcomes) - length(replace(b.outcomes, '1', ''))) AS n1,
       sum(length(b.outcomes) - length(replace(b.outcomes, '2', ''))) AS n2,
       sum(length(b.outcomes) - length(replace(b.outcomes, '3', ''))) AS n3,
       sum(length(b.outcomes) - length(replace(b.outcomes, '4', ''))) AS n4,
       sum(b.crashes) AS crashes, sum(b.time_losses) AS time_losses, avg(b.busy) AS busy, max(b.received) AS last_batch,
       sum(CASE WHEN b.flags <> '' THEN b.units ELSE 0 END) AS pairs_flagged,
       sum(CASE WHEN b.flags LIKE '%busy%' THEN b.units ELSE 0 END) AS pairs_busy,
       sum(CASE WHEN b.flags LIKE '%slow%' THEN b.units ELSE 0 END) AS pairs_slow,
       sum(CASE WHEN b.flags LIKE '%swap%' THEN b.units ELSE 0 END) AS pairs_swap
FROM counted_batches b JOIN workers w ON w.id = b.worker_id LEFT JOIN users u ON u.id = w.user_id
WHERE b.test_id = :test
GROUP BY b.worker_id ORDER BY pairs DESC, b.worker_id LIMIT 1000

-- The results of each owner in a test. Only an account has its name shown, never an address.
-- `again_score`: what others scored in `again_pairs` of the pairs that it dropped.
-- name: page_owners_of_test array
-- types: level text, dropped int, again_pairs int
WITH again AS MATERIALIZED (SELECT owner, sum(pairs) AS pairs, sum(points) / sum(games) AS score FROM dropped_again WHERE test_id = :test GROUP BY owner)
SELECT u.name AS user, count(DISTINCT b.worker_id) AS machines, sum(b.units) AS pairs, count(*) AS batches,
       (SELECT count(*) FROM dropped d WHERE d.test_id = :test AND d.owner = b.owner) AS dropped,
       sum(b.wins + 0.5 * b.draws) / sum(b.wins + b.losses + b.draws) AS score,
       coalesce((SELECT a.pairs FROM again a WHERE a.owner = b.owner), 0) AS again_pairs,
       (SELECT a.score FROM again a WHERE a.owner = b.owner) AS again_score,
       1.0 * sum(b.units) / sum(sum(b.units)) OVER () AS share,
       CASE max(b.level) WHEN 2 THEN 'vouched' WHEN 1 THEN 'recorded' ELSE 'unproven' END AS level,
       (SELECT count(*) FROM misfits m WHERE m.test_id = :test AND m.readmitted IS NULL AND EXISTS
           (SELECT 1 FROM tasks k WHERE k.test_id = :test AND k.worker_id = m.worker_id AND k.owner = b.owner)) AS misfits
FROM counted_batches b LEFT JOIN users u ON u.id = CASE WHEN b.owner LIKE 'user %' THEN CAST(substr(b.owner, 6) AS INTEGER) END
WHERE b.test_id = :test
GROUP BY b.owner ORDER BY pairs DESC, min(b.id) LIMIT 50

-- Pairs that count and were played on a machine that was busy, slow or swapping.
-- name: page_flagged object
SELECT coalesce(sum(units), 0) AS pairs, count(DISTINCT worker_id) AS machines,
       coalesce(sum(CASE WHEN flags LIKE '%busy%' THEN units END), 0) AS busy_pairs,
       coalesce(sum(CASE WHEN flags LIKE '%slow%' THEN units END), 0) AS slow_pairs,
       coalesce(sum(CASE WHEN flags LIKE '%swap%' THEN units END), 0) AS swap_pairs
FROM counted_batches WHERE test_id = :test AND flags <> ''

-- The exclusions of a test, and how many pairs each one covers. Only an owner with an account is named, never an address.
-- name: page_exclusions array
SELECT x.id AS exclusion, x.kind, x.task_id AS task, x.worker_id AS worker, x.since AS "from", x.until AS "to", x.which,
       @what_is_excluded AS what,
       x.reason, u.name AS user, x.created,
       (SELECT coalesce(sum(b.units), 0) FROM batches b WHERE b.test_id = x.test_id AND b.position IS NOT NULL AND @covers) AS pairs
FROM exclusions x LEFT JOIN workers w ON w.id = x.worker_id LEFT JOIN users u ON u.id = x.user_id
WHERE x.test_id = :test AND x.undone IS NULL ORDER BY x.id LIMIT 200

-- Machines that get no further task of a test, because their speed in play does not fit their clock.
-- name: page_misfits array
-- types: excluded bool
SELECT m.worker_id AS worker, w.name AS worker_name, u.name AS user, m.games, m.ratio, m.low, m.high, m.reason, m.created,
       EXISTS (SELECT 1 FROM shut_out x WHERE x.test_id = m.test_id AND x.worker_id = m.worker_id) AS excluded
FROM misfits m CROSS JOIN workers w ON w.id = m.worker_id LEFT JOIN users u ON u.id = w.user_id
WHERE m.test_id = :test AND m.readmitted IS NULL ORDER BY m.id LIMIT 200

-- The same of one machine, the latest first.
-- name: page_misfits_of_machine array
-- types: excluded bool
SELECT m.test_id AS test, t.title, m.worker_id AS worker, w.name AS worker_name, u.name AS user, m.games, m.ratio, m.low, m.high, m.reason, m.created,
       EXISTS (SELECT 1 FROM shut_out x WHERE x.test_id = m.test_id AND x.worker_id = m.worker_id) AS excluded
FROM misfits m CROSS JOIN workers w ON w.id = m.worker_id JOIN tests t ON t.id = m.test_id LEFT JOIN users u ON u.id = w.user_id
WHERE m.worker_id = :worker AND m.readmitted IS NULL ORDER BY m.id DESC LIMIT 20

-- The same of the machines of one user.
-- name: page_misfits_of_user array
-- types: excluded bool
SELECT m.test_id AS test, t.title, m.worker_id AS worker, w.name AS worker_name, u.name AS user, m.games, m.ratio, m.low, m.high, m.reason, m.created,
       EXISTS (SELECT 1 FROM shut_out x WHERE x.test_id = m.test_id AND x.worker_id = m.worker_id) AS excluded
FROM workers w CROSS JOIN misfits m ON m.worker_id = w.id JOIN tests t ON t.id = m.test_id JOIN users u ON u.id = w.user_id
WHERE w.user_id = :user AND m.readmitted IS NULL ORDER BY m.id DESC LIMIT 20

-- name: page_tasks_of_test array
SELECT k.id, k.worker_id AS worker, w.name AS worker_name, u.name AS user, k.first_pair, k.pair_count AS pairs,
       k.next_seq * t.batch_pairs AS pairs_done, k.cores, k.state, k.phase, k.created, k.finished
FROM tasks k JOIN workers w ON w.id = k.worker_id LEFT JOIN users u ON u.id = w.user_id JOIN tests t ON t.id = k.test_id
WHERE k.test_id = :test AND (k.rerun_of IS NULL OR k.state <> 'open') ORDER BY k.id DESC LIMIT 100

-- The reruns of a test, and how many machines have played it.
-- name: page_reruns row
-- types: repeats bool, due int, same int, third int, wrong int, patch int, machines int
SELECT EXISTS (SELECT 1 FROM repeating_tests g WHERE g.id = :test) AS repeats,
       count(*) FILTER (WHERE state = 'due') AS due, count(*) FILTER (WHERE state = 'same') AS same,
       count(*) FILTER (WHERE state = 'third') AS third, count(*) FILTER (WHERE state IN ('first', 'second')) AS wrong,
       count(*) FILTER (WHERE state = 'patch') AS patch,
       (SELECT count(DISTINCT worker_id) FROM tasks WHERE test_id = :test) AS machines
FROM reruns WHERE test_id = :test

-- name: page_rerun_differences array
SELECT r.state, r.first_pair, r.difference, r.class, r.second_class, r.worker_id AS worker, w.name AS worker_name,
       b.worker_id AS second_worker, v.name AS second_name
FROM reruns r JOIN workers w ON w.id = r.worker_id JOIN batches b ON b.id = r.second_batch JOIN workers v ON v.id = b.worker_id
WHERE r.test_id = :test AND r.state NOT IN ('due', 'same', 'ended') ORDER BY r.batch_id DESC LIMIT 20

-- name: page_failures_of_test array
SELECT f.id, f.kind, f.side, h.heading, f.message, f.log, f.bench, f.created, f.worker_id AS worker, w.name AS worker_name
FROM failures f JOIN failure_headings h ON h.id = f.id JOIN workers w ON w.id = f.worker_id WHERE f.test_id = :test ORDER BY f.id DESC LIMIT 20

-- The games of a test that ended by an engine's fault.
-- name: page_fault_counts array
SELECT ending AS "end", side, count(*) AS count, sum(overloaded) AS overloaded, sum(content IS NOT NULL) AS kept
FROM fault_reports WHERE test_id = :test GROUP BY ending, side ORDER BY count DESC, ending, side DESC

-- The fault reports that were kept, newest first, before the id :before.
-- name: page_faults_of_test array
-- types: :limit int, overloaded bool
SELECT f.id, f.task_id AS task, f.worker_id AS worker, w.name AS worker_name, u.name AS user, f.pair, f.game, f.side,
       f.ending AS "end", f.reason, f.overloaded, f.received AS created
FROM fault_reports f JOIN workers w ON w.id = f.worker_id LEFT JOIN users u ON u.id = w.user_id
WHERE f.test_id = :test AND f.id < :before AND f.content IS NOT NULL ORDER BY f.id DESC LIMIT :limit

-- name: page_fault object
-- types: overloaded bool
SELECT f.id, f.test_id AS test, t.title, f.task_id AS task, f.worker_id AS worker, w.name AS worker_name, u.name AS user,
       f.pair, f.game, f.side, f.ending AS "end", f.reason, f.overloaded, f.received AS created
FROM fault_reports f JOIN tests t ON t.id = f.test_id JOIN workers w ON w.id = f.worker_id LEFT JOIN users u ON u.id = w.user_id
WHERE f.id = :fault AND f.content IS NOT NULL

-- name: page_fault_content rows
SELECT content FROM fault_reports WHERE id = :fault

-- name: page_events_of_test array
SELECT e.id, e.created, e.type, u.name AS user, e.worker_id AS worker, w.name AS worker_name, e.message, e.repeats, e.last
FROM events e LEFT JOIN users u ON u.id = e.user_id LEFT JOIN workers w ON w.id = e.worker_id
WHERE e.test_id = :test ORDER BY e.id DESC LIMIT 100

-- ---- events, newest first

-- name: page_events array
-- types: :text text, :limit int
SELECT e.id, e.created, e.type, u.name AS user, e.worker_id AS worker, w.name AS worker_name, e.test_id AS test,
       t.title, e.message, e.repeats, e.last
FROM events e LEFT JOIN users u ON u.id = e.user_id LEFT JOIN workers w ON w.id = e.worker_id
     LEFT JOIN tests t ON t.id = e.test_id
WHERE e.id < :before AND (:type = '' OR e.type = :type) AND (:user_name = '' OR u.name = :user_name COLLATE NOCASE)
  AND (:text = '' OR instr(lower(e.message || ' ' || coalesce(t.title, '') || ' ' || coalesce(w.name, '')), lower(:text)) > 0)
ORDER BY e.id DESC LIMIT :limit

-- ---- machines

-- The machine with the latest request first, before (:before, :before_id) in (last_seen, id). :online: only machines
-- online at :now.
-- name: page_machines array
-- types: :online_s real
-- types: :before real, :before_id int, :online bool, :now real, :limit int, online bool, blocked bool
SELECT w.id, w.name, u.name AS user, w.version, w.host AS host_json, w.cores,
       coalesce(w.speed, (SELECT nullif(b.speed, 0) FROM batches b WHERE b.worker_id = w.id ORDER BY b.id DESC LIMIT 1)) AS speed,
       w.blocked, w.games, w.created,
       w.last_seen, w.last_seen > :now - :online_s AS online, k.id AS task, k.phase, k.test_id AS test, t.title
FROM workers w LEFT JOIN users u ON u.id = w.user_id
     LEFT JOIN tasks k ON k.id = (SELECT max(o.id) FROM tasks o INDEXED BY tasks_open_worker WHERE o.worker_id = w.id AND o.state = 'open')
     LEFT JOIN tests t ON t.id = k.test_id
WHERE (w.last_seen, w.id) < (:before, :before_id) AND w.last_seen >= CASE WHEN :online THEN :now - :online_s ELSE 0 END
ORDER BY w.last_seen DESC, w.id DESC LIMIT :limit

-- The same for one user.
-- name: page_machines_of_user array
-- types: :online_s real
-- types: :now real, :limit int, online bool, blocked bool
SELECT w.id, w.name, u.name AS user, w.version, w.host AS host_json, w.cores,
       coalesce(w.speed, (SELECT nullif(b.speed, 0) FROM batches b WHERE b.worker_id = w.id ORDER BY b.id DESC LIMIT 1)) AS speed,
       w.blocked, w.games, w.created,
       w.last_seen, w.last_seen > :now - :online_s AS online, k.id AS task, k.phase, k.test_id AS test, t.title
FROM workers w JOIN users u ON u.id = w.user_id
     LEFT JOIN tasks k ON k.id = (SELECT max(o.id) FROM tasks o INDEXED BY tasks_open_worker WHERE o.worker_id = w.id AND o.state = 'open')
     LEFT JOIN tests t ON t.id = k.test_id
WHERE w.user_id = :user ORDER BY w.last_seen DESC, w.id DESC LIMIT :limit

-- name: page_machine object
-- types: :online_s real
-- types: :now real, online bool, blocked bool
SELECT w.id, w.name, u.name AS user, w.version, w.host AS host_json, w.cores,
       coalesce(w.speed, (SELECT nullif(b.speed, 0) FROM batches b WHERE b.worker_id = w.id ORDER BY b.id DESC LIMIT 1)) AS speed,
       w.blocked, w.games, w.created,
       w.last_seen, w.last_seen > :now - :online_s AS online
FROM workers w LEFT JOIN users u ON u.id = w.user_id WHERE w.id = :worker

-- How far the owner of a machine is believed, what makes it so, and who vouches for it.
-- name: page_trust_of_machine row
-- types: level int, private bool, role bool, has_account bool, voucher text?, created real?, reason text?
SELECT l.level, (SELECT mode FROM trust) = 'private' AS private, l.own = 2 AS role, w.user_id IS NOT NULL AS has_account,
       u.name AS voucher, v.created, v.reason
FROM workers w JOIN levels l ON l.worker_id = w.id LEFT JOIN vouches v ON v.owner = w.owner AND v.undone IS NULL
     LEFT JOIN users u ON u.id = v.user_id
WHERE w.id = :worker

-- Tests that ended since :since by the LLR of proven owners alone: unproven ones said something else (sprt_state.h).
-- name: page_vetoed array
-- types: :since real
SELECT id, title, result, finished, reason FROM tests WHERE state = 'finished' AND finished > :since AND counts ->> '$.proven.decides' = 1
ORDER BY finished DESC LIMIT 50

-- Machines that are blocked, with the event that says why: those first that registered last.
-- name: page_blocked array
-- types: user text?, created real?, message text?, blocked_by text?
SELECT w.id, w.name, u.name AS user, e.created, e.message, b.name AS blocked_by
FROM workers w LEFT JOIN users u ON u.id = w.user_id
     LEFT JOIN events e ON e.id = (SELECT max(o.id) FROM events o WHERE o.worker_id = w.id AND o.type = 'blocked')
     LEFT JOIN users b ON b.id = e.user_id
WHERE w.blocked = 1 AND w.id < :before ORDER BY w.id DESC LIMIT 100

-- name: page_tasks_of_machine array
SELECT k.id, k.test_id AS test, t.title, k.pair_count AS pairs, k.next_seq * t.batch_pairs AS pairs_done, k.cores,
       k.state, k.phase, k.created, k.finished
FROM tasks k JOIN tests t ON t.id = k.test_id WHERE k.worker_id = :worker ORDER BY k.id DESC LIMIT 50

-- name: page_failures_of_machine array
SELECT f.id, f.kind, f.side, h.heading, f.message, f.log, f.created, f.test_id AS test, t.title
FROM failures f JOIN failure_headings h ON h.id = f.id JOIN tests t ON t.id = f.test_id WHERE f.worker_id = :worker ORDER BY f.id DESC LIMIT 20

-- The latest flagged batches of a machine.
-- name: page_flagged_of_machine array
SELECT b.test_id AS test, t.title, b.units AS pairs, b.flags, b.busy, b.load_delay AS delay, b.load_steal AS steal,
       b.load_swap_mib AS swap_mib, b.load_speed AS speed, b.load_speed_before AS speed_before, b.received AS created
FROM batches b JOIN tests t ON t.id = b.test_id WHERE b.worker_id = :worker AND b.flags <> '' ORDER BY b.id DESC LIMIT 20

-- name: page_faults_of_machine array
-- types: overloaded bool
SELECT f.id, f.test_id AS test, t.title, f.pair, f.game, f.side, f.ending AS "end", f.reason, f.overloaded, f.received AS created
FROM fault_reports f JOIN tests t ON t.id = f.test_id WHERE f.worker_id = :worker AND f.content IS NOT NULL ORDER BY f.id DESC LIMIT 20

-- ---- users

-- name: page_user object
-- types: admin bool
SELECT u.id, u.name, u.state, u.admin, u.created,
       (SELECT count(*) FROM tests WHERE author_id = u.id) AS tests_submitted,
       (SELECT count(*) FROM tests WHERE author_id = u.id AND result = 'accepted') AS tests_accepted,
       (SELECT count(*) FROM tests WHERE author_id = u.id AND merged_commit IS NOT NULL) AS tests_merged,
       (SELECT coalesce(sum(games), 0) FROM workers WHERE user_id = u.id) AS games
FROM users u WHERE u.name = :user_name

-- ---- the form

-- name: page_presets array
SELECT name, fields AS fields_json FROM presets WHERE engine_id = :engine ORDER BY position, id

-- name: page_books array
-- types: chess960 bool
SELECT name, openings, chess960 FROM books WHERE engine_id = :engine ORDER BY id

-- The number of finished tests whose games were dropped.
-- name: page_health object
SELECT count(*) AS tests_without_games FROM tests WHERE games_dropped IS NOT NULL

-- The account that is an owner, 'user ID'; nothing: it is a network.
-- name: page_owner_name value
-- types: :owner text
SELECT u.name FROM users u WHERE :owner LIKE 'user %' AND u.id = CAST(substr(:owner, 6) AS INTEGER)

-- Counted units of a test by the level of their owners, and those of the author.
-- name: page_shares row
-- types: vouched int, finished bool
SELECT units_counted - units_recorded - units_unproven AS vouched, units_recorded AS recorded, units_unproven AS unproven,
       units_author AS author, result IS NOT NULL AS finished
FROM tests WHERE id = :test

-- When trust is public: the last request of a machine whose owner is vouched for.
-- name: page_vouched_seen row
-- types: public bool, seen real?
SELECT (SELECT mode FROM trust) = 'public' AS public,
       (SELECT max(last_seen) FROM workers WHERE owner IN (SELECT owner FROM vouches WHERE undone IS NULL
            UNION SELECT 'user ' || user_id FROM roles UNION SELECT 'user ' || id FROM users WHERE admin = 1)) AS seen
