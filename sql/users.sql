-- Queries of accounts: users, sessions, tokens, roles, wrong passwords.

-- name: user_add
-- types: :admin bool
INSERT INTO users (name, email, password, state, admin, created)
VALUES (:name, :email, :password, :state, :admin, :created)

-- name: user_by_name row
-- types: admin bool
SELECT id, password, state, admin FROM users WHERE name = :name

-- name: user_of_name value
SELECT id FROM users WHERE name = :name

-- name: user_by_id object
-- types: admin bool
SELECT id, name, email, state, admin, created FROM users WHERE id = :user

-- name: user_password value
SELECT password FROM users WHERE id = :user

-- name: user_set_password
UPDATE users SET password = :password WHERE id = :user

-- Stores a new hash of the same password.
-- name: user_rehash
UPDATE users SET password = :new_hash WHERE id = :user AND password = :old_hash

-- name: user_set_state
UPDATE users SET state = :state WHERE id = :user

-- name: user_set_admin
-- types: :admin bool
UPDATE users SET admin = :admin WHERE id = :user

-- name: users_all array
SELECT id, name, email, state, admin, created,
       (SELECT coalesce(json_group_array(json_object('engine', engines.name, 'role', roles.role)), '[]')
        FROM roles JOIN engines ON engines.id = roles.engine_id
        WHERE roles.user_id = users.id) AS roles_json
FROM users ORDER BY name

-- For the command line. `roles` is a text such as " engine:developer engine:maintainer".
-- name: users_list rows
-- types: admin bool, roles text
SELECT name, state, admin,
       (SELECT coalesce(group_concat(' ' || engines.name || ':' || roles.role, ''), '')
        FROM roles JOIN engines ON engines.id = roles.engine_id
        WHERE roles.user_id = users.id) AS roles
FROM users ORDER BY name

-- name: session_add
INSERT INTO sessions (token_hash, user_id, csrf, address, created, expires)
VALUES (:token_hash, :user, :csrf, :address, :created, :expires)

-- name: session_viewer row
-- types: admin bool
SELECT users.id, users.name, users.admin, sessions.csrf
FROM sessions JOIN users ON users.id = sessions.user_id
WHERE sessions.token_hash = :token_hash AND sessions.expires > :now AND users.state = 'active'

-- name: session_remove
DELETE FROM sessions WHERE token_hash = :token_hash

-- Removes the sessions of the account, except that of the token ('': none).
-- name: sessions_remove_others
DELETE FROM sessions WHERE user_id = :user AND token_hash <> :token_hash

-- name: token_add
INSERT INTO api_tokens (user_id, token_hash, scope, name, created) VALUES (:user, :token_hash, :scope, :name, :created)

-- name: token_viewer row
-- types: admin bool
SELECT users.id, users.name, users.admin, api_tokens.id AS token_id, api_tokens.scope, api_tokens.last_used
FROM api_tokens JOIN users ON users.id = api_tokens.user_id
WHERE api_tokens.token_hash = :token_hash AND users.state = 'active'

-- name: token_used
UPDATE api_tokens SET last_used = :now WHERE id = :token

-- name: token_remove
DELETE FROM api_tokens WHERE id = :token AND user_id = :user

-- name: tokens_remove_all
DELETE FROM api_tokens WHERE user_id = :user

-- name: tokens_of_user array
SELECT id, scope, name, created, last_used FROM api_tokens WHERE user_id = :user ORDER BY id

-- name: worker_viewer row
-- types: owner text, barred text
SELECT w.id, w.name, w.owner, s.barred FROM workers w JOIN standings s ON s.id = w.id WHERE w.token_hash = :token_hash

-- :engine 0: for any engine.
-- name: role_develops value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM users WHERE id = :user AND admin = 1)
    OR EXISTS (SELECT 1 FROM roles WHERE user_id = :user AND (:engine = 0 OR engine_id = :engine))

-- :engine 0: for any engine.
-- name: role_has value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM roles WHERE user_id = :user AND (:engine = 0 OR engine_id = :engine) AND role = :role)

-- name: role_add
INSERT INTO roles (user_id, engine_id, role) VALUES (:user, :engine, :role) ON CONFLICT DO NOTHING

-- name: role_remove
DELETE FROM roles WHERE user_id = :user AND engine_id = :engine AND role = :role

-- name: roles_of_user array
SELECT engines.name AS engine, roles.role FROM roles JOIN engines ON engines.id = roles.engine_id
WHERE roles.user_id = :user ORDER BY engines.name, roles.role

-- A request that was declined is made anew.
-- name: role_request_add
INSERT INTO role_requests (user_id, engine_id, text, created) VALUES (:user, :engine, :text, :now)
ON CONFLICT (user_id, engine_id) DO UPDATE SET text = excluded.text, created = excluded.created, declined = NULL

-- name: role_request_of row
SELECT created, declined FROM role_requests WHERE user_id = :user AND engine_id = :engine

-- name: role_request_open row
SELECT q.user_id, q.engine_id, users.name AS user, engines.name AS engine
FROM open_role_requests q JOIN users ON users.id = q.user_id JOIN engines ON engines.id = q.engine_id
WHERE q.id = :request

-- name: role_request_decline
UPDATE role_requests SET declined = :now WHERE id = :request

-- name: role_request_remove
DELETE FROM role_requests WHERE id = :request

-- Those that the viewer may answer: of the engines that :user maintains, of all with :all.
-- name: role_requests_to_answer array
-- types: :all bool
SELECT q.id, users.name AS user, engines.name AS engine, engines.title AS engine_title, q.text, q.created,
       users.created AS user_created
FROM open_role_requests q JOIN users ON users.id = q.user_id JOIN engines ON engines.id = q.engine_id
WHERE :all OR EXISTS (SELECT 1 FROM roles r
                      WHERE r.user_id = :user AND r.engine_id = q.engine_id AND r.role = 'maintainer')
ORDER BY q.created LIMIT 200

-- name: role_requests_count value
-- types: :all bool, value int
SELECT count(*) FROM open_role_requests q
WHERE :all OR EXISTS (SELECT 1 FROM roles r
                      WHERE r.user_id = :user AND r.engine_id = q.engine_id AND r.role = 'maintainer')

-- The engines of which the user has no role, with the last request for one that waits, or that was declined less than
-- :wait_s ago: `again` is when the user may ask again.
-- name: engines_without_role array
-- types: :now real, :wait_s real
SELECT engines.name AS engine, engines.title, q.created AS asked, q.declined, q.declined + :wait_s AS again
FROM engines LEFT JOIN role_requests q ON q.engine_id = engines.id AND q.user_id = :user
                                          AND (q.declined IS NULL OR q.declined + :wait_s > :now)
WHERE NOT EXISTS (SELECT 1 FROM roles r WHERE r.user_id = :user AND r.engine_id = engines.id)
ORDER BY engines.id LIMIT 100

-- Another person than :author who may approve tests of the engine.
-- name: other_approver value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM users u WHERE u.state = 'active' AND u.id <> :author
               AND (u.admin = 1 OR EXISTS (SELECT 1 FROM roles r WHERE r.user_id = u.id AND r.engine_id = :engine
                                           AND r.role = 'maintainer')))

-- name: login_failures_of row
SELECT count, last FROM login_failures WHERE subject = :subject

-- Counts anew if the last failure is more than :forget_s seconds ago.
-- name: login_failure_add
-- types: :forget_s real
INSERT INTO login_failures (subject, count, last) VALUES (:subject, 1, :now)
ON CONFLICT (subject) DO UPDATE SET count = CASE WHEN last < :now - :forget_s THEN 1 ELSE count + 1 END, last = :now

-- name: login_failures_clear
DELETE FROM login_failures WHERE subject = :subject

-- For the account, from all networks.
-- name: login_failures_forget
DELETE FROM login_failures WHERE subject = :account OR (subject > :account || ' ' AND subject < :account || '!')

-- name: known_network value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM known_networks WHERE user_id = :user AND network = :network)

-- name: known_network_add
INSERT INTO known_networks (user_id, network, last) VALUES (:user, :network, :now)
ON CONFLICT (user_id, network) DO UPDATE SET last = excluded.last

-- Keeps the last networks, or the last browsers (:devices), of the account.
-- name: known_networks_trim
-- types: :devices bool, :limit int
DELETE FROM known_networks WHERE user_id = :user AND (network GLOB 'device *') = :devices
    AND network NOT IN (SELECT network FROM known_networks
                        WHERE user_id = :user AND (network GLOB 'device *') = :devices ORDER BY last DESC LIMIT :limit)
