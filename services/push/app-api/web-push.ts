import * as m from '#messages/push-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { webPushApi } from '../../contracts/push/web-push.ts';
import { findNetworkBrowser } from '../subscribe/network-device.ts';
import type { TopicDevices } from '../subscribe/topic-devices.ts';
import type { WebPush } from '../web-push/web-push.ts';

/**
 * Handlers for web push. Payloads contain only the topic, because the page is not served from the push server's
 * address.
 */
export function webPushHandlers(
  { subscriptions, publicKey }: Pick<WebPush, 'subscriptions' | 'publicKey'>,
  devices: Pick<TopicDevices, 'record'>,
): readonly ApiHandler[] {
  return [
    implement(webPushApi.key, () => ({ publicKey: publicKey() || null })),
    implement(webPushApi.topicsOf, async ({ body, identity }) => {
      const browser = await subscriptions.find(body.endpoint);
      const isOwn = browser?.account === identity?.account;
      return { topics: isOwn ? [...(await subscriptions.findTopics(body.endpoint))] : [] };
    }),
    implement(webPushApi.put, async ({ body, identity, remoteAddress, userAgent }) => {
      const browser = await subscriptions.find(body.endpoint);
      // A browser that changes accounts proves its identity by its keys; an endpoint alone may have been leaked.
      if (
        browser &&
        browser.account !== identity?.account &&
        (browser.auth !== body.auth || browser.p256dh !== body.p256dh)
      ) {
        throw new Problem('push.other_browser', 403, m.otherBrowser());
      }
      if (body.topics.length > 0) {
        await subscriptions.put(body, { identity, address: remoteAddress }, '');
        const device = findNetworkBrowser({ address: remoteAddress, userAgent, identity });
        if (device !== undefined) devices.record(device, body.topics);
      } else {
        await subscriptions.remove(body.endpoint);
      }
      return { ok: true };
    }),
  ];
}
