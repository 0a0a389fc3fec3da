import type { Kysely } from 'kysely';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { timeOf } from '../wire/time.ts';
import { userOf } from '../wire/users.ts';
import { ok, route, type Answer, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, shown, type RestParts } from './api-dependencies.ts';

/** Who may be asked to do something in a repository, and what people like and watch. */
export function peopleRoutes(parts: RestParts & { readonly db: Kysely<Tables> }): readonly Route[] {
  const { db } = parts;
  return [
    getRoute('/repos/:owner/:repo/assignees', 'repository', (call) => listWriters(parts, call)),
    getRoute('/repos/:owner/:repo/reviewers', 'repository', (call) => listWriters(parts, call)),
    getRoute('/users/:user/starred', 'user', async (call) =>
      listReadable(
        parts,
        call,
        await db
          .selectFrom('stars')
          .select('repository_id as id')
          .where('account', '=', await getAccountName(parts, call))
          .execute(),
      ),
    ),
    getRoute('/users/:user/subscriptions', 'user', async (call) =>
      listReadable(
        parts,
        call,
        await db
          .selectFrom('repository_watches')
          .select('repository_id as id')
          .where('account', '=', await getAccountName(parts, call))
          .execute(),
      ),
    ),
    getRoute('/users/:user/keys', 'user', (call) => listUserKeys(parts, call)),
    route('GET', '/repositories/:id', 'repository', (call) => readRepositoryById(parts, call)),
  ];
}

/** Those who may write: its owner, an organisation's members, collaborators and administrators. */
async function listWriters(
  { collaborators, context, lookup, organizations, owners }: RestParts & { readonly db: Kysely<Tables> },
  call: Call,
) {
  const repository = await lookup.need(call.visitor, named(call), 'read');
  const given = (await collaborators.list(repository.id)).filter(({ permission }) => permission !== 'read');
  const owning =
    repository.ownerKind === 'account' ? [repository.owner] : await organizations.members(repository.ownerId);
  const names = new Set([...owning, ...given.map(({ account }) => account)]);
  const known = await Promise.all([...names].map((name) => context.accounts.find(name)));
  const there = [...names].filter((_name, at) => known[at] !== undefined);
  const rows = await Promise.all(there.map((name) => owners.ofAccount(name)));
  return ok(rows.map((row) => userOf(row, call.base)));
}

async function getAccountName({ owners }: RestParts & { readonly db: Kysely<Tables> }, call: Call): Promise<string> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw unknown();
  return row.name;
}

/** Those of these numbers that the caller may read. */
async function listReadable(
  parts: RestParts & { readonly db: Kysely<Tables> },
  call: Call,
  ids: readonly { readonly id: number }[],
) {
  const { access, repositories } = parts;
  const found = await Promise.all(ids.map(({ id }) => repositories.byId(id)));
  const seen: { readonly repository: Repository; readonly level: 'read' | 'write' | 'admin' }[] = [];
  for (const repository of found) {
    const level = repository === undefined ? 'none' : await access.level(call.visitor, repository);
    if (repository !== undefined && level !== 'none') seen.push({ repository, level });
  }
  const page = pageOf(call.query);
  const some = await Promise.all(
    partOf(seen, page).map(({ repository, level }) => shown(parts, call, repository, level)),
  );
  return ok(some, listHeaders(call, page, seen.length));
}

/** Like the peer's: who has an account here, and with which keys, is told to those who have one. */
function getRoute(path: string, scope: Route['scope'], handle: Route['handle']): Route {
  return {
    method: 'GET',
    path,
    scope,
    signedIn: true,
    handle,
  };
}

async function listUserKeys(parts: RestParts & { readonly db: Kysely<Tables> }, call: Call): Promise<Answer> {
  const { keys } = parts;
  const all = await keys.ofAccount(await getAccountName(parts, call));
  const page = pageOf(call.query);
  const some = partOf(all, page).map(({ id, title, text, fingerprint, created_at }) => ({
    id,
    key: text,
    title,
    fingerprint,
    url: `${call.base}/api/v1/user/keys/${id}`,
    created_at: timeOf(created_at),
    key_type: 'user',
  }));
  return ok(some, listHeaders(call, page, all.length));
}

async function readRepositoryById(parts: RestParts & { readonly db: Kysely<Tables> }, call: Call): Promise<Answer> {
  const { access, repositories } = parts;
  const repository = await repositories.byId(Number(call.params['id']) || 0);
  const level = repository === undefined ? 'none' : await access.level(call.visitor, repository);
  if (repository === undefined || level === 'none') throw unknown();
  return ok(await shown(parts, call, repository, level));
}
