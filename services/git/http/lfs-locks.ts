import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { normalizeTreePath } from '../domain/names.ts';
import type { Locks } from '../lfs/locks.ts';
import type { LockRow } from '../store/lfs.ts';
import { formatTime } from '../wire/time.ts';
import { lfsBody, type LfsCall } from './lfs-call.ts';
import { lfsSignIn, lockReply } from './lfs-reply.ts';

const maxLocks = 100;
const lockBody = z.object({ path: z.string().min(1).max(4096) });
const verifyBody = z.object({ cursor: z.string().optional(), limit: z.number().optional() });
const unlockBody = z.object({ force: z.boolean().optional() });

/** Answers `locks`, `locks/verify` and `locks/ID/unlock`. */
export async function answerLocks(locks: Locks, call: LfsCall, action: string): Promise<void> {
  const { request, response, url } = call;
  const id = /^locks\/(\d{1,15})\/unlock$/.exec(action)?.[1];
  if (action === 'locks' && request.method === 'GET') {
    const account = requireAccount(call, 'You must have pull access to list locks');
    const repository = await call.requireRepository('read', account.detail);
    const { searchParams: query } = url;
    const result = await page(locks, repository.id, query.get('cursor'), Number(query.get('limit') ?? ''), {
      path: query.get('path') ?? undefined,
      id: query.get('id') === null ? undefined : Number(query.get('id')) || 0,
    });
    return lockReply(response, 200, { locks: result.rows.map(lockJson), ...result.next });
  }
  if (action === 'locks' && request.method === 'POST') {
    const { name, detail } = requireAccount(call, 'You must have push access to create locks');
    const repository = await call.requireRepository('write', detail);
    const path = normalizeTreePath((await lfsBody(request, lockBody)).path);
    if (path === undefined || path === '') throw new Problem('git.bad_request', 422, 'Not a valid file path.');
    const { lock, created: isCreated } = await locks.lock(repository.id, path, name);
    if (isCreated) lockReply(response, 201, { lock: lockJson(lock) });
    else lockReply(response, 409, { message: 'already created lock', lock: lockJson(lock) });
    return;
  }
  if (action === 'locks/verify' && request.method === 'POST') {
    const { name, detail } = requireAccount(call, 'You must have push access to verify locks');
    const repository = await call.requireRepository('write', detail);
    const { cursor = null, limit = 0 } = await lfsBody(request, verifyBody);
    const { rows, next } = await page(locks, repository.id, cursor, limit, {});
    const split = Map.groupBy(rows, ({ account }) => account === name);
    const ours = (split.get(true) ?? []).map(lockJson);
    return lockReply(response, 200, { ours, theirs: (split.get(false) ?? []).map(lockJson), ...next });
  }
  if (id !== undefined && request.method === 'POST') {
    const { name, detail } = requireAccount(call, 'You must have push access to delete locks');
    const repository = await call.requireRepository('write', detail);
    const { force = false } = await lfsBody(request, unlockBody);
    const [lock] = await locks.list(repository.id, { id: Number(id), limit: 1 });
    if (lock === undefined) throw new Problem('git.unknown', 404, 'Lock not found.');
    if (lock.account !== name && !force)
      throw new Problem('git.forbidden', 403, `This lock belongs to ${lock.account}; use --force if they agree.`);
    await locks.unlock(lock);
    return lockReply(response, 200, { lock: lockJson(lock) });
  }
  throw new Problem('git.unknown', 404, 'Not Found');
}

/** Returns the account or deploy key that owns locks. @throws Problem (401) for a visitor */
function requireAccount({ caller }: LfsCall, detail: string): { readonly name: string; readonly detail: string } {
  const name = caller.identity?.account ?? caller.deployKey?.title;
  if (name === undefined) throw lfsSignIn(detail);
  return { name, detail };
}

async function page(
  locks: Locks,
  repository: number,
  cursor: string | null,
  input: number,
  filter: { readonly path?: string | undefined; readonly id?: number | undefined },
): Promise<{ readonly rows: readonly LockRow[]; readonly next: { readonly next_cursor?: string } }> {
  const limit = input > 0 ? Math.min(Math.floor(input), maxLocks) : maxLocks;
  const from = cursor === null || cursor === '' ? undefined : Number(cursor) || 0;
  const rows = await locks.list(repository, { ...filter, from, limit: limit + 1 });
  const next = rows[limit];
  return { rows: rows.slice(0, limit), next: next === undefined ? {} : { next_cursor: String(next.id) } };
}

function lockJson({ id, path, account, locked_at }: LockRow) {
  return { id: String(id), path, locked_at: formatTime(locked_at), owner: { name: account } };
}
