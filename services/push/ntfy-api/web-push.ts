import type { Accounts } from '../../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import { everyTopic, webPushApi } from '../../contracts/push/web-push.ts';
import { networkOf } from '../../kit/network.ts';
import { trustedEndpoint } from '../domain/push-endpoints.ts';
import { refuse } from '../domain/refusals.ts';
import { requireTopic } from '../domain/topics.ts';
import type { Sender } from '../access/limits.ts';
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

/** Takes a browser's subscription. @throws Problem 40039, 40040, 40301, 42903 */
function putBrowser({ accounts, store, clock, random, allowed, reserved, changed }: WebPushParts) {
  return async (order: WebPushOrder, from: Sender, baseUrl: string): Promise<void> => {
    const { endpoint, auth, p256dh, topics } = order;
    // A browser stays with its account when the token is gone.
    if (from.identity?.limited === true) throw refuse('forbidden');
    if (trustedEndpoint(endpoint, allowed) === undefined) throw refuse('web_push_endpoint');
    if (topics.length > mostTopics) throw refuse('web_push_topics');
    for (const topic of topics) {
      // Only our own page asks for all, and each message is checked anew before it goes to the browser.
      if (topic === everyTopic && from.identity !== undefined && baseUrl === '') continue;
      requireTopic(topic, reserved);
      if (!accounts.may(from.identity, 'push', 'read', topic)) throw refuse('forbidden');
    }
    const account = from.identity?.account ?? null;
    const browser = { id: random.text(16), endpoint, auth, p256dh, account, base_url: baseUrl };
    const most = account === null ? mostBrowsers.stranger : mostBrowsers.account;
    const network = networkOf(from.address);
    if (!(await store.put({ ...browser, network }, topics, clock.now(), most))) throw refuse('too_many_subscribers');
    await changed();
  };
}

/** A browser tells where it gets messages while its page is closed, and when it wants none any more. */
export function webPushRoutes(parts: WebPushParts): ApiRoutes {
  const put = putBrowser(parts);
  return {
    async 'POST /v1/webpush'(exchange) {
      const order = await readMalformed(() => readJson(exchange, WebPushOrder));
      await put(order, exchange, baseUrl(exchange));
      answerSuccess(exchange);
    },

    async 'DELETE /v1/webpush'(exchange) {
      // Who knows the endpoint is the browser itself.
      const { endpoint } = await readMalformed(() => readJson(exchange, WebPushEnd));
      await parts.store.remove({ column: 'endpoint', value: endpoint });
      await parts.changed();
      answerSuccess(exchange);
    },
  };
}

/** The same for our own page. What it gets names the topic alone: the page is not at the push server's address. */
export function webPushHandlers(parts: WebPushParts & { readonly publicKey: () => string }): readonly ApiHandler[] {
  const put = putBrowser(parts);
  return [
    implement(webPushApi.key, () => ({ publicKey: parts.publicKey() || null })),
    implement(webPushApi.topicsOf, async ({ body, identity }) => {
      const known = await parts.store.findByEndpoint(body.endpoint);
      const own = known?.account === identity?.account;
      return { topics: own ? [...(await parts.store.findTopics(body.endpoint))] : [] };
    }),
    implement(webPushApi.put, async ({ body, identity, remoteAddress }) => {
      const known = await parts.store.findByEndpoint(body.endpoint);
      // A browser that changes hands proves by its keys that it is the one; an endpoint alone may have been seen somewhere.
      if (known && known.account !== identity?.account && (known.auth !== body.auth || known.p256dh !== body.p256dh)) {
        throw new Problem('push.other_browser', 403, 'This browser belongs to somebody else.');
      }
      if (body.topics.length > 0) {
        await put(body, { identity, address: remoteAddress }, '');
      } else {
        await parts.store.remove({ column: 'endpoint', value: body.endpoint });
        await parts.changed();
      }
      return { ok: true };
    }),
  ];
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
