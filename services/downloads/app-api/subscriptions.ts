import * as m from '#messages/downloads-problems';
import { FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { subscriptionsApi } from '../../contracts/downloads/subscriptions.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Settings } from '../settings.ts';
import { readAdd } from '../wire/add.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';

/** Returns the handlers for subscriptions. */
export function createSubscriptionHandlers(subscriptions: Subscriptions, settings: Settings): readonly ApiHandler[] {
  return [
    implement(subscriptionsApi.list, async () => ({
      subscriptions: (await subscriptions.list()).map((each) => subscriptions.toView(each)),
    })),
    implement(subscriptionsApi.add, async ({ body }) => {
      const { url, order } = readAdd(body, settings);
      const subscription = await subscriptions.add({
        url,
        order,
        intervalMinutes: body.intervalMinutes ?? settings.subscriptionInterval,
        titleRegex: body.titleRegex?.trim() ?? '',
        skipMembersOnly: body.skipMembersOnly ?? false,
      });
      return subscriptions.toView(subscription);
    }),
    implement(subscriptionsApi.update, async ({ body: { id, ...change } }) => {
      const definedChange = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return subscriptions.toView(await subscriptions.update(id, definedChange));
    }),
    implement(subscriptionsApi.check, async ({ body }) => ({ queued: await subscriptions.check(body.ids) })),
    implement(subscriptionsApi.remove, async ({ body }) => ({ removed: [...(await subscriptions.remove(body.ids))] })),
    implement(subscriptionsApi.restore, async ({ body }) => ({
      restored: [...(await subscriptions.restore(body.ids))],
    })),
    implement(subscriptionsApi.picture, async ({ params }) => {
      const picture = await subscriptions.picture(params['id'] ?? '');
      if (picture === undefined) throw new Problem('downloads.no_picture', 404, m.pictureNotFound());
      return new FileReply({ ...picture, maxAge: 86_400 });
    }),
    implement(subscriptionsApi.preview, async ({ body }) => {
      const { url, order } = readAdd({ url: body.url }, settings);
      return await subscriptions.preview(url, order, body.titleRegex.trim());
    }),
  ];
}
