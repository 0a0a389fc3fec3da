import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import { countLog, ignoreTooLarge, readChanges, readCommit, readLog, type Commit } from '../repositories/commits.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import type { PushConsequence } from '../transfer/pushes.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import { hookCommit } from '../wire/hooks.ts';
import type { PayloadBuilder } from './payload-builder.ts';
import type { Hooks } from './hooks.ts';

const branchPrefix = 'refs/heads/';
const tagPrefix = 'refs/tags/';
const maxCommits = 5;

const pushHookJob = defineJob(
  'git.tell-hooks',
  z.object({
    repository: z.int(),
    account: z.string(),
    changes: z.array(z.object({ ref: z.string(), before: z.string(), after: z.string() })),
  }),
  { deleteWhenDone: true },
);

export interface PushEventDependencies {
  readonly context: Pick<Context, 'commit' | 'jobs'>;
  readonly git: Git;
  readonly hooks: Hooks;
  readonly payloads: PayloadBuilder;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
}

/**
 * Sends pushes to hooks. They are enqueued in the transaction of the push and built later, because a push does not wait
 * for hooks.
 */
export function createPushHookEvents(deps: PushEventDependencies): {
  readonly consequence: PushConsequence;
  readonly handle: () => Disposable;
} {
  const { context, hooks } = deps;
  return {
    async consequence(transaction, { account, changes, id, repository }) {
      const relevant = changes.filter(({ ref }) => ref.startsWith(branchPrefix) || ref.startsWith(tagPrefix));
      if (relevant.length === 0 || !(await hooks.hasHooks(transaction, repository))) return;
      const payload = { repository: repository.id, account, changes: [...relevant] };
      await context.jobs.enqueue(transaction, pushHookJob, payload, { key: id, orderKey: String(repository.id) });
    },
    handle: () =>
      context.jobs.handle(pushHookJob, async ({ key = '', payload: { account, changes, repository: id } }) => {
        const repository = await deps.find(id);
        if (repository === undefined) return;
        for (const change of changes) await emitEvents(deps, repository, account, change, `${key}:${change.ref}`);
      }),
  };
}

async function emitEvents(
  deps: PushEventDependencies,
  repository: Repository,
  account: string,
  change: RefChange,
  key: string,
): Promise<void> {
  const { context, payloads, hooks } = deps;
  const { ref, before, after } = change;
  const isBranch = ref.startsWith(branchPrefix);
  const name = ref.slice(isBranch ? branchPrefix.length : tagPrefix.length);
  const kind = isBranch ? 'branch' : 'tag';
  const common = await payloads.buildCommonFields(repository, account);
  const branch = isBranch ? { branch: name } : {};
  if (after === zeroId) {
    const payload = { ref: name, ref_type: kind, pusher_type: 'user', ...common };
    await context.commit((transaction: Kysely<Tables>) =>
      hooks.emit(transaction, { name: 'delete', ...branch }, repository, payload, `${key}:delete`),
    );
    return;
  }
  const pushBody = await buildPushPayload(deps, repository, account, change);
  await context.commit(async (transaction: Kysely<Tables>) => {
    if (before === zeroId) {
      const payload = { sha: after, ref: name, ref_type: kind, ...common };
      await hooks.emit(transaction, { name: 'create', ...branch }, repository, payload, `${key}:create`);
    }
    // No payload can be built if the commits were deleted in the meantime.
    if (pushBody !== undefined)
      await hooks.emit(transaction, { name: 'push', ...branch }, repository, pushBody, `${key}:push`);
  });
}

/** Builds the payload of a push, or returns undefined if its commits no longer exist. */
export async function buildPushPayload(
  { payloads, git, folder }: Pick<PushEventDependencies, 'payloads' | 'git' | 'folder'>,
  repository: Repository,
  account: string,
  { ref, before, after }: RefChange,
): Promise<object | undefined> {
  const path = folder(repository);
  const head = await readCommit(git, path, `${after}^{commit}`);
  if (head === undefined) return undefined;
  const common = await payloads.buildCommonFields(repository, account);
  const isBranch = ref.startsWith(branchPrefix);
  const previous = before === zeroId ? undefined : await readCommit(git, path, before);
  const others = previous === undefined ? await listOtherHeads(git, path, ref) : [];
  const query = { from: [head.id], exclude: previous === undefined ? others : [previous.id] };
  const commits = isBranch ? await readLog(git, path, { ...query, limit: maxCommits }) : [];
  const total = isBranch ? await countLog(git, path, query) : 0;
  const ids = [...new Set([head.id, ...commits.map(({ id }) => id)])];
  const changes = await readChanges(git, path, ids).catch(ignoreTooLarge);
  const accounts = await payloads.findAccountsByEmail([head, ...commits]);
  const toCommitBody = (commit: Commit) =>
    hookCommit(
      commit,
      changes?.get(commit.id) ?? [],
      payloads.getAddress(repository),
      (email) => accounts.get(email) ?? '',
    );
  const { base, full } = payloads.getAddress(repository);
  return {
    ref,
    before,
    after,
    compare_url: before === zeroId && isBranch ? `${base}/` : `${base}/${full}/compare/${before}...${after}`,
    commits: commits.map(toCommitBody),
    total_commits: total,
    head_commit: toCommitBody(head),
    repository: common.repository,
    pusher: common.sender,
    sender: common.sender,
  };
}

/** Lists the heads of the other branches, so that only commits without another branch count as new. */
async function listOtherHeads(git: Git, folder: string, ref: string): Promise<readonly string[]> {
  const all = await readReferences(git, folder, branchPrefix);
  return [...new Set(all.filter((each) => each.ref !== ref).map(({ commit }) => commit))].slice(0, 200);
}
