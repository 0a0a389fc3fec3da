import * as m from '#messages/push-problems';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Context, type ImportResult, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { SyncTopics, withSyncTopics } from './access/sync-topics.ts';
import { createHandlers } from './app-api/create-handlers.ts';
import { importNtfy, type ImportDependencies } from './import/ntfy.ts';
import { createPortable } from './import/portable.ts';
import { Lifecycle } from './lifecycle.ts';
import { manifest } from './manifest.ts';
import { getHealth } from './metrics/health.ts';
import { Traffic } from './metrics/traffic.ts';
import { openAccess } from './ntfy-api/access.ts';
import { NtfyApi } from './ntfy-api/ntfy-api.ts';
import type { OpenStreams } from './ntfy-api/subscribe.ts';
import { webPushRoutes } from './ntfy-api/web-push.ts';
import { Delivery } from './publish/delivery.ts';
import { openEmails, type Emails } from './publish/emails.ts';
import { QuietHours } from './quiet/quiet-hours.ts';
import { openRecurring } from './recurring/recurring.ts';
import { Search } from './search/search.ts';
import type { Settings } from './settings.ts';
import { DerivedSettings } from './settings/derived-settings.ts';
import { createPushAccountData } from './store/account-data.ts';
import { LiveMessages } from './store/live-messages.ts';
import { MessageStore } from './store/messages.ts';
import { KeepAlive } from './subscribe/keep-alive.ts';
import { LiveFeed } from './subscribe/live-feed.ts';
import { Subscribers } from './subscribe/subscribers.ts';
import { TopicDevices } from './subscribe/topic-devices.ts';
import { createVisitors } from './topics/visitors.ts';
import { createReceiverAddresses } from './web-push/receiver-addresses.ts';
import { WebPush } from './web-push/web-push.ts';

/** Push service: delivers published messages to subscribers of a topic, compatible with ntfy. */
export const push = defineService({ ...manifest, create });

/** Opens the forwarding of messages as mail, whose links lead to the address of this server. */
function openPushEmails(context: Context, settings: Readonly<Settings>): Emails {
  const { appPages } = context;
  return openEmails({
    context,
    settings,
    baseUrl: () => settings.baseUrl || appPages.serviceForMessages('push'),
  });
}

function create(context: Context, initialSettings: Settings): Service {
  const { clock } = context;
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const derivedSettings = new DerivedSettings(settings);
  const { reservedTopics, cacheSeconds } = derivedSettings;
  const syncTopics = new SyncTopics();
  const accounts = withSyncTopics(context.accounts, syncTopics);
  const ntfyContext = { ...context, accounts };
  const visitors = createVisitors(clock, accounts, settings);
  const messages = new MessageStore(context.db);
  const streams = openStreams(ntfyContext, messages);
  const { subscribers, liveFeed } = streams;
  const traffic = new Traffic(context, messages, subscribers);
  const receiverAddresses = createReceiverAddresses(context, settings);
  const quietHours = new QuietHours(ntfyContext, receiverAddresses);
  const webPush = new WebPush({
    context: ntfyContext,
    settings,
    derivedSettings,
    receiverAddresses,
    quietHours,
    onDelivered: (topic, successful) => traffic.counts.countDelivery(topic, successful),
  });
  const search = new Search(context);
  const emails = openPushEmails(context, settings);
  const delivery = new Delivery({
    context,
    settings,
    cacheSeconds,
    messages,
    writeHooks: [webPush.store, search.store, emails.store],
    removeFromSearch: (transaction, seqs) => search.remove(transaction, seqs),
    onPublished: (envelopes) => {
      traffic.add(envelopes);
      return liveFeed.deliver(envelopes);
    },
  });
  const recurring = openRecurring(context, delivery, reservedTopics);
  const keepAlive = new KeepAlive(context, subscribers, () => settings.keepaliveInterval);
  const access = openAccess({
    context: ntfyContext,
    settings,
    derivedSettings,
    limits: visitors.limits,
    syncTopics,
    delivery,
    sendsMail: emails.enabled,
  });
  const routes = { ...access.routes, ...webPushRoutes(webPush, context.publicUrl) };
  const features = { visitors, traffic, streams, delivery, recurring, search, webPush, quietHours };
  const ntfyApi = new NtfyApi(ntfyContext, settings, derivedSettings, {
    ...features,
    routes,
    sendsMail: emails.enabled,
  });
  const clients = { visitors, ...streams, access, keepAlive };
  const sending = { webPush, quietHours, emails };
  const lifecycle = new Lifecycle(context, { traffic, search, delivery, recurring, clients, sending, derivedSettings });
  return {
    http: ntfyApi.http,
    upgrade: ntfyApi.upgrade,
    api: createHandlers(context, ntfyContext, derivedSettings, { features, access }),
    accountData: createPushAccountData(context),
    portable: createPortable(context),
    importData: (program, folder) =>
      importData({ context, messages, keepInInbox: settings.keepInInbox }, program, folder),
    start: () => lifecycle.start(),
    health: async () => getHealth(delivery.publisher.healthy, traffic.statistics, subscribers.size),
    reconfigure: (next) =>
      live.update(next, () => {
        visitors.limits.reconfigure();
        derivedSettings.update();
        keepAlive.reconfigure();
        return webPush.reconfigure();
      }),
    [Symbol.asyncDispose]: () => lifecycle[Symbol.asyncDispose](),
  };
}

/** Opens the streams of subscribers, with the devices that use them. */
function openStreams(context: Context, messages: MessageStore): OpenStreams {
  const subscribers = new Subscribers(context.accounts, context.log);
  const live = new LiveMessages(context.db);
  const liveFeed = new LiveFeed({ context, messages, live, subscribers });
  return { subscribers, devices: new TopicDevices(context), liveFeed };
}

async function importData(dependencies: ImportDependencies, program: string, folder: string): Promise<ImportResult> {
  if (program === 'ntfy') return importNtfy(dependencies, folder);
  throw new Problem('push.unknown_program', 404, m.unknownProgram({ program }));
}
