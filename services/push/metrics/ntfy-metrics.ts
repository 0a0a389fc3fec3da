import type { Context } from '../../contracts/service.ts';
import type { ActiveTopics } from '../topics/active-topics.ts';
import type { Limits } from '../access/limits.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { MessageStore } from '../store/messages.ts';

export interface PeerMetricsParts {
  readonly store: MessageStore;
  readonly subscribers: Subscribers;
  readonly limits: Limits;
  readonly topics: ActiveTopics;
  /** All messages ever published. */
  readonly published: () => number;
}

/** The peer's names beside our own, so that dashboards made for it show this server. */
export function measureAsPeer({ metrics, accounts }: Context, parts: PeerMetricsParts) {
  const gauge = (name: string, help: string, collect: () => number | Promise<number>): void => {
    metrics.gauge({ name, help, collect, peer: true });
  };
  gauge('ntfy_messages_published_success', 'Messages that were published, ever.', parts.published);
  gauge('ntfy_messages_cached_total', 'Messages that can be read again.', () => parts.store.count());
  gauge('ntfy_subscribers_total', 'Streams that are open.', () => parts.subscribers.size);
  gauge('ntfy_topics_total', 'Topics in use.', () => parts.topics.size);
  gauge('ntfy_visitors_total', 'Accounts and addresses seen within a day.', () => parts.limits.visitors);
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
    /** Call for each request that is over. */
    served(this: void, method: string, status: number): void {
      requests.inc({ http_code: status, http_method: known.has(method) ? method : 'other' });
      if (status >= 400 && (method === 'POST' || method === 'PUT')) failed.inc();
    },
  };
}

const known = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
