import type { Context } from '../../contracts/service.ts';
import type { ActiveTopics } from '../topics/active-topics.ts';
import type { Limits } from '../access/limits.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { MessageStore } from '../store/messages.ts';

export interface NtfyMetricsDependencies {
  readonly store: MessageStore;
  readonly subscribers: Subscribers;
  readonly limits: Limits;
  readonly topics: ActiveTopics;
  /** Returns the number of messages ever published. */
  readonly published: () => number;
}

/** Registers metrics under ntfy's names, so that existing dashboards work. */
export function registerNtfyMetrics({ metrics, accounts }: Context, dependencies: NtfyMetricsDependencies) {
  const gauge = (name: string, help: string, collect: () => number | Promise<number>): void => {
    metrics.gauge({ name, help, collect, peer: true });
  };
  gauge('ntfy_messages_published_success', 'Messages that were published, ever.', dependencies.published);
  gauge('ntfy_messages_cached_total', 'Messages that can be read again.', () => dependencies.store.count());
  gauge('ntfy_subscribers_total', 'Streams that are open.', () => dependencies.subscribers.size);
  gauge('ntfy_topics_total', 'Topics in use.', () => dependencies.topics.size);
  gauge('ntfy_visitors_total', 'Accounts and addresses seen within a day.', () => dependencies.limits.visitors);
  gauge('ntfy_users_total', 'Accounts.', async () => (await accounts.list()).length);
  const failed = metrics.counter({
    name: 'ntfy_messages_published_failure',
    help: 'Requests to publish that were refused or failed.',
    initial: [{}],
    peer: true,
  });
  const requests = metrics.counter({
    name: 'ntfy_http_requests_total',
    help: 'Requests by status and method.',
    labels: ['http_code', 'http_method'],
    peer: true,
  });
  return {
    /** Counts a finished request. */
    countRequest(this: void, method: string, status: number): void {
      requests.inc({ http_code: status, http_method: knownMethods.has(method) ? method : 'other' });
      if (status >= 400 && (method === 'POST' || method === 'PUT')) failed.inc();
    },
  };
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
