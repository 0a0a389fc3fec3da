import * as m from '#messages/git-texts';
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
import { zeroId, type RefChange } from './domain/ref-change.ts';

const branchPrefix = 'refs/heads/';
const maxCommits = 5;

/** Publishes a notification about a push to a selected branch. */
const notifyJob = defineJob(
  'git.tell',
  z.object({
    repository: z.int(),
    account: z.string(),
    change: z.object({ ref: z.string(), before: z.string(), after: z.string() }),
  }),
);

export interface PushNotificationDependencies {
  readonly context: Pick<Context, 'appPages' | 'handovers' | 'inHostLanguage' | 'jobs' | 'log'>;
  /** Returns the selected branches. The setting is live. */
  readonly branches: () => readonly string[];
  readonly git: Git;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
}

/** Publishes notifications about pushes. They are enqueued in the transaction of the push and built later. */
export function createPushNotifications(deps: PushNotificationDependencies): {
  readonly consequence: PushConsequence;
  readonly handle: () => Disposable;
} {
  const { branches, context, find, folder, git } = deps;
  return {
    async consequence(transaction, { account, changes, id, repository }) {
      const selectedRefs = new Set(branches().map((name) => branchPrefix + name));
      for (const change of changes) {
        if (!selectedRefs.has(change.ref) || change.after === zeroId) continue;
        const payload = { repository: repository.id, account, change };
        await context.jobs.enqueue(transaction, notifyJob, payload, { key: `${id}:${change.ref}` });
      }
    },
    handle: () =>
      context.jobs.handle(notifyJob, async ({ key = '', payload: { account, change, repository: id } }) => {
        const repository = await find(id);
        // The repository was removed in the meantime.
        if (repository === undefined) return;
        const notification = await context.inHostLanguage(() =>
          buildNotification(git, folder(repository), repository, account, change),
        );
        const page = context.appPages.forMessages();
        const link = page === undefined ? {} : { link: page + getCommitPage(repository, change.after) };
        const offer = NotificationOffer.parse({
          notice: { ...notification, ...link, tags: ['deployment'], source: 'git' },
        });
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

async function buildNotification(
  git: Git,
  folder: string,
  { owner, name }: Repository,
  account: string,
  { ref, before, after }: RefChange,
) {
  const query = { from: [after], exclude: before === zeroId ? [] : [before] };
  const [commits, count] = await Promise.all([
    readLog(git, folder, { ...query, limit: maxCommits }),
    countLog(git, folder, query),
  ]);
  const lines = commits.map(({ id, message }) => `${id.slice(0, 7)} ${message.split('\n', 1)[0] ?? ''}`);
  const overflow = count > commits.length ? [m.moreCommits({ count: count - commits.length })] : [];
  const summary = m.pushedCommits({ account, count });
  return {
    title: `${owner}/${name}: ${ref.slice(branchPrefix.length)}`,
    body: [summary, ...lines, ...overflow].join('\n'),
  };
}

/** Returns the page of a commit in the app. */
function getCommitPage({ owner, name }: Repository, commit: string): string {
  const path = [owner, name, 'commit', commit].map(encodeURIComponent).join('/');
  return findAppPage(`/${path}`, new URLSearchParams()) ?? '/git';
}
