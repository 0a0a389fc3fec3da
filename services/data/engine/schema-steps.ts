import type pg from 'pg';

/** A step of a schema in PostgreSQL. Steps run once, in order, each in a transaction; never edit one that was released. */
export interface SchemaStep {
  /** Unique: `frame-001-roles`. */
  readonly name: string;
  readonly sql: string;
  /** The name of a step that has done all of this one. */
  readonly unless?: string | undefined;
}

const stepsTable =
  'create table if not exists homeport.steps (name text primary key, taken_at timestamptz not null default now())';

/** The schema of the steps and what in it belongs to somebody who is not a superuser, while the current user is one. */
const foreignOwner = `
select n.nspowner <> current_user::regrole and not o.rolsuper as "isForeign"
from pg_namespace n join pg_roles o on o.oid = n.nspowner
where n.nspname = 'homeport' and exists (select from pg_roles where rolname = current_user and rolsuper)`;

/**
 * Rebuilds the table of steps that a user without a superuser's rights has made: a default, a trigger or a view in its
 * place would run with the rights of the superuser who uses it.
 */
async function takeOver(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isForeign: boolean }>(foreignOwner);
  if (rows[0]?.isForeign !== true) return;
  await client.query('begin');
  try {
    await client.query('alter schema homeport owner to current_user');
    const { rows: kinds } = await client.query<{ kind: string }>(
      `select relkind as kind from pg_class where oid = to_regclass('homeport.steps')`,
    );
    // Only a plain table is read: a view would call what its owner wrote.
    const isTable = kinds[0]?.kind === 'r';
    if (isTable) await client.query('lock table only homeport.steps in access exclusive mode');
    const names = isTable
      ? (await client.query<{ name: string }>('select name::text as name from only homeport.steps')).rows
      : [];
    if (kinds.length > 0) await client.query(`drop ${isTable ? 'table' : 'view'} homeport.steps`);
    await client.query(stepsTable);
    for (const { name } of names) await client.query('insert into homeport.steps (name) values ($1)', [name]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Runs the steps that this database has not seen. */
export async function takeSteps(client: pg.ClientBase, steps: readonly SchemaStep[]): Promise<void> {
  const { rows: schemas } = await client.query(`select from pg_namespace where nspname = 'homeport'`);
  if (schemas.length === 0) await client.query('create schema homeport');
  else await takeOver(client);
  await client.query(stepsTable);
  const { rows } = await client.query<{ name: string }>('select name from homeport.steps');
  const taken = new Set(rows.map(({ name }) => name));
  for (const { name, sql, unless } of steps) {
    if (taken.has(name) || (unless !== undefined && taken.has(unless))) continue;
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
