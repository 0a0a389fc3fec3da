import { Router, type Response } from 'express';
import { Problem } from '../../contracts/problem.ts';
import { parseBody, parseIds } from './request-body.ts';
import type { Settings } from '../settings.ts';
import { readSubscribe, readUpdate, toSubscriptionRecord } from '../wire/subscription.ts';
import type { StoredSubscription } from '../domain/subscription.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';

/** Routes for subscriptions of MeTube. Failures are responses with status 200, as for `/add`. */
export function createSubscriptionRoutes(subscriptions: Subscriptions, settings: Settings): Router {
  const router = Router();
  router.get('/subscriptions', async (_request, response) => {
    response.json((await subscriptions.list()).map(toSubscriptionRecord));
  });
  router.post('/subscribe', async (request, response) => {
    const options = readSubscribe(parseBody(request), settings);
    await sendResult(response, async () => await subscriptions.add(options));
  });
  router.post('/subscriptions/update', async (request, response) => {
    const { id, change } = readUpdate(parseBody(request));
    await sendResult(response, async () => await subscriptions.update(id, change));
  });
  router.post('/subscriptions/delete', async (request, response) => {
    await subscriptions.remove(parseIds(parseBody(request)));
    response.json({ status: 'ok' });
  });
  router.post('/subscriptions/check', async (request, response) => {
    const body = parseBody(request);
    await subscriptions.check(body['ids'] === undefined || body['ids'] === null ? undefined : parseIds(body));
    response.json({ status: 'ok' });
  });
  return router;
}

async function sendResult(response: Response, work: () => Promise<StoredSubscription>): Promise<void> {
  try {
    response.json({ status: 'ok', subscription: toSubscriptionRecord(await work()) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    response.json({ status: 'error', msg: error.detail });
  }
}
