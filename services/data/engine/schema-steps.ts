import type pg from 'pg';

/**
 * Change of the schema in PostgreSQL. Steps run once, in order, each in a transaction. Never edit a released step.
 */
export interface SchemaStep {
  /** Unique: `frame-001-roles`. */
  readonly name: string;
  readonly sql: string;
  /** Name of a step that includes this one. */
  readonly unless?: string | undefined;
}

const createStepsTable =
  'create table if not exists homeport.steps (name text primary key, taken_at timestamptz not null default now())';

/**
 * Query that reports whether the `homeport` schema belongs to a user without superuser rights while the current user is
 * a superuser.
 */
const foreignOwnerQuery = `
select n.nspowner <> current_user::regrole and not o.rolsuper as "isForeign"
from pg_namespace n join pg_roles o on o.oid = n.nspowner
where n.nspname = 'homeport' and exists (select from pg_roles where rolname = current_user and rolsuper)`;

/**
 * Rebuilds a steps table that a user without superuser rights created: a default, trigger or view in its place would
 * run with the rights of the superuser.
 */
async function rebuildStepsTable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isForeign: boolean }>(foreignOwnerQuery);
  if (rows[0]?.isForeign !== true) return;
  await client.query('begin');
  try {
    await client.query('alter schema homeport owner to current_user');
    const { rows: kinds } = await client.query<{ kind: string }>(
      `select relkind as kind from pg_class where oid = to_regclass('homeport.steps')`,
    );
    // Only an ordinary table is read: a view would run code of its owner.
    const isTable = kinds[0]?.kind === 'r';
    if (isTable) await client.query('lock table only homeport.steps in access exclusive mode');
    const names = isTable
      ? (await client.query<{ name: string }>('select name::text as name from only homeport.steps')).rows
      : [];
    if (kinds.length > 0) await client.query(`drop ${isTable ? 'table' : 'view'} homeport.steps`);
    await client.query(createStepsTable);
    for (const { name } of names) await client.query('insert into homeport.steps (name) values ($1)', [name]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Runs the steps that were not yet applied to this database. */
export async function applySteps(client: pg.ClientBase, steps: readonly SchemaStep[]): Promise<void> {
  const { rows: schemas } = await client.query(`select from pg_namespace where nspname = 'homeport'`);
  if (schemas.length === 0) await client.query('create schema homeport');
  else await rebuildStepsTable(client);
  await client.query(createStepsTable);
  const { rows } = await client.query<{ name: string }>('select name from homeport.steps');
  const applied = new Set(rows.map(({ name }) => name));
  for (const { name, sql, unless } of steps) {
    if (applied.has(name) || (unless !== undefined && applied.has(unless))) continue;
    await client.query('begin');
    try {
      await client.query(sql);
      await client.query('insert into homeport.steps (name) values ($1)', [name]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }
}
