import * as m from '#messages/push-problems';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { WriteHook } from '../messages/write-messages.ts';

/** Notifies the upstream server of a message. Given up after an hour, because old notifications are of no use. */
const pollUpstream = defineJob('push.upstream', z.object({ id: z.string(), topic: z.string() }), {
  concurrency: 8,
  timeoutMs: 15_000,
  maxAgeMs: 3_600_000,
});

export interface UpstreamSettings {
  readonly baseUrl: string;
  readonly upstreamBaseUrl: string;
  readonly upstreamAccessToken: string;
}

/**
 * Poll requests for iPhones: the iOS app receives notifications only through the upstream server, which gets a hash of
 * the topic's address and the message id; the app then reads the message here.
 */
export function createUpstreamPolls(
  { jobs, fetch }: Pick<Context, 'jobs' | 'fetch'>,
  settings: UpstreamSettings,
): { readonly store: WriteHook; start(): Disposable } {
  return {
    async store(transaction, recorded) {
      if (settings.upstreamBaseUrl === '' || settings.baseUrl === '') return;
      // Messages that are not cached could not be read later.
      const cached = recorded
        .map(({ message }) => message)
        .filter(({ event, expires }) => event === 'message' && expires !== undefined);
      if (cached.length === 0) return;
      await jobs.enqueueAll(
        transaction,
        pollUpstream,
        cached.map(({ id, topic }) => ({ payload: { id, topic }, key: id })),
      );
    },
    start() {
      return jobs.handle(pollUpstream, async ({ payload: { id, topic } }) => {
        const { baseUrl, upstreamBaseUrl, upstreamAccessToken } = settings;
        const hash = createHash('sha256').update(`${baseUrl}/${topic}`).digest('hex');
        const authorization = upstreamAccessToken === '' ? {} : { Authorization: `Bearer ${upstreamAccessToken}` };
        const { status } = await fetch(`${upstreamBaseUrl}/${hash}`, {
          method: 'POST',
          headers: { 'X-Poll-ID': id, ...authorization },
          trust: 'owner',
        });
        if (status < 200 || status >= 300) {
          throw new Problem('push.upstream_refused', status, () => m.upstreamRefused({ status: String(status) }));
        }
      });
    },
  };
}
