import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { addReaction, isReaction, removeReaction } from '../../issues/reactions.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import { formatTime } from '../../wire/time.ts';
import { getAccount, readJsonBody, ok, route, signedInRoute, type Answer, type Call, type Route } from '../call.ts';
import { listHeaders, parseId, parsePage, getPageItems } from '../paging.ts';
import type { Db } from '../../store/tables.ts';
import { readUsers } from '../../wire/read-users.ts';
import { getIssue, requireNotArchived, getIssueRepository } from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

const reactionBody = z.object({ content: z.string() });

/** Builds the routes of reactions and of subscriptions to issues. */
export function reactionRoutes(deps: Dependencies): readonly Route[] {
  const { context } = deps;
  return [
    ...['/repos/:owner/:repo/issues/comments/:id/reactions', '/repos/:owner/:repo/issues/:index/reactions'].flatMap(
      (path): Route[] => [
        route('GET', path, 'issue', (call) => listReactions(deps, call)),
        signedInRoute('POST', path, 'issue', (call) => changeReaction(deps, call)),
        signedInRoute('DELETE', path, 'issue', (call) => changeReaction(deps, call)),
      ],
    ),
    route('GET', '/repos/:owner/:repo/issues/:index/subscriptions', 'issue', (call) => listSubscribers(deps, call)),
    signedInRoute('GET', '/repos/:owner/:repo/issues/:index/subscriptions/check', 'issue', async (call) =>
      ok(await readSubscription(deps, call, getAccount(call))),
    ),
    ...(['PUT', 'DELETE'] as const).map((method): Route =>
      signedInRoute(method, '/repos/:owner/:repo/issues/:index/subscriptions/:user', 'issue', async (call) => {
        const account = getAccount(call);
        // An account changes only its own subscription.
        if ((call.params['user'] ?? '').toLowerCase() !== account.toLowerCase())
          throw new Problem('git.forbidden', 403, 'You can only change your own subscription.');
        const { issue } = await getIssue(deps, call);
        const wasSubscribed = (await readSubscription(deps, call, account)).subscribed;
        const watching = Number(method === 'PUT');
        await context.commit((transaction: Db) =>
          transaction
            .insertInto('issue_watches')
            .values({ issue_id: issue.id, account, watching })
            .onConflict((conflict) => conflict.columns(['issue_id', 'account']).doUpdateSet({ watching }))
            .execute(),
        );
        return wasSubscribed === (watching === 1) ? { status: 200 } : { status: 201 };
      }),
    ),
  ];
}

/** Returns the issue (entry 0) or comment of a call. */
async function getSubject(
  deps: Dependencies,
  call: Call,
): Promise<{ repository: Repository; issue: number; entry: number }> {
  const { db } = deps.storage;
  if (call.params['index'] !== undefined) {
    const { issue, repository } = await getIssue(deps, call);
    return { repository, issue: issue.id, entry: 0 };
  }
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const entry = await db
    .selectFrom('issue_entries')
    .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
    .select(['issue_entries.id', 'issue_entries.issue_id'])
    .where('issue_entries.id', '=', parseId(call.params['id']))
    .where('issues.repository_id', '=', repository.id)
    .executeTakeFirst();
  if (entry === undefined) throw buildNotFoundProblem();
  return { repository, issue: entry.issue_id, entry: entry.id };
}

async function listReactions(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { issue, entry } = await getSubject(deps, call);
  const all = await db
    .selectFrom('issue_reactions')
    .selectAll()
    .where('issue_id', '=', issue)
    .where('entry_id', '=', entry)
    .orderBy('created_at')
    .execute();
  const page = parsePage(call.query);
  const toUser = await readUsers(
    deps,
    call,
    all.map(({ account }) => account),
  );
  return ok(
    getPageItems(all, page).map(({ account, content, created_at }) => ({
      user: toUser(account),
      content,
      created_at: formatTime(created_at),
    })),
    listHeaders(call, page, all.length),
  );
}

async function changeReaction(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { repository, issue, entry } = await getSubject(deps, call);
  requireNotArchived(repository);
  const { content } = await readJsonBody(call, reactionBody);
  if (!isReaction(content)) throw new Problem('git.invalid', 403, `'${content}' is not an allowed reaction`);
  const account = getAccount(call);
  const subject = { issue, entry };
  if (call.method === 'DELETE') {
    await context.commit((transaction: Db) => removeReaction(transaction, subject, { account, content }));
    return { status: 200 };
  }
  const now = context.clock.now();
  const isNew = await context.commit((transaction: Db) => addReaction(transaction, subject, { account, content, now }));
  const toUser = await readUsers(deps, call, [account]);
  // Like Gitea, 200 for a reaction that exists already.
  return { status: isNew ? 201 : 200, json: { user: toUser(account), content, created_at: formatTime(now) } };
}

async function readSubscription(deps: Dependencies, call: Call, account: string) {
  const { db } = deps.storage;
  const { issue, repository } = await getIssue(deps, call);
  const row = await db
    .selectFrom('issue_watches')
    .select('watching')
    .where('issue_id', '=', issue.id)
    .where('account', '=', account)
    .executeTakeFirst();
  const subscribed =
    row === undefined
      ? issue.author === account || issue.assignees.includes(account) || repository.owner === account
      : row.watching === 1;
  const url = `${call.base}/api/v1/repos/${repository.owner}/${repository.name}/issues/${issue.number}`;
  return {
    subscribed,
    ignored: !subscribed,
    reason: null,
    created_at: formatTime(issue.created_at),
    url: `${url}/subscriptions`,
    repository_url: url.replace(/\/issues\/\d+$/, ''),
  };
}

async function listSubscribers(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { issue, repository } = await getIssue(deps, call);
  const rows = await db.selectFrom('issue_watches').selectAll().where('issue_id', '=', issue.id).execute();
  const owner = repository.ownerKind === 'account' ? [repository.owner] : [];
  const all = new Set([issue.author, ...issue.assignees, ...owner]);
  for (const { account, watching } of rows) {
    if (watching === 1) all.add(account);
    else all.delete(account);
  }
  const page = parsePage(call.query);
  const names = [...all].toSorted();
  const toUser = await readUsers(deps, call, names);
  return ok(getPageItems(names, page).map(toUser), listHeaders(call, page, names.length));
}
