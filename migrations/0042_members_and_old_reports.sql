-- A credential that was revoked is a member no more; the ones revoked before this version are told apart by nothing else.
delete from memberships m using credentials k where k.user_id = m.user_id and k.revoked_at is not null;

-- What checks said of commits that no card shows any more is dropped by its age.
create index on check_reports (changed_at);
