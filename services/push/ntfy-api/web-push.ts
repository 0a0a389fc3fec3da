import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import { everyTopic, webPushApi } from '../../contracts/push/web-push.ts';
import { toNetwork } from '../../kit/network.ts';
import { getEndpointTrust } from '../domain/push-endpoints.ts';
import { refuse } from '../domain/refusals.ts';
import { requireTopic } from '../domain/topics.ts';
import type { Sender } from '../access/limits.ts';
import type { WebPushStore } from '../store/web-push.ts';
import { WebPushRemoval, WebPushRequest } from '../wire/web-push.ts';
import { answerSuccess, type ApiRoutes } from './api-routes.ts';
import type { Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';

const maxTopics = 50;
/** Maximum number of browsers per network of visitors, as in ntfy, and per account. */
const maxBrowsers = { stranger: 10, account: 100 };

export interface WebPushDependencies {
  readonly accounts: Accounts;
  readonly store: WebPushStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly allowedHosts: readonly string[];
  readonly reserved: ReadonlySet<string>;
  /** Called after the set of subscribed topics changed. */
  readonly onChanged: () => Promise<void>;
}

/**
 * Stores the subscription of a browser.
 *
 * @throws Problem 40039, 40040, 40301, 42903
 */
function putBrowser({ accounts, store, clock, random, allowedHosts, reserved, onChanged }: WebPushDependencies) {
  return async (subscription: WebPushRequest, sender: Sender, baseUrl: string): Promise<void> => {
    const { endpoint, auth, p256dh, topics } = subscription;
    // A browser subscription outlives the token, so limited tokens are refused.
    if (sender.identity?.limited === true) throw refuse('forbidden');
    if (getEndpointTrust(endpoint, allowedHosts) === undefined) throw refuse('web_push_endpoint');
    if (topics.length > maxTopics) throw refuse('web_push_topics');
    for (const topic of topics) {
      // Only Homeport's page subscribes to all topics, and each message is checked again before delivery.
      if (topic === everyTopic && sender.identity !== undefined && baseUrl === '') continue;
      requireTopic(topic, reserved);
      if (!accounts.may(sender.identity, 'push', 'read', topic)) throw refuse('forbidden');
    }
    const account = sender.identity?.account ?? null;
    const browser = { id: random.text(16), endpoint, auth, p256dh, account, base_url: baseUrl };
    const limit = account === null ? maxBrowsers.stranger : maxBrowsers.account;
    const network = toNetwork(sender.address);
    if (!(await store.put({ ...browser, network }, topics, clock.now(), limit))) throw refuse('too_many_subscribers');
    await onChanged();
  };
}

/** Routes for subscribing and unsubscribing a browser. */
export function webPushRoutes(
  dependencies: WebPushDependencies & {
    readonly enabled: () => boolean;
    /** Returns the address at which a client reaches this service. */
    readonly publicUrl: (request: IncomingMessage) => string | undefined;
  },
): ApiRoutes {
  const putSubscription = putBrowser(dependencies);
  const requireEnabled = (): void => {
    if (!dependencies.enabled()) throw refuse('not_found');
  };
  return {
    async 'POST /v1/webpush'(exchange) {
      requireEnabled();
      const subscription = await withMalformedRefusal(() => readJson(exchange, WebPushRequest));
      await putSubscription(subscription, exchange, getBaseUrl(exchange, dependencies.publicUrl(exchange.request)));
      answerSuccess(exchange);
    },

    async 'DELETE /v1/webpush'(exchange) {
      requireEnabled();
      // Knowledge of the endpoint authorizes its removal.
      const { endpoint } = await withMalformedRefusal(() => readJson(exchange, WebPushRemoval));
      await dependencies.store.remove({ column: 'endpoint', value: endpoint });
      await dependencies.onChanged();
      answerSuccess(exchange);
    },
  };
}

/**
 * Handlers of the app API for web push. Payloads contain only the topic, because the page is not served from the push
 * server's address.
 */
export function webPushHandlers(
  dependencies: WebPushDependencies & { readonly publicKey: () => string },
): readonly ApiHandler[] {
  const putSubscription = putBrowser(dependencies);
  return [
    implement(webPushApi.key, () => ({ publicKey: dependencies.publicKey() || null })),
    implement(webPushApi.topicsOf, async ({ body, identity }) => {
      const browser = await dependencies.store.findByEndpoint(body.endpoint);
      const isOwn = browser?.account === identity?.account;
      return { topics: isOwn ? [...(await dependencies.store.findTopics(body.endpoint))] : [] };
    }),
    implement(webPushApi.put, async ({ body, identity, remoteAddress }) => {
      const browser = await dependencies.store.findByEndpoint(body.endpoint);
      // A browser that changes accounts proves its identity by its keys; an endpoint alone may have been leaked.
      if (
        browser &&
        browser.account !== identity?.account &&
        (browser.auth !== body.auth || browser.p256dh !== body.p256dh)
      ) {
        throw new Problem('push.other_browser', 403, 'This browser belongs to somebody else.');
      }
      if (body.topics.length > 0) {
        await putSubscription(body, { identity, address: remoteAddress }, '');
      } else {
        await dependencies.store.remove({ column: 'endpoint', value: body.endpoint });
        await dependencies.onChanged();
      }
      return { ok: true };
    }),
  ];
}

async function withMalformedRefusal<T>(read: () => Promise<T>): Promise<T> {
  return read().catch((cause: unknown) => {
    throw refuse('web_push_malformed', undefined, { cause });
  });
}

/** Returns the address of this server as used by the browser, with the path below which a gateway serves it. */
function getBaseUrl({ request }: Exchange, publicUrl: string | undefined): string {
  const { origin, host = '' } = request.headers;
  const pageOrigin = URL.parse(origin ?? '')?.origin;
  if (publicUrl !== undefined && (pageOrigin === undefined || URL.parse(publicUrl)?.origin === pageOrigin))
    return publicUrl;
  return pageOrigin ?? `http://${host}`;
}
