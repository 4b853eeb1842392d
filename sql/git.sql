-- Queries of engines, their commits and their repositories.

-- name: engine_add
INSERT INTO engines (name, title, branch, baseline, build, reference_commit, reference_speed, reference_machine, created)
VALUES (:name, :title, :branch, :baseline, :build, :baseline, :reference_speed, :reference_machine, :created)

-- name: engine_by_id row
SELECT id, name, branch, baseline, reference_commit, reference_speed, margin_ms, net_file, net_path FROM engines WHERE id = :engine

-- name: engine_of_name value
SELECT id FROM engines WHERE name = :name

-- The engine of a server that has one; no row if it has several.
-- name: engine_only value
-- types: value int
SELECT min(id) FROM engines HAVING count(*) = 1

-- For the form of a new test.
-- name: page_form_engine object
SELECT id, name, title, branch, baseline, build AS build_json, reference_commit, reference_speed, net_file, net_path
FROM engines WHERE name = :name

-- name: engines_all rows
SELECT id, name, branch, baseline, reference_commit, reference_speed, reference_machine FROM engines ORDER BY id

-- Moves the baseline, unless it is no longer :old.
-- name: engine_set_baseline
UPDATE engines SET baseline = :baseline WHERE id = :engine AND baseline = :old

-- name: engine_set_reference
UPDATE engines SET reference_commit = :sha, reference_speed = :speed, reference_machine = :machine WHERE id = :engine

-- What machine :worker measured for its last tasks with the reference :sha.
-- name: engine_reference_measured row
-- types: speed real, cpu text
WITH newest AS (SELECT b.speed FROM batches b JOIN tasks k ON k.id = b.task_id JOIN tests t ON t.id = k.test_id
                WHERE b.worker_id = :worker AND b.seq = 0 AND k.reference_commit = :sha AND t.engine_id = :engine
                ORDER BY b.id DESC LIMIT 9),
     ordered AS (SELECT speed, row_number() OVER (ORDER BY speed) AS place, count(*) OVER () AS tasks FROM newest)
SELECT o.speed, w.name, coalesce(json_extract(w.host, '$.cpu'), '') AS cpu, w.cores
FROM ordered o JOIN workers w ON w.id = :worker WHERE o.place = (o.tasks + 1) / 2

-- name: engine_set_margin
UPDATE engines SET margin_ms = :margin_ms WHERE id = :engine

-- name: engine_set_nets
UPDATE engines SET net_file = :file, net_path = :path WHERE id = :engine

-- name: blob_note
INSERT INTO blobs (sha256, size, kind, created) VALUES (:sha256, :size, :kind, :created) ON CONFLICT DO NOTHING

-- name: blob_known value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM blobs WHERE sha256 = :sha256)

-- name: commit_note
INSERT INTO commits (engine_id, sha, snapshot, subject, author, created, net, files)
VALUES (:engine, :sha, :snapshot, :subject, :author, :created, nullif(:net, ''), :files) ON CONFLICT DO NOTHING

-- The bench count of a tree, unless one is known.
-- name: tree_note
INSERT INTO trees (engine_id, snapshot, bench) VALUES (:engine, :snapshot, :bench)
ON CONFLICT DO UPDATE SET bench = coalesce(bench, excluded.bench)

-- net '': it has none. net_path '': its net is in its tree.
-- name: commit_by_sha row
-- types: net text, net_path text
SELECT snapshot, bench, coalesce(net, '') AS net, coalesce(json_extract(files, '$[0].path'), '') AS net_path
FROM known_commits WHERE engine_id = :engine AND sha = :sha

-- The commit of the snapshot, and whether workers may build it now. Of several commits with the same files, one that
-- they build comes first, and then one of a test whose patch was not dropped: it is certain to be in the repository.
-- name: snapshot_commit row
-- types: built bool
SELECT e.name AS engine, c.sha, EXISTS (SELECT 1 FROM commits_built b WHERE b.engine_id = c.engine_id AND b.sha = c.sha) AS built
FROM commits c JOIN engines e ON e.id = c.engine_id WHERE c.snapshot = :snapshot
ORDER BY built DESC, EXISTS (SELECT 1 FROM sides s JOIN tests t ON t.id = s.test_id AND t.patch_dropped IS NULL
                            WHERE s.engine_id = c.engine_id AND s.sha = c.sha AND s.side = 'new') DESC
LIMIT 1

-- name: commit_bench value
SELECT bench FROM known_commits WHERE engine_id = :engine AND sha = :sha

-- name: preset_add
INSERT INTO presets (engine_id, position, name, fields) VALUES (:engine, :position, :name, :fields)

-- name: tests_refs rows
SELECT t.id, n.sha AS new_commit FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new'
WHERE t.engine_id = :engine AND t.patch_dropped IS NULL ORDER BY t.id

-- Whether the test has a reference. 0: the engine has no such test, 1: it has, 2: its patch was dropped.
-- name: test_ref_standing value
-- types: value int
SELECT coalesce((SELECT iif(patch_dropped IS NULL, 1, 2) FROM tests WHERE id = :test AND engine_id = :engine), 0)

-- The next engine (:after: the one before) that has tests whose patch was dropped.
-- name: engine_with_dropped row
SELECT id, name, reference_commit FROM engines e
WHERE id > :after AND EXISTS (SELECT 1 FROM tests t WHERE t.engine_id = e.id AND t.patch_dropped IS NOT NULL)
ORDER BY id LIMIT 1
