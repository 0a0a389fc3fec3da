import { Problem } from '../../contracts/problem.ts';
import type { Route } from '../../kit/http/listener.ts';
import { jsonReply } from '../../kit/http/respond.ts';
import { postRoute } from './post-route.ts';
import { parseIds } from './request-body.ts';
import type { Settings } from '../settings.ts';
import { readSubscribe, readUpdate, toSubscriptionRecord } from '../wire/subscription.ts';
import type { StoredSubscription } from '../domain/subscription.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';

/** Routes for subscriptions of MeTube. Failures are responses with status 200, as for `/add`. */
export function createSubscriptionRoutes(subscriptions: Subscriptions, settings: Settings): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/subscriptions',
      handle: async () => jsonReply(200, (await subscriptions.list()).map(toSubscriptionRecord)),
    },
    postRoute('/subscribe', async (body) => {
      const options = readSubscribe(body, settings);
      return toResponse(() => subscriptions.add(options));
    }),
    postRoute('/subscriptions/update', async (body) => {
      const { id, change } = readUpdate(body);
      return toResponse(() => subscriptions.update(id, change));
    }),
    postRoute('/subscriptions/delete', async (body) => {
      await subscriptions.remove(parseIds(body));
      return { status: 'ok' };
    }),
    postRoute('/subscriptions/check', async (body) => {
      await subscriptions.check(body['ids'] === undefined || body['ids'] === null ? undefined : parseIds(body));
      return { status: 'ok' };
    }),
  ];
}

async function toResponse(work: () => Promise<StoredSubscription>): Promise<object> {
  try {
    return { status: 'ok', subscription: toSubscriptionRecord(await work()) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { status: 'error', msg: error.detail };
  }
}
