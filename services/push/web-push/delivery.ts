import * as m from '#messages/push-problems';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineJob, type JobAttempt } from '../../contracts/jobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { getEndpointTrust } from '../domain/push-endpoints.ts';
import type { Browser, WebPushStore } from '../store/web-push.ts';
import type { KeyPair } from './vapid.ts';

const hourMs = 60 * 60 * 1000;

const BrowserDelivery = z.object({
  browser: z.string(),
  /** Payload before encryption. */
  payload: z.string(),
  /** Undefined for messages about the subscription itself. */
  topic: z.string().optional(),
  urgency: z.enum(['very-low', 'low', 'normal', 'high']),
  /** Messages with the same value replace each other until the browser has fetched one. */
  replaces: z.string().optional(),
  /** Identity of a message that may be held during quiet hours. */
  waits: z.object({ sequence: z.string(), key: z.string() }).optional(),
});
export type BrowserDelivery = z.infer<typeof BrowserDelivery>;

/** Delivery of one message to one browser. */
export const deliverToBrowser = defineJob('push.web-push', BrowserDelivery, {
  concurrency: 8,
  maxAgeMs: 12 * hourMs,
});

/** Identity of this server at push services (VAPID). */
export interface WebPushSender {
  readonly keys: () => KeyPair;
  /** `mailto:` or `https:` address for push services to contact the owner. */
  readonly contact: () => string;
}

export interface BrowserDeliveryDependencies {
  readonly context: Pick<Context, 'fetch' | 'accounts' | 'log'>;
  readonly store: WebPushStore;
  readonly sender: WebPushSender;
  readonly allowedHosts: readonly string[];
  /** Seconds that a push service keeps a message for an offline browser. */
  readonly keptSeconds: () => number;
  readonly sent: Counter;
  /** Holds a delivery during quiet hours; returns false when it may be sent. */
  readonly quiet: {
    holdBack(account: string | null, delivery: Pick<BrowserDelivery, 'topic' | 'waits'>): Promise<boolean>;
  };
  /** Called after each delivery with its result. */
  readonly onDelivered: (topic: string, successful: boolean) => void;
}

/**
 * Returns the job handler that delivers messages; browsers that unsubscribed or may no longer be contacted are deleted.
 */
export function createDeliveryHandler(
  dependencies: BrowserDeliveryDependencies,
): (attempt: Pick<JobAttempt<BrowserDelivery>, 'payload' | 'signal'>) => Promise<void> {
  const { context, store, sent } = dependencies;
  return async ({ payload: delivery, signal }) => {
    const browser = await store.find(delivery.browser);
    if (browser === undefined || !(await mayRead(context, browser, delivery.topic))) return;
    // Quiet hours began after the message was scheduled for delivery.
    if (await dependencies.quiet.holdBack(browser.account, delivery)) return;
    const trust = getEndpointTrust(browser.endpoint, dependencies.allowedHosts);
    const request = trust === undefined ? undefined : await encrypt(dependencies, browser, delivery);
    if (trust === undefined || request === undefined) {
      await store.remove({ column: 'id', value: browser.id });
      sent.inc({ result: 'gone' });
      return;
    }
    const { status, headers } = await context.fetch(browser.endpoint, { ...request, signal, trust, maxRedirects: 0 });
    if (status >= 200 && status < 300) {
      sent.inc({ result: 'sent' });
      if (delivery.topic !== undefined) dependencies.onDelivered(delivery.topic, true);
    } else if (status === 404 || status === 410 || status === 403) {
      // The user revoked the permission, or the subscription belongs to another key.
      await store.remove({ column: 'id', value: browser.id });
      sent.inc({ result: 'gone' });
    } else {
      sent.inc({ result: 'failed' });
      if (delivery.topic !== undefined) dependencies.onDelivered(delivery.topic, false);
      throw toProblem(status, headers['retry-after']);
    }
  };
}

/** Returns true when the account of the browser may read the topic. */
export async function mayRead(
  { accounts }: Pick<Context, 'accounts'>,
  { account }: Pick<Browser, 'account'>,
  topic: string | undefined,
): Promise<boolean> {
  if (account === null) return topic === undefined || accounts.may(undefined, 'push', 'read', topic);
  const stored = await accounts.find(account);
  if (stored?.enabled !== true) return false;
  const identity = { account, kind: stored.kind, role: stored.role, via: 'password' } as const;
  return topic === undefined || accounts.may(identity, 'push', 'read', topic);
}

/** Encrypts (RFC 8291) and signs (RFC 8292) a payload; undefined when the browser's keys are invalid. */
async function encrypt(
  dependencies: BrowserDeliveryDependencies,
  { endpoint, auth, p256dh }: Browser,
  delivery: BrowserDelivery,
) {
  // Loaded on the first delivery.
  const { default: webPush } = await import('web-push');
  try {
    const { method, headers, body } = webPush.generateRequestDetails(
      { endpoint, keys: { auth, p256dh } },
      delivery.payload,
      {
        vapidDetails: { subject: dependencies.sender.contact(), ...dependencies.sender.keys() },
        TTL: dependencies.keptSeconds(),
        urgency: delivery.urgency,
        contentEncoding: 'aes128gcm',
        ...(delivery.replaces === undefined ? {} : { topic: hashTopic(delivery.replaces) }),
      },
    );
    const filteredHeaders = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length');
    return { method, headers: Object.fromEntries(filteredHeaders.map(([name, value]) => [name, String(value)])), body };
  } catch (error) {
    dependencies.context.log.warn('web push subscription removed: invalid keys', { browser: delivery.browser, error });
    return undefined;
  }
}

/** Returns a topic name for push services: at most 32 base64url characters, hashed to hide its meaning. */
function hashTopic(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}

function toProblem(status: number, retryAfter: string | undefined): Problem {
  const seconds = Number(retryAfter);
  return new Problem('push.web_push_failed', status, () => m.pushServiceRefused({ status: String(status) }), {
    ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, hourMs) } : {}),
  });
}
