import type { Accounts } from '../../contracts/accounts.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import { networkOf } from '../domain/network.ts';
import { trustedEndpoint } from '../domain/push-endpoints.ts';
import { refuse } from '../domain/refusals.ts';
import { requireTopic } from '../domain/topics.ts';
import type { WebPushStore } from '../store/web-push.ts';
import { WebPushEnd, WebPushOrder } from '../wire/web-push.ts';
import { answerSuccess, type ApiRoutes } from './api-routes.ts';
import type { Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';

const mostTopics = 50;
/** Browsers of one stranger's address, as at the peer, and of one account. */
const mostBrowsers = { stranger: 10, account: 100 };

export interface WebPushParts {
  readonly accounts: Accounts;
  readonly store: WebPushStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly allowed: readonly string[];
  readonly reserved: ReadonlySet<string>;
  /** The topics that browsers want are others now. */
  readonly changed: () => Promise<void>;
}

/** A browser tells where it gets messages while its page is closed, and when it wants none any more. */
export function webPushRoutes(parts: WebPushParts): ApiRoutes {
  const { accounts, store, clock, random, allowed, reserved, changed } = parts;
  return {
    async 'POST /v1/webpush'(exchange) {
      const { endpoint, auth, p256dh, topics } = await readMalformed(() => readJson(exchange, WebPushOrder));
      if (trustedEndpoint(endpoint, allowed) === undefined) throw refuse('web_push_endpoint');
      if (topics.length > mostTopics) throw refuse('web_push_topics');
      const { identity } = exchange;
      for (const topic of topics) {
        requireTopic(topic, reserved);
        if (!accounts.may(identity, 'push', 'read', topic)) throw refuse('forbidden');
      }
      const account = identity?.account ?? null;
      const browser = { id: random.text(16), endpoint, auth, p256dh, account, base_url: baseUrl(exchange) };
      const most = account === null ? mostBrowsers.stranger : mostBrowsers.account;
      const network = networkOf(exchange.address);
      if (!(await store.put({ ...browser, network }, topics, clock.now(), most))) throw refuse('too_many_subscribers');
      await changed();
      answerSuccess(exchange);
    },

    async 'DELETE /v1/webpush'(exchange) {
      // Who knows the endpoint is the browser itself.
      const { endpoint } = await readMalformed(() => readJson(exchange, WebPushEnd));
      await store.remove({ column: 'endpoint', value: endpoint });
      await changed();
      answerSuccess(exchange);
    },
  };
}

async function readMalformed<T>(read: () => Promise<T>): Promise<T> {
  return read().catch((cause: unknown) => {
    throw refuse('web_push_malformed', undefined, { cause });
  });
}

/** The address under which the browser knows this server. */
function baseUrl({ request }: Exchange): string {
  const { origin, host = '' } = request.headers;
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).origin : `http://${host}`;
}
