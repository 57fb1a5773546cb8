-- Lets this transaction read whole tables, and join them, as a proof has to; the legs' connections look up by index alone.
SELECT set_config(name, 'on', true)
FROM unnest(ARRAY['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_material']) AS name
