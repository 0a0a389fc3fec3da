import * as m from '#messages/data-problems';
import type pg from 'pg';
import type { DataTrigger } from '../../contracts/data/schema.ts';
import { quoteIdentifier, quoteQualified } from '../../contracts/data/sql-names.ts';
import { Problem } from '../../contracts/problem.ts';
import { changeSchema, readCatalog, type SchemaOptions } from './catalog.ts';

/** Table and name of a trigger. */
export interface TriggerName {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
}

// The bits of tgtype are those of src/include/catalog/pg_trigger.h.
const triggersQuery = `
select n.nspname as schema, c.relname as table, t.tgname as name,
  case when t.tgtype & 64 > 0 then 'INSTEAD OF' when t.tgtype & 2 > 0 then 'BEFORE' else 'AFTER' end as timing,
  to_json(array_remove(array[case when t.tgtype & 4 > 0 then 'INSERT' end, case when t.tgtype & 16 > 0 then 'UPDATE' end,
    case when t.tgtype & 8 > 0 then 'DELETE' end, case when t.tgtype & 32 > 0 then 'TRUNCATE' end], null)) as events,
  case when t.tgtype & 1 > 0 then 'ROW' else 'STATEMENT' end as level,
  json_build_object('name', fn.nspname || '.' || f.proname,
    'id', case when fn.nspname = any($1) then f.oid::regprocedure::text end) as function,
  t.tgenabled in ('O', 'A') as "isEnabled", pg_get_triggerdef(t.oid) as definition
from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
join pg_proc f on f.oid = t.tgfoid join pg_namespace fn on fn.oid = f.pronamespace
where not t.tgisinternal and t.tgparentid = 0 and n.nspname = any($1)
order by 1, 2, 3`;

/** Lists the triggers of the tables in the served schemas. */
export function listTriggers({ database, settings }: SchemaOptions): Promise<DataTrigger[]> {
  return readCatalog(database, triggersQuery, [settings.schemas]);
}

/**
 * Enables or disables a trigger.
 *
 * @throws Problem `data.unknown_trigger` (404), `data.refused` (409)
 */
export async function changeTrigger(options: SchemaOptions, trigger: TriggerName, isEnabled: boolean): Promise<void> {
  await changeSchema(options.database, async (client) => {
    await readTrigger(client, options, trigger);
    await client.query(buildTriggerState(trigger, isEnabled ? 'enable' : 'disable'));
  });
}

/**
 * Drops a trigger and returns the statements that create it again.
 *
 * @throws Problem `data.unknown_trigger` (404), `data.refused` (409)
 */
export async function dropTrigger(options: SchemaOptions, trigger: TriggerName): Promise<string> {
  return changeSchema(options.database, async (client) => {
    const { definition, state } = await readTrigger(client, options, trigger);
    const { schema, table, name } = trigger;
    await client.query(`drop trigger ${quoteIdentifier(name)} on ${quoteQualified(schema, table)}`);
    const change = { D: 'disable', R: 'enable replica', A: 'enable always' }[state];
    return change === undefined ? definition : `${definition};\n${buildTriggerState(trigger, change)}`;
  });
}

function buildTriggerState({ schema, table, name }: TriggerName, change: string): string {
  return `alter table ${quoteQualified(schema, table)} ${change} trigger ${quoteIdentifier(name)}`;
}

async function readTrigger(
  client: pg.PoolClient,
  { settings }: SchemaOptions,
  { schema, table, name }: TriggerName,
): Promise<{ readonly definition: string; readonly state: string }> {
  const { rows } = await client.query<{ definition: string; state: string }>(
    `select pg_get_triggerdef(t.oid) as definition, t.tgenabled::text as state
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
      where not t.tgisinternal and n.nspname = $1 and n.nspname = any($4) and c.relname = $2 and t.tgname = $3`,
    [schema, table, name, settings.schemas],
  );
  if (rows[0] === undefined) throw new Problem('data.unknown_trigger', 404, m.triggerNotFound());
  return rows[0];
}
