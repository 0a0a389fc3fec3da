import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AlsoStore } from './write-messages.ts';

/** Tells the upstream server that there is a message. An iPhone that sleeps is no use to wake for hours-old ones. */
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
 * Polls for iPhones: their app gets its notifications through the upstream server alone, which learns a hash of the
 * topic's address and the message's id, and then reads the message here.
 */
export function upstreamPolls(
  { jobs, fetch }: Pick<Context, 'jobs' | 'fetch'>,
  settings: UpstreamSettings,
): { readonly store: AlsoStore; start(): Disposable } {
  return {
    async store(transaction, recorded) {
      if (settings.upstreamBaseUrl === '' || settings.baseUrl === '') return;
      // What is not in the cache cannot be read here later.
      const wanted = recorded
        .map(({ message }) => message)
        .filter(({ event, expires }) => event === 'message' && expires !== undefined);
      if (wanted.length === 0) return;
      await jobs.enqueueAll(
        transaction,
        pollUpstream,
        wanted.map(({ id, topic }) => ({ payload: { id, topic }, key: id })),
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
          throw new Problem('push.upstream_refused', status, `the upstream server answered ${String(status)}`);
        }
      });
    },
  };
}
