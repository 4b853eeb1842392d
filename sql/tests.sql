-- Queries for submitting, approving, changing and merging tests. The queries for workers are in ledger.sql.

-- The values that people enter when they submit or change a test. server/submit/test_columns.c says which of them an
-- approval covers.
-- columns test_fields: title description base_options new_options workload parameters tc threads book_id
-- columns test_fields: seed variant adjudication batch_pairs pairs_max priority

-- name: test_add
-- types: :base_in_baseline bool, :retest_of int?, :new_bench_declared int?, :base_bench_declared int?
INSERT INTO tests (engine_id, author_id, created, base_commit, new_commit, state, retest_of, base_in_baseline,
                   new_bench_declared, base_bench_declared, @test_fields)
VALUES (:engine, :user, :now, :base_commit, :new_commit, 'pending', :retest_of, :base_in_baseline,
        :new_bench_declared, :base_bench_declared, @:test_fields)

-- name: test_modify
UPDATE tests SET @=test_fields WHERE id = :test

-- What decides whether and how a test may change.
-- name: test_for_change row
-- types: harmful bool
SELECT t.id, t.engine_id, t.author_id, t.book_id, t.base_commit, t.new_commit, t.base_options, t.new_options,
       t.pairs_max, t.priority, t.state, t.result, t.harmful, t.merged_commit, t.patch_dropped, t.next_pair,
       t.units_counted, e.name AS engine, e.branch, e.baseline
FROM tests t JOIN engines e ON e.id = t.engine_id WHERE t.id = :test

-- The fields of a test, by their names in server/submit/fields.c; the rules are those of the adjudication.
-- name: test_settings object
SELECT @test_fields, parameters AS parameters_json, adjudication AS rules_json, (SELECT name FROM engines WHERE id = engine_id) AS engine,
       (SELECT name FROM books WHERE id = book_id) AS book
FROM tests WHERE id = :test

-- A test with the values outside its row that its approval covers: how and from which source it is built.
-- name: test_approval object
SELECT t.*, e.name AS engine, e.build, cb.snapshot AS base_snapshot, cn.snapshot AS new_snapshot,
       cb.files AS base_files, cn.files AS new_files, b.blob AS book
FROM tests t JOIN engines e ON e.id = t.engine_id JOIN books b ON b.id = t.book_id
     JOIN commits cb ON cb.engine_id = t.engine_id AND cb.sha = t.base_commit
     JOIN commits cn ON cn.engine_id = t.engine_id AND cn.sha = t.new_commit
WHERE t.id = :test

-- A test whose approval covers all of a commit: each base below it is in the baseline's history or approved. 0: none.
-- name: approval_of_commit value
-- types: value int
WITH RECURSIVE below (test, base, grounded) AS (
    SELECT id, base_commit, base_in_baseline FROM tests
    WHERE engine_id = :engine AND new_commit = :commit AND approved_hash IS NOT NULL AND NOT harmful
    UNION
    SELECT b.test, t.base_commit, t.base_in_baseline FROM below b JOIN tests t ON t.engine_id = :engine AND t.new_commit = b.base
    WHERE NOT b.grounded AND t.approved_hash IS NOT NULL AND NOT t.harmful)
SELECT coalesce(max(test), 0) FROM below WHERE grounded

-- The newest test of a commit, for the message that says why the commit cannot be a base.
-- name: approval_missing row
-- types: approved bool
SELECT id, state, approved_hash IS NOT NULL AS approved FROM tests WHERE engine_id = :engine AND new_commit = :commit ORDER BY id DESC LIMIT 1

-- Active tests that depend on the approval of another test.
-- name: tests_outside_baseline rows
SELECT id, base_commit FROM tests WHERE engine_id = :engine AND state = 'active' AND NOT base_in_baseline

-- The tested commit is now in the baseline's history, and so are the bases below it.
-- name: test_bases_merged
UPDATE tests SET base_in_baseline = 1 WHERE engine_id = :engine AND base_commit = :commit

-- name: test_base_in_baseline
UPDATE tests SET base_in_baseline = 1 WHERE id = :test

-- name: test_set_harmful
UPDATE tests SET harmful = 1 WHERE id = :test

-- name: harmful_commits rows
SELECT id, new_commit FROM tests WHERE engine_id = :engine AND harmful

-- name: harmful_count value
-- types: value int
SELECT count(*) FROM tests WHERE engine_id = :engine AND harmful

-- Open tests of an engine after the test :after, and the commits that they build.
-- name: tests_open_after rows
SELECT id, base_commit, new_commit FROM tests WHERE engine_id = :engine AND id > :after AND state IN ('pending', 'active', 'paused') ORDER BY id

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
UPDATE tests SET merged_commit = :commit, merged = :now WHERE id = :test

-- name: test_commit row
-- types: dropped bool
SELECT new_commit, patch_dropped IS NOT NULL AS dropped FROM tests WHERE id = :test AND engine_id = :engine

-- name: test_retest value
-- types: value int
SELECT coalesce(max(id), 0) FROM tests WHERE retest_of = :test AND base_commit = :baseline

-- name: book_by_name row
-- types: chess960 bool
SELECT id, chess960 FROM books WHERE engine_id = :engine AND name = :name

-- name: book_default value
-- types: :chess960 bool
SELECT id FROM books WHERE engine_id = :engine AND chess960 = :chess960 ORDER BY id LIMIT 1

-- name: book_names value
-- types: value text
SELECT coalesce(group_concat(name, ', '), '') FROM (SELECT name FROM books WHERE engine_id = :engine ORDER BY id)

-- name: preset_by_name object
SELECT fields AS fields_json FROM presets WHERE engine_id = :engine AND name = :name
