-- Queries of engines, their commits and their repositories.

-- name: engine_add
INSERT INTO engines (name, title, branch, baseline, build, reference_commit, reference_speed, created)
VALUES (:name, :title, :branch, :baseline, :build, :baseline, :reference_speed, :created)

-- name: engine_by_name
SELECT id, name, title, branch, baseline, build AS build_json, reference_commit, reference_speed, net_file, net_path
FROM engines WHERE name = ?1

-- name: engine_by_id
SELECT id, name, title, branch, baseline, build AS build_json, reference_commit, reference_speed, net_file, net_path
FROM engines WHERE id = ?1

-- name: engine_names
SELECT name FROM engines ORDER BY id

-- name: engine_baselines
SELECT id, name, branch, baseline FROM engines ORDER BY id

-- name: engine_set_baseline
UPDATE engines SET baseline = ?2 WHERE id = ?1 AND baseline = ?3

-- name: engine_set_reference
UPDATE engines SET reference_commit = ?2, reference_speed = ?3 WHERE id = ?1

-- name: engine_set_nets
UPDATE engines SET net_file = ?2, net_path = ?3 WHERE id = ?1

-- name: blob_note
INSERT INTO blobs (sha256, size, kind, created) VALUES (:sha256, :size, :kind, :created) ON CONFLICT DO NOTHING

-- name: blob_known
SELECT EXISTS (SELECT 1 FROM blobs WHERE sha256 = ?1)

-- name: commit_note
INSERT INTO commits (engine_id, sha, snapshot, bench, subject, author, created, net, files)
VALUES (:engine, :sha, :snapshot, nullif(:bench, 0), :subject, :author, :created, nullif(:net, ''), :files) ON CONFLICT DO NOTHING

-- name: commit_by_sha
SELECT sha, snapshot, bench, subject, author, net, files AS files_json FROM commits WHERE engine_id = ?1 AND sha = ?2

-- The commit of snapshot ?1, and whether workers may build it now. Of several commits with the same files, one that they
-- build comes first, and then one of a test whose patch was not dropped: it is certain to be in the repository.
-- name: snapshot_commit
SELECT e.name AS engine, c.sha, EXISTS (SELECT 1 FROM commits_built b WHERE b.engine_id = c.engine_id AND b.sha = c.sha) AS built
FROM commits c JOIN engines e ON e.id = c.engine_id WHERE c.snapshot = ?1 
ORDER BY built DESC, EXISTS (SELECT 1 FROM tests t WHERE t.engine_id = c.engine_id AND t.new_commit = c.sha AND t.patch_dropped IS NULL) DESC
LIMIT 1

-- name: commit_bench
SELECT coalesce(bench, 0) FROM commits WHERE engine_id = ?1 AND sha = ?2

-- name: preset_add
INSERT INTO presets (engine_id, position, name, fields) VALUES (:engine_id, :position, :name, :fields)

-- name: tests_refs
SELECT id, new_commit FROM tests WHERE engine_id = ?1 AND patch_dropped IS NULL ORDER BY id

-- Whether test ?1 of engine ?2 has a reference. 0: there is no such test, 1: it has, 2: its patch was dropped.
-- name: test_ref_standing
SELECT coalesce((SELECT iif(patch_dropped IS NULL, 1, 2) FROM tests WHERE id = ?1 AND engine_id = ?2), 0)

-- Engines that have tests whose patch was dropped.
-- name: engines_with_dropped
SELECT id, name, reference_commit FROM engines e
WHERE EXISTS (SELECT 1 FROM tests t WHERE t.engine_id = e.id AND t.patch_dropped IS NOT NULL)
