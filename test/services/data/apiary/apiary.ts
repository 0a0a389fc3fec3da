import { PostgrestClient } from '@supabase/postgrest-js';
import { expect } from 'vitest';
import { openDataFixture, type DataFixture } from '../data-fixture.ts';
import { rows, schema } from './schema.ts';

/** Host with the test tables, and postgrest-js as a client. */
export interface Apiary extends AsyncDisposable {
  readonly room: DataFixture;
  readonly db: PostgrestClient<any, { PostgrestVersion: '13' }>;
}

/** Aggregates and plans are enabled, and `cellar` is exposed in addition to `public`. */
export async function openApiary(): Promise<Apiary> {
  const fixture = await openDataFixture({ settings: { schemas: ['public', 'cellar'], aggregates: true, plans: true } });
  await fixture.sql(schema);
  await fixture.sql(rows);
  const db = new PostgrestClient<any, { PostgrestVersion: '13' }>(`${fixture.url}/rest/v1`, {
    headers: { apikey: fixture.anonKey },
  });
  return { room: fixture, db, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

/** Returns the data of a response that must succeed. */
export async function getData(query: PromiseLike<{ data: unknown; error: unknown }>): Promise<unknown> {
  const { data, error } = await query;
  expect(error).toBeNull();
  return data;
}

/** Returns the status and body of a refused request. */
export async function getError(query: PromiseLike<{ status: number; error: unknown }>): Promise<unknown> {
  const { status, error } = await query;
  const { code, message, details, hint } = error as Record<string, unknown>;
  return { status, code, message, details, hint };
}
