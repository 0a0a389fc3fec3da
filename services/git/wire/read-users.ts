import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Owners } from '../repositories/owners.ts';
import type { Caller } from '../sign-in/caller.ts';
import type { Tables } from '../store/tables.ts';
import type { ToUserJson } from './issues.ts';
import { toUserJson } from './users.ts';

interface UserDependencies {
  readonly context: Pick<Context, 'accounts'>;
  readonly storage: { readonly db: Kysely<Tables>; readonly owners: Pick<Owners, 'getForAccount'> };
}

/** Reads the accounts of a response in one query and returns a function that converts them to JSON. */
export async function readUsers(
  { context, storage: { db, owners } }: UserDependencies,
  { base, caller }: { readonly base: string; readonly caller: Pick<Caller, 'identity'> },
  names: Iterable<string>,
): Promise<ToUserJson> {
  const requested = [...new Set(names)];
  const rows =
    requested.length === 0 ? [] : await db.selectFrom('owners').selectAll().where('name', 'in', requested).execute();
  const existing = new Map(rows.map((row) => [row.name, row]));
  for (const name of requested) {
    // An account gets its row at first use, and keeps it after the account is deleted.
    if (!existing.has(name) && (await context.accounts.find(name)) !== undefined) {
      existing.set(name, await owners.getForAccount(name));
    }
  }
  const { identity } = caller;
  return (name) => {
    const row = existing.get(name);
    if (row === undefined) return ghost(base);
    const self = identity?.account === name;
    return toUserJson(row, base, self ? { self, admin: identity.role === 'admin' } : {});
  };
}

function ghost(base: string): unknown {
  const row = {
    id: -1,
    name: 'Ghost',
    lower_name: 'ghost',
    kind: 'account' as const,
    visibility: 'public' as const,
    full_name: '',
    description: '',
    created_at: 0,
    profile: '{}',
    email: '',
  };
  return toUserJson(row, base);
}
