import type pg from 'pg';

/** A step of a schema in PostgreSQL. Steps run once, in order, each in a transaction; never edit one that was released. */
export interface SchemaStep {
  /** Unique: `frame-001-roles`. */
  readonly name: string;
  readonly sql: string;
  /** The name of a step that has done all of this one. */
  readonly unless?: string | undefined;
}

/** Runs the steps that this database has not seen. */
export async function takeSteps(client: pg.ClientBase, steps: readonly SchemaStep[]): Promise<void> {
  const { rows: schemas } = await client.query(`select from pg_namespace where nspname = 'homeport'`);
  if (schemas.length === 0) await client.query('create schema homeport');
  await client.query(
    'create table if not exists homeport.steps (name text primary key, taken_at timestamptz not null default now())',
  );
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
