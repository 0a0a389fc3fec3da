import { z } from 'zod';
import { findAppPage } from '../contracts/git/web-addresses.ts';
import { defineJob } from '../contracts/jobs.ts';
import { NotificationOffer, notificationOffered } from '../contracts/notify/notification.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { countLog, readLog } from './repositories/commits.ts';
import type { Repository } from './repositories/repositories.ts';
import type { Git } from './engine/git.ts';
import type { PushConsequence } from './transfer/pushes.ts';
import { noObject, type RefChange } from './transfer/push-request.ts';

const heads = 'refs/heads/';
const mostCommits = 5;

/** Publishes a notification about a push to a selected branch. */
const tell = defineJob(
  'git.tell',
  z.object({
    repository: z.int(),
    account: z.string(),
    change: z.object({ ref: z.string(), before: z.string(), after: z.string() }),
  }),
);

export interface PushNotificationDependencies {
  readonly context: Pick<Context, 'appPages' | 'handovers' | 'jobs' | 'log'>;
  /** Returns the selected branches. The setting is live. */
  readonly branches: () => readonly string[];
  readonly git: Git;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
}

/** Publishes notifications about pushes. They are enqueued in the transaction of the push and built later. */
export function pushNotices(deps: PushNotificationDependencies): {
  readonly consequence: PushConsequence;
  readonly handle: () => Disposable;
} {
  const { branches, context, find, folder, git } = deps;
  return {
    async consequence(transaction, { account, changes, id, repository }) {
      const notified = new Set(branches().map((name) => heads + name));
      for (const change of changes) {
        if (!notified.has(change.ref) || change.after === noObject) continue;
        const payload = { repository: repository.id, account, change };
        await context.jobs.enqueue(transaction, tell, payload, { key: `${id}:${change.ref}` });
      }
    },
    handle: () =>
      context.jobs.handle(tell, async ({ key = '', payload: { account, change, repository: id } }) => {
        const repository = await find(id);
        // The repository was removed in the meantime.
        if (repository === undefined) return;
        const notice = await noticeOf(git, folder(repository), repository, account, change);
        const page = context.appPages.forMessages();
        const link = page === undefined ? {} : { link: page + pageOfCommit(repository, change.after) };
        const offer = NotificationOffer.parse({ notice: { ...notice, ...link, tags: ['deployment'], source: 'git' } });
        try {
          await context.handovers.pass(notificationOffered, `git:${key}`, offer);
        } catch (error) {
          // Notifications are disabled: drop this one instead of retrying it later.
          if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
          context.log.debug('notification dropped: notifications are disabled', { key });
        }
      }),
  };
}

async function noticeOf(
  git: Git,
  folder: string,
  { owner, name }: Repository,
  account: string,
  { ref, before, after }: RefChange,
) {
  const query = { from: [after], not: before === noObject ? [] : [before] };
  const [commits, count] = await Promise.all([
    readLog(git, folder, { ...query, limit: mostCommits }),
    countLog(git, folder, query),
  ]);
  const lines = commits.map(({ id, message }) => `${id.slice(0, 7)} ${message.split('\n', 1)[0] ?? ''}`);
  const more = count > commits.length ? [`and ${count - commits.length} more`] : [];
  const head = `${account} pushed ${count === 1 ? '1 commit' : `${count} commits`}`;
  return { title: `${owner}/${name}: ${ref.slice(heads.length)}`, body: [head, ...lines, ...more].join('\n') };
}

/** Returns the page of a commit in the app. */
function pageOfCommit({ owner, name }: Repository, commit: string): string {
  const path = [owner, name, 'commit', commit].map(encodeURIComponent).join('/');
  return findAppPage(`/${path}`, new URLSearchParams()) ?? '/git';
}
