import { PostgrestClient } from '@supabase/postgrest-js';
import { expect } from 'vitest';
import { openDataRoom, type DataRoom } from '../room.ts';
import { rows, schema } from './schema.ts';

/** A host with the beekeepers' tables, and the real client of the row route as anybody has it. */
export interface Apiary extends AsyncDisposable {
  readonly room: DataRoom;
  readonly db: PostgrestClient<any, { PostgrestVersion: '13' }>;
}

/** Every role may ask for sums and plans here, and `cellar` is exposed besides `public`. */
export async function openApiary(): Promise<Apiary> {
  const room = await openDataRoom({ settings: { schemas: ['public', 'cellar'], aggregates: true, plans: true } });
  await room.sql(schema);
  await room.sql(rows);
  const db = new PostgrestClient<any, { PostgrestVersion: '13' }>(`${room.url}/rest/v1`, {
    headers: { apikey: room.anonKey },
  });
  return { room, db, [Symbol.asyncDispose]: () => room[Symbol.asyncDispose]() };
}

/** What the client was answered where it must not fail. */
export async function dataOf(query: PromiseLike<{ data: unknown; error: unknown }>): Promise<unknown> {
  const { data, error } = await query;
  expect(error).toBeNull();
  return data;
}

/** Status and body of a refusal, as the client tells them. */
export async function refusalOf(query: PromiseLike<{ status: number; error: unknown }>): Promise<unknown> {
  const { status, error } = await query;
  const { code, message, details, hint } = error as Record<string, unknown>;
  return { status, code, message, details, hint };
}
