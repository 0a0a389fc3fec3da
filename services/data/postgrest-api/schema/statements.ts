/** Builds the subquery that resolves a type through all of its domains. */
const resolveDomain = (type: string): string => `(with recursive below as (
  select ${type}.oid, ${type}.typbasetype
  union all
  select t.oid, t.typbasetype from below join pg_type t on t.oid = below.typbasetype
) select oid from below where typbasetype = 0)`;

/**
 * Query for tables and views of the exposed schemas ($1) with their columns and primary keys. Partitions are excluded,
 * since they are reached through their parent table.
 */
export const tablesStatement = `
select n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as is_view, c.oid::text as oid,
  obj_description(c.oid, 'pg_class') as comment,
  coalesce((select json_agg(a.attname order by array_position(k.conkey, a.attnum))
    from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
    where k.conrelid = c.oid and k.contype = 'p'), '[]') as primary_key,
  (select coalesce(json_agg(json_build_object(
      'name', a.attname, 'number', a.attnum, 'type', format_type(a.atttypid, a.atttypmod),
      'baseType', format_type(${resolveDomain('t')}, null),
      'isNotNull', a.attnotnull, 'isRequired', a.attnotnull and d.adbin is null and a.attidentity = '' and a.attgenerated = '',
      'defaultValue', case when a.attidentity = 'd' then format('nextval(%L)',
        pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname))
        when a.attgenerated = '' then coalesce(pg_get_expr(d.adbin, d.adrelid), pg_get_expr(t.typdefaultbin, 0)) end,
      'isGenerated', a.attgenerated <> '' or a.attidentity = 'a',
      'comment', col_description(c.oid, a.attnum), 'domain', case when t.typtype = 'd' then t.oid::text end,
      'enumValues', coalesce((select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid), '[]')
    ) order by a.attnum), '[]')
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
order by 1, 2`;

/**
 * Query for foreign keys with their column numbers, and whether a constraint makes them unique; as in PostgREST, a
 * unique index alone does not count.
 */
export const foreignKeysStatement = `
select k.conname as name, k.conrelid::text as "table", k.confrelid::text as target, k.conkey as columns, k.confkey as targets,
  exists (select from pg_constraint u where u.conrelid = k.conrelid and u.contype in ('p', 'u')
    and u.conkey <@ k.conkey and k.conkey <@ u.conkey) as is_unique
from pg_constraint k
where k.contype = 'f' and k.conparentid = 0
order by k.conname`;

/**
 * Query for the primary keys of all tables with their column numbers, since views may contain them. Included columns of
 * an index do not belong to the key.
 */
export const primaryKeysStatement = `
select k.conrelid::text as "table", k.conkey as columns
from pg_constraint k join pg_namespace n on n.oid = k.connamespace
where k.contype = 'p' and n.nspname not in ('pg_catalog', 'pg_toast')`;

/** Query for the rules of views of the exposed schemas ($1) and of all views below them, in any schema. */
export const viewRulesStatement = `
with recursive views as (
  select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and c.relkind in ('v', 'm')
  union
  select below.oid
  from views join pg_rewrite r on r.ev_class = views.oid
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
  join pg_class below on below.oid = d.refobjid and below.relkind in ('v', 'm')
)
select r.ev_class::text as view, r.ev_action::text as action
from views join pg_rewrite r on r.ev_class = views.oid and r.rulename = '_RETURN'`;

/** Query for the functions of the exposed schemas ($1). */
export const routinesStatement = `
select n.nspname as schema, p.proname as name, obj_description(p.oid, 'pg_proc') as comment,
  p.provolatile = 'v' as is_volatile, p.proretset as is_set, p.prorows as rows,
  base.typtype as return_kind, t.typname as return_name, format_type(t.oid, null) as return_type,
  base.typrelid::text as return_relation, p.provariadic <> 0 as is_variadic, p.pronargdefaults as defaults,
  coalesce(p.proargmodes::text[], '{}') as modes, coalesce(p.proargnames, '{}') as names,
  -- Arguments have no length: -1 makes "bpchar" of what would be "character", which means one character.
  (select coalesce(array_agg(format_type(each, -1) order by place), '{}')
    from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as types (each, place)) as types,
  case when p.pronargs = 1 then (select a.typrelid::text from pg_type a where a.oid = p.proargtypes[0]
    and a.typrelid <> 0) end as of_relation
from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type t on t.oid = p.prorettype
join pg_type base on base.oid = ${resolveDomain('t')}
where n.nspname = any($1) and p.prokind = 'f' and t.typname not in ('trigger', 'event_trigger')
order by 1, 2, p.oid`;

/**
 * Query for implicit casts of domains to and from JSON and text. PostgreSQL itself ignores casts of domains; they
 * define how values are converted for clients.
 */
export const representationsStatement = `
select case when s.typtype = 'd' then s.oid else t.oid end::text as domain,
  case when s.typtype = 'd' then 'to_' || t.typname else 'from_' || s.typname end as direction,
  format('%I.%I', n.nspname, p.proname) as function
from pg_cast c join pg_type s on s.oid = c.castsource join pg_type t on t.oid = c.casttarget
join pg_proc p on p.oid = c.castfunc join pg_namespace n on n.oid = p.pronamespace
where c.castcontext = 'i' and c.castmethod = 'f'
  and ((s.typtype = 'd' and t.typname in ('json', 'text')) or (t.typtype = 'd' and s.typname in ('json', 'text')))`;
