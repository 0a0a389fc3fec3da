import type { Context } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import type { WebPush } from '../web-push/web-push.ts';
import { WebPushRemoval, WebPushRequest } from '../wire/web-push.ts';
import { answerSuccess, type ApiRoutes } from './api-routes.ts';
import type { Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';

/** Routes for subscribing and unsubscribing a browser. */
export function webPushRoutes(webPush: WebPush, publicUrl: Context['publicUrl']): ApiRoutes {
  const { subscriptions } = webPush;
  const requireEnabled = (): void => {
    if (!webPush.isEnabled) throw refuse('not_found');
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
