-- Queries for submitting, approving, changing and merging tests. The queries for workers are in ledger.sql.

-- The values that people enter when they submit or change a test. server/submit/test_columns.c says which of them an
-- approval covers.
-- columns test_fields: title description workload parameters book_id variant adjudication batch_pairs pairs_max priority

-- A new test, with :test NULL, or new values of an existing test's fields. server/submit/test_columns.c is the only place
-- that writes them.
-- name: test_write
-- types: :test int?, :retest_of int?
INSERT INTO tests (id, engine_id, author_id, created, state, retest_of, @test_fields)
VALUES (:test, :engine, :user, :now, 'pending', :retest_of, @:test_fields)
ON CONFLICT (id) DO UPDATE SET @=test_fields

-- name: side_add
-- types: :bench_declared int?, :grounded bool
INSERT INTO sides (test_id, side, engine_id, sha, options, tc, threads, margin_ms, bench_declared, grounded)
VALUES (:test, :side, :engine, :sha, :options, :tc, :threads, :margin_ms, :bench_declared, :grounded)

-- name: side_modify
UPDATE sides SET options = :options, tc = :tc, threads = :threads WHERE test_id = :test AND side = :side

-- What decides whether and how a test may change.
-- name: test_for_change row
-- types: harmful bool, has_batches bool, is_undone bool
SELECT t.id, t.engine_id, t.author_id, t.book_id, b.sha AS base_commit, n.sha AS new_commit, b.options AS base_options,
       n.options AS new_options,
       t.pairs_max, t.priority, t.state, t.result, t.harmful, t.merged_commit, t.merged_onto, t.undone IS NOT NULL AS is_undone, t.patch_dropped, t.next_pair,
       t.units_counted, EXISTS (SELECT 1 FROM batches WHERE test_id = t.id) AS has_batches,
       e.name AS engine, e.branch, e.baseline, o.openings
FROM tests t JOIN engines e ON e.id = t.engine_id JOIN sides n ON n.test_id = t.id AND n.side = 'new'
     JOIN sides b ON b.test_id = t.id AND b.side = 'base' JOIN books o ON o.id = t.book_id
WHERE t.id = :test

-- The fields of a test, by their names in server/submit/fields.c; the rules are those of the adjudication.
-- name: test_settings object
SELECT @test_fields, n.options AS new_options, b.options AS base_options, n.tc, n.threads, parameters AS parameters_json, adjudication AS rules_json, (SELECT name FROM engines WHERE id = t.engine_id) AS engine,
       (SELECT name FROM books WHERE id = book_id) AS book
FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new' JOIN sides b ON b.test_id = t.id AND b.side = 'base'
WHERE t.id = :test

-- A test and its sides, with the values outside their rows that its approval covers: how and from which source a side
-- is built.
-- name: test_approval object
SELECT t.*, e.name AS engine, e.build, b.blob AS book
FROM tests t JOIN engines e ON e.id = t.engine_id JOIN books b ON b.id = t.book_id WHERE t.id = :test

-- name: sides_approval array
SELECT s.*, e.name AS engine, e.build, c.snapshot, c.files
FROM sides s JOIN engines e ON e.id = s.engine_id JOIN commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
WHERE s.test_id = :test ORDER BY s.side

-- A test whose approval covers all of a commit: each base below it is in the baseline's history or approved. 0: none.
-- name: approval_of_commit value
-- types: :commit text, value int
WITH RECURSIVE approved (test, patch, base, grounded) AS NOT MATERIALIZED (
    SELECT t.id, n.sha, b.sha, b.grounded FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new'
           JOIN sides b ON b.test_id = t.id AND b.side = 'base' AND b.engine_id = t.engine_id
    WHERE n.engine_id = :engine AND t.engine_id = :engine AND t.approved_hash IS NOT NULL AND NOT t.harmful),
below (test, base, grounded) AS (
    SELECT test, base, grounded FROM approved WHERE patch = :commit
    UNION
    SELECT b.test, a.base, a.grounded FROM below b JOIN approved a ON a.patch = b.base WHERE NOT b.grounded)
SELECT coalesce(max(test), 0) FROM below WHERE grounded

-- The newest test of a commit, for the message that says why the commit cannot be a base.
-- name: approval_missing row
-- types: approved bool
SELECT t.id, t.state, t.approved_hash IS NOT NULL AS approved FROM sides n JOIN tests t ON t.id = n.test_id
WHERE n.engine_id = :engine AND n.sha = :commit AND n.side = 'new' ORDER BY t.id DESC LIMIT 1

-- Active tests, and their commits of engine :engine that depend on the approval of another test.
-- name: sides_ungrounded rows
SELECT t.id, s.sha FROM sides s JOIN tests t ON t.id = s.test_id
WHERE s.engine_id = :engine AND t.state = 'active' AND NOT s.grounded

-- The tested commit is now in the baseline's history, and so are the bases below it.
-- name: sides_merged
UPDATE sides SET grounded = 1 WHERE engine_id = :engine AND sha = :commit

-- name: base_grounded
UPDATE sides SET grounded = 1 WHERE test_id = :test AND side = 'base'

-- name: test_set_harmful
UPDATE tests SET harmful = 1 WHERE id = :test

-- name: harmful_commits rows
SELECT t.id, n.sha FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new' WHERE t.engine_id = :engine AND t.harmful

-- name: harmful_count value
-- types: value int
SELECT count(*) FROM tests WHERE engine_id = :engine AND harmful

-- The commits of an engine that tests after the test :after build: open ones, and those of which batches are still played
-- again.
-- name: sides_open_after rows
SELECT t.id, s.sha FROM tests t JOIN sides s ON s.test_id = t.id
WHERE s.engine_id = :engine AND t.id > :after AND (t.state IN ('pending', 'active', 'paused')
      OR EXISTS (SELECT 1 FROM reruns r WHERE r.test_id = t.id AND r.state IN ('due', 'third'))) ORDER BY t.id

-- name: tests_pending_of value
-- types: value int
SELECT count(*) FROM tests WHERE author_id = :user AND state = 'pending'

-- Bytes that submissions of a user wrote after the hour :since.
-- name: quota_used value
-- types: value int
SELECT coalesce(sum(bytes), 0) FROM submitted_bytes WHERE user_id = :user AND hour > :since

-- name: quota_hours rows
SELECT hour, bytes FROM submitted_bytes WHERE user_id = :user AND hour > :since ORDER BY hour

-- name: quota_add
INSERT INTO submitted_bytes (user_id, hour, bytes) VALUES (:user, :hour, :bytes)
ON CONFLICT (user_id, hour) DO UPDATE SET bytes = bytes + excluded.bytes

-- name: quota_expire
DELETE FROM submitted_bytes WHERE hour <= :since

-- name: tests_last value
-- types: value int
SELECT coalesce(max(id), 0) FROM tests

-- name: test_merged
UPDATE tests SET merged_commit = :commit, merged_onto = :onto, merged = :now WHERE id = :test

-- name: test_commit row
-- types: dropped bool
SELECT n.sha AS new_commit, t.patch_dropped IS NOT NULL AS dropped FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new'
WHERE t.id = :test AND t.engine_id = :engine

-- The list of options of a commit's engine; NULL: not known.
-- name: commit_options value
SELECT options FROM known_commits WHERE engine_id = :engine AND sha = :sha

-- Who approved the test as the hash says, if that person is still a maintainer of its engine; 0: no such person.
-- name: test_approver value
-- types: value int
SELECT coalesce((SELECT u.id FROM tests t JOIN users u ON u.id = t.approved_by
                 WHERE t.id = :test AND t.approved_hash = :hash AND u.state = 'active'
                   AND (u.admin OR EXISTS (SELECT 1 FROM roles r WHERE r.user_id = u.id AND r.engine_id = t.engine_id AND r.role = 'maintainer'))), 0)

-- name: test_retest value
-- types: value int
SELECT coalesce(max(t.id), 0) FROM tests t JOIN sides b ON b.test_id = t.id AND b.side = 'base'
WHERE t.retest_of = :test AND b.sha = :baseline

-- name: book_by_name row
-- types: chess960 bool
SELECT id, chess960, openings FROM books WHERE engine_id = :engine AND name = :name

-- name: book_default row
-- types: :chess960 bool, chess960 bool
SELECT id, chess960, openings FROM books WHERE engine_id = :engine AND chess960 = :chess960 ORDER BY id LIMIT 1

-- name: book_names value
-- types: value text
SELECT coalesce(group_concat(name, ', '), '') FROM (SELECT name FROM books WHERE engine_id = :engine ORDER BY id)

-- name: preset_by_name object
SELECT fields AS fields_json FROM presets WHERE engine_id = :engine AND name = :name
