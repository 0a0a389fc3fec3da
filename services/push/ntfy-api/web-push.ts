import type { IncomingMessage } from 'node:http';
import { refuse } from '../domain/refusals.ts';
import type { BrowserSubscriptions } from '../web-push/browser-subscriptions.ts';
import { WebPushRemoval, WebPushRequest } from '../wire/web-push.ts';
import { answerSuccess, type ApiRoutes } from './api-routes.ts';
import type { Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';

export interface WebPushRouteDependencies {
  readonly subscriptions: BrowserSubscriptions;
  readonly enabled: () => boolean;
  /** Returns the address at which a client reaches this service. */
  readonly publicUrl: (request: IncomingMessage) => string | undefined;
}

/** Routes for subscribing and unsubscribing a browser. */
export function webPushRoutes({ subscriptions, enabled, publicUrl }: WebPushRouteDependencies): ApiRoutes {
  const requireEnabled = (): void => {
    if (!enabled()) throw refuse('not_found');
  };
  return {
    async 'POST /v1/webpush'(exchange) {
      requireEnabled();
      const subscription = await withMalformedRefusal(() => readJson(exchange, WebPushRequest));
      await subscriptions.put(subscription, exchange, getBaseUrl(exchange, publicUrl(exchange.request)));
      answerSuccess(exchange);
    },

    async 'DELETE /v1/webpush'(exchange) {
      requireEnabled();
      // Knowledge of the endpoint authorizes its removal.
      const { endpoint } = await withMalformedRefusal(() => readJson(exchange, WebPushRemoval));
      await subscriptions.remove(endpoint);
      answerSuccess(exchange);
    },
  };
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
