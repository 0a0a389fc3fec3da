/** Tables and views of the exposed schemas ($1) with their columns and primary keys. */
export const tablesStatement = `
select n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as is_view, c.oid::text as oid,
  obj_description(c.oid, 'pg_class') as comment,
  coalesce((select json_agg(a.attname order by array_position(k.conkey, a.attnum))
    from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
    where k.conrelid = c.oid and k.contype = 'p'), '[]') as primary_key,
  (select coalesce(json_agg(json_build_object(
      'name', a.attname, 'number', a.attnum, 'type', format_type(a.atttypid, a.atttypmod),
      'baseType', format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null),
      'isNotNull', a.attnotnull, 'isRequired', a.attnotnull and d.adbin is null and a.attidentity = '' and a.attgenerated = '',
      'defaultValue', case when a.attidentity = 'd' then format('nextval(%L)', pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname))
        when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end,
      'isGenerated', a.attgenerated <> '' or a.attidentity = 'a',
      'comment', col_description(c.oid, a.attnum),
      'enumValues', coalesce((select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid), '[]')
    ) order by a.attnum), '[]')
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
order by 1, 2`;

/** Foreign keys with the numbers of their columns, and whether those are unique where they are, whatever an index includes besides. */
export const foreignKeysStatement = `
select k.conname as name, k.conrelid::text as "table", k.confrelid::text as target, k.conkey as columns, k.confkey as targets,
  exists (select from pg_index i where i.indrelid = k.conrelid and i.indisunique and i.indpred is null and i.indexprs is null
    and (i.indkey::int2[])[0:i.indnkeyatts - 1] <@ k.conkey and k.conkey <@ (i.indkey::int2[])[0:i.indnkeyatts - 1]) as is_unique
from pg_constraint k
where k.contype = 'f' and k.conparentid = 0
order by k.conname`;

/** Primary keys of all tables with the numbers of their columns: views may show them. What an index merely includes is none. */
export const primaryKeysStatement = `
select k.conrelid::text as "table", k.conkey as columns
from pg_constraint k join pg_namespace n on n.oid = k.connamespace
where k.contype = 'p' and n.nspname not in ('pg_catalog', 'pg_toast')`;

/** Which column of a view is which of another table, as the view's rule has it; the last of a number is the view's own. */
export const viewColumnsStatement = `
select c.oid::text as view, (found.parts)[1]::int as number, (found.parts)[2] as origin, (found.parts)[3]::int as origin_number
from pg_class c join pg_namespace n on n.oid = c.relnamespace
join pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN',
lateral regexp_matches(r.ev_action::text, ':resno (\\d+) :resname \\S+ :ressortgroupref \\d+ :resorigtbl (\\d+) :resorigcol (\\d+)', 'g')
  with ordinality as found (parts, place)
where n.nspname = any($1) and c.relkind in ('v', 'm')
order by c.oid, found.place`;

/** Functions of the exposed schemas ($1). */
export const routinesStatement = `
select n.nspname as schema, p.proname as name, obj_description(p.oid, 'pg_proc') as comment,
  p.provolatile = 'v' as is_volatile, p.proretset as is_set, p.prorows as rows,
  t.typtype as return_kind, t.typname as return_name, format_type(t.oid, null) as return_type,
  t.typrelid::text as return_relation, p.provariadic <> 0 as is_variadic, p.pronargdefaults as defaults,
  coalesce(p.proargmodes::text[], '{}') as modes, coalesce(p.proargnames, '{}') as names,
  (select coalesce(array_agg(format_type(each, null) order by place), '{}')
    from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as types (each, place)) as types,
  case when p.pronargs = 1 then (select a.typrelid::text from pg_type a where a.oid = p.proargtypes[0] and a.typrelid <> 0) end as of_relation
from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type t on t.oid = p.prorettype
where n.nspname = any($1) and p.prokind = 'f' and t.typname not in ('trigger', 'event_trigger')
order by 1, 2, p.oid`;
