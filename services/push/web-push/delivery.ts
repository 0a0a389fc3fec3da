import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineJob, type JobAttempt } from '../../contracts/jobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { trustedEndpoint } from '../domain/push-endpoints.ts';
import type { Browser, WebPushStore } from '../store/web-push.ts';
import type { KeyPair } from './vapid.ts';

const hour = 60 * 60 * 1000;

const Delivery = z.object({
  browser: z.string(),
  /** Plain text for the browser; encrypted when it is sent. */
  payload: z.string(),
  /** Undefined for what is about the subscription itself. */
  topic: z.string().optional(),
  urgency: z.enum(['very-low', 'low', 'normal', 'high']),
  /** What a later one replaces as long as the browser has not fetched it. */
  replaces: z.string().optional(),
  /** Set for what waits while it is quiet: how it is known then. */
  waits: z.object({ sequence: z.string(), key: z.string() }).optional(),
});
export type Delivery = z.infer<typeof Delivery>;

/** One message on its way to one browser. */
export const toBrowser = defineJob('push.web-push', Delivery, { concurrency: 8, maxAgeMs: 12 * hour });

export interface DeliveryParts {
  readonly context: Pick<Context, 'fetch' | 'accounts' | 'log'>;
  readonly store: WebPushStore;
  readonly keys: () => KeyPair;
  /** `mailto:` or `https:` address under which a push service finds the owner. */
  readonly contact: () => string;
  readonly allowed: readonly string[];
  /** Seconds that a push service may keep a message for a browser that is away. */
  readonly keptSeconds: () => number;
  readonly sent: Counter;
  /** Holds one back that is due while it is quiet; false: it may go out. */
  readonly quiet: { holdBack(account: string | null, delivery: Pick<Delivery, 'topic' | 'waits'>): Promise<boolean> };
  /** Hears of each message to a browser, whether it was sent. */
  readonly told: (topic: string, done: boolean) => void;
}

/** Sends what is due; a browser that is gone, or may no longer be written to, is forgotten. */
export function deliverTo(
  parts: DeliveryParts,
): (attempt: Pick<JobAttempt<Delivery>, 'payload' | 'signal'>) => Promise<void> {
  const { context, store, sent } = parts;
  return async ({ payload: delivery, signal }) => {
    const browser = await store.find(delivery.browser);
    if (browser === undefined || !(await mayRead(context, browser, delivery.topic))) return;
    // It was to go out earlier, and it has become quiet since.
    if (await parts.quiet.holdBack(browser.account, delivery)) return;
    const trust = trustedEndpoint(browser.endpoint, parts.allowed);
    const request = trust === undefined ? undefined : await encrypt(parts, browser, delivery);
    if (trust === undefined || request === undefined) {
      await store.remove({ column: 'id', value: browser.id });
      sent.inc({ result: 'gone' });
      return;
    }
    const { status, headers } = await context.fetch(browser.endpoint, { ...request, signal, trust, maxRedirects: 0 });
    if (status >= 200 && status < 300) {
      sent.inc({ result: 'sent' });
      if (delivery.topic !== undefined) parts.told(delivery.topic, true);
    } else if (status === 404 || status === 410 || status === 403) {
      // The person took the permission back, or the subscription is bound to another key.
      await store.remove({ column: 'id', value: browser.id });
      sent.inc({ result: 'gone' });
    } else {
      sent.inc({ result: 'failed' });
      if (delivery.topic !== undefined) parts.told(delivery.topic, false);
      throw refused(status, headers['retry-after']);
    }
  };
}

/** Whether the browser's person may read the topic now. */
export async function mayRead(
  { accounts }: Pick<Context, 'accounts'>,
  { account }: Pick<Browser, 'account'>,
  topic: string | undefined,
): Promise<boolean> {
  if (account === null) return topic === undefined || accounts.may(undefined, 'push', 'read', topic);
  const known = await accounts.find(account);
  if (known?.enabled !== true) return false;
  const identity = { account, kind: known.kind, role: known.role, via: 'password' } as const;
  return topic === undefined || accounts.may(identity, 'push', 'read', topic);
}

/** Encrypted after RFC 8291 and signed after RFC 8292; undefined when the browser's keys are none. */
async function encrypt(parts: DeliveryParts, { endpoint, auth, p256dh }: Browser, delivery: Delivery) {
  // Loaded by the first delivery: a server without browsers does without.
  const { default: webPush } = await import('web-push');
  try {
    const { method, headers, body } = webPush.generateRequestDetails(
      { endpoint, keys: { auth, p256dh } },
      delivery.payload,
      {
        vapidDetails: { subject: parts.contact(), ...parts.keys() },
        TTL: parts.keptSeconds(),
        urgency: delivery.urgency,
        contentEncoding: 'aes128gcm',
        ...(delivery.replaces === undefined ? {} : { topic: shortName(delivery.replaces) }),
      },
    );
    const named = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length');
    return { method, headers: Object.fromEntries(named.map(([name, value]) => [name, String(value)])), body };
  } catch (error) {
    parts.context.log.warn('a browser’s keys cannot be used; it is forgotten', { browser: delivery.browser, error });
    return undefined;
  }
}

/** Push services take 32 characters of base64url, and need not know what they stand for. */
function shortName(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}

function refused(status: number, retryAfter: string | undefined): Problem {
  const seconds = Number(retryAfter);
  return new Problem('push.web_push_failed', status, `The browser's push service answered ${String(status)}.`, {
    ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, hour) } : {}),
  });
}
