-- Branches that were meant to be cut, and nobody knows whether they were: few of very many.
create index forge_intents_unheard_cuts on forge_intents (created_at) where kind = 'create_branch' and not done;
