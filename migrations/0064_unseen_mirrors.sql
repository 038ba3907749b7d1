-- Of a mirror that the forge may have been told to write, without our hearing what came of it: when that may last have been. Until reads show
-- what was written then, it is looked for and not written again.
alter table comment_mirrors add column unsure_since timestamptz;
