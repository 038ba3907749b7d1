-- Creates the role trunkline_service with the password in the environment variable SERVICE_PASSWORD, or changes its password. Run it with
-- psql 15 or newer, as a role that may create roles, before deploy/service-role.sql. It can run repeatedly.
\getenv password SERVICE_PASSWORD
select 'create role trunkline_service' where not exists (select from pg_roles where rolname = 'trunkline_service') \gexec
alter role trunkline_service login nosuperuser nocreatedb nocreaterole password :'password';
