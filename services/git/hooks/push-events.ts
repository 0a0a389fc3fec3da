import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import { countLog, noneOfTooMany, readChanges, readCommit, readLog, type Commit } from '../repositories/commits.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import type { PushConsequence } from '../transfer/pushes.ts';
import { noObject, type RefChange } from '../transfer/push-request.ts';
import { hookCommit } from '../wire/hooks.ts';
import type { Framing } from './payload-builder.ts';
import type { Hooks } from './hooks.ts';

const heads = 'refs/heads/';
const tags = 'refs/tags/';
const mostCommits = 5;

const tellHooks = defineJob(
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
  readonly framing: Framing;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
}

/**
 * Sends pushes to hooks. They are enqueued in the transaction of the push and built later, because a push does not wait
 * for hooks.
 */
export function pushEvents(deps: PushEventDependencies): {
  readonly consequence: PushConsequence;
  readonly handle: () => Disposable;
} {
  const { context, hooks } = deps;
  return {
    async consequence(transaction, { account, changes, id, repository }) {
      const told = changes.filter(({ ref }) => ref.startsWith(heads) || ref.startsWith(tags));
      if (told.length === 0 || !(await hooks.listens(transaction, repository))) return;
      const payload = { repository: repository.id, account, changes: [...told] };
      await context.jobs.enqueue(transaction, tellHooks, payload, { key: id, orderKey: String(repository.id) });
    },
    handle: () =>
      context.jobs.handle(tellHooks, async ({ key = '', payload: { account, changes, repository: id } }) => {
        const repository = await deps.find(id);
        if (repository === undefined) return;
        for (const change of changes) await tell(deps, repository, account, change, `${key}:${change.ref}`);
      }),
  };
}

async function tell(
  deps: PushEventDependencies,
  repository: Repository,
  account: string,
  change: RefChange,
  key: string,
): Promise<void> {
  const { context, framing, hooks } = deps;
  const { ref, before, after } = change;
  const isBranch = ref.startsWith(heads);
  const name = ref.slice(isBranch ? heads.length : tags.length);
  const kind = isBranch ? 'branch' : 'tag';
  const frame = await framing.frame(repository, account);
  const branch = isBranch ? { branch: name } : {};
  if (after === noObject) {
    const payload = { ref: name, ref_type: kind, pusher_type: 'user', ...frame };
    await context.commit((transaction: Kysely<Tables>) =>
      hooks.emit(transaction, { name: 'delete', ...branch }, repository, payload, `${key}:delete`),
    );
    return;
  }
  const pushed = await pushPayload(deps, repository, account, change);
  await context.commit(async (transaction: Kysely<Tables>) => {
    if (before === noObject) {
      const payload = { sha: after, ref: name, ref_type: kind, ...frame };
      await hooks.emit(transaction, { name: 'create', ...branch }, repository, payload, `${key}:create`);
    }
    // A push whose commits were deleted in the meantime has no payload.
    if (pushed !== undefined)
      await hooks.emit(transaction, { name: 'push', ...branch }, repository, pushed, `${key}:push`);
  });
}

/** Builds the payload of a push, or returns undefined if its commits no longer exist. */
export async function pushPayload(
  { framing, git, folder }: Pick<PushEventDependencies, 'framing' | 'git' | 'folder'>,
  repository: Repository,
  account: string,
  { ref, before, after }: RefChange,
): Promise<object | undefined> {
  const path = folder(repository);
  const head = await readCommit(git, path, `${after}^{commit}`);
  if (head === undefined) return undefined;
  const frame = await framing.frame(repository, account);
  const isBranch = ref.startsWith(heads);
  const known = before === noObject ? undefined : await readCommit(git, path, before);
  const others = known === undefined ? await otherBranches(git, path, ref) : [];
  const query = { from: [head.id], not: known === undefined ? others : [known.id] };
  const commits = isBranch ? await readLog(git, path, { ...query, limit: mostCommits }) : [];
  const total = isBranch ? await countLog(git, path, query) : 0;
  const ids = [...new Set([head.id, ...commits.map(({ id }) => id)])];
  const changes = await readChanges(git, path, ids).catch(noneOfTooMany);
  const accounts = await framing.accountsOfEmails([head, ...commits]);
  const shown = (commit: Commit) =>
    hookCommit(commit, changes?.get(commit.id) ?? [], framing.place(repository), (email) => accounts.get(email) ?? '');
  const { base, full } = framing.place(repository);
  return {
    ref,
    before,
    after,
    compare_url: before === noObject && isBranch ? `${base}/` : `${base}/${full}/compare/${before}...${after}`,
    commits: commits.map(shown),
    total_commits: total,
    head_commit: shown(head),
    repository: frame.repository,
    pusher: frame.sender,
    sender: frame.sender,
  };
}

/** Lists the heads of the other branches, so that only commits without another branch count as new. */
async function otherBranches(git: Git, folder: string, ref: string): Promise<readonly string[]> {
  const all = await readReferences(git, folder, heads);
  return [...new Set(all.filter((each) => each.ref !== ref).map(({ commit }) => commit))].slice(0, 200);
}
