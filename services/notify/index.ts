import { notificationAccepted, notificationOffered, notifyActivity } from '../contracts/notify/notification.ts';
import { jobsChanged } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import type { Fetch } from '../contracts/outgoing.ts';
import { defineService, type Context } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { getKindTitle } from '../contracts/notify/kind-title.ts';
import { Activity } from '../kit/activity.ts';
import { joinNames } from '../kit/join-names.ts';
import { Aggregator } from './accept/aggregator.ts';
import { NoticeIndex } from './accept/notification-index.ts';
import { AttachmentFolder } from './attachments/folder.ts';
import { Deliveries } from './deliver/deliveries.ts';
import { servedBy, type IsServed } from './destinations/service-filter.ts';
import { engineProgress } from '../contracts/control/engines.ts';
import { retryWaiting } from './apprise/retry-waiting.ts';
import { EngineCatalogue } from './apprise/catalogue.ts';
import { EngineDestinations } from './apprise/destinations.ts';
import { Library } from './apprise/library.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { manifest } from './manifest.ts';
import { FirstAttempts } from './deliver/first-attempts.ts';
import { deliverySums } from './deliver/delivery-sums.ts';
import { RecentCache } from './deliver/recent-cache.ts';
import { createPortable } from './import/portable.ts';
import { urlsIn } from './keys/read-key.ts';
import { notifyHandlers } from './app-api/api.ts';
import { createApp } from './apprise-api/app.ts';
import { SealedDestinations } from './keys/sealed-destinations.ts';
import { Sending } from './deliver/delivery-sender.ts';
import { ShownUrls } from './keys/masked-urls.ts';
import { AttachmentStore } from './store/attachments.ts';
import { ConfigurationStore } from './store/configurations.ts';
import { EngineUrlStore } from './store/engine-urls.ts';
import { HealthStore } from './store/health.ts';
import { NoticeStore } from './store/notifications.ts';
import { sealShownUrls } from './store/seal-masked-urls.ts';
import { takeOverAppriseApi } from './import/apprise-api.ts';

const hourMs = 3_600_000;

/** The notification aggregator: takes notices, routes them by tags, delivers them through a durable outbox. */
export const notify = defineService({
  ...manifest,
  create(context, given) {
    const live = createLiveSettings(given, () => {
      allowed = servedBy(settings.allowServices, settings.denyServices);
      aggregator.forgetKeys();
    });
    const settings = live.current;
    const { singleHost, bus, clock, db, handovers, jobs, log, metrics, vault } = context;
    const activity = new Activity(context, notifyActivity);
    const notices = new NoticeStore(db);
    const index = new NoticeIndex(context);
    const configurations = new ConfigurationStore(db, vault, singleHost);
    const firstAttempts = new FirstAttempts(clock);
    const attachments = new AttachmentStore(db, () => settings.keptFilesBytes);
    const folder = new AttachmentFolder(context);
    const library = new Library(context);
    const engine = new EngineDestinations({ ...context, library, store: new EngineUrlStore(db) });
    const engineCatalogue = new EngineCatalogue({ ...context, library });
    const fresh = new RecentCache();
    const health = new HealthStore(context);
    const shownUrls = new ShownUrls(vault);
    const sealed = new SealedDestinations(vault, engine, shownUrls);
    const kept = { notices, attachments, folder, firstAttempts, engine, fresh, health, sealed };
    let allowed = servedBy(settings.allowServices, settings.denyServices);
    const isServed: IsServed = (destination) => allowed(destination);
    const out = { ...context, fetch: withRedirects(context.fetch, () => settings.redirects) };
    const sending = new Sending(out, { ...kept, emojis: () => settings.emojis });
    const deliveries = new Deliveries(context, { ...kept, sending, changed: activity.touch });
    const aggregator = new Aggregator(context, { ...kept, configurations, deliveries }, { now: settings, isServed });
    const sums = deliverySums(context, activity);
    const open = new DisposableStack();

    let sealing: Promise<void> | undefined;
    let indexing: AsyncDisposable | undefined;
    let stopped = false;

    const countWaiting = async (): Promise<number> => {
      await jobs.flush();
      return notices.countWaiting();
    };
    metrics.gauge({
      name: 'aggregator_outbox_pending',
      help: 'Deliveries that wait for their first or next attempt.',
      collect: countWaiting,
    });

    const clear = async (): Promise<void> => {
      const before = clock.now() - settings.historyDays * 24 * hourMs;
      await notices.prune(before);
      await health.prune(before);
      await folder.sweep(await attachments.needed());
      await engine.forgetOthers(await urlsInUse(configurations));
    };
    const prune = (): void => {
      clear().catch((error: unknown) => log.warn('history was not cleared', { error }));
    };

    const engineChanged = (): void => {
      activity.touch();
      engine
        .ready()
        .then((ready) => (ready ? retryWaiting(jobs) : undefined))
        .catch((error: unknown) => log.warn('waiting deliveries were not made due', { error }));
    };

    return {
      http: createApp({ context, aggregator, folder, configurations, engine, engineCatalogue, settings, isServed }),
      api: notifyHandlers({
        ...{ context, aggregator, configurations, notices, index, attachments, folder },
        ...{ activity, engine, health, settings, isServed, sums },
      }),
      portable: createPortable(configurations, clock),
      importData(program, place, options) {
        const into = { store: configurations, engine, clock, environment: process.env };
        if (program === 'apprise-api') return takeOverAppriseApi(place, into, options);
        throw new Problem(
          'notify.unknown_program',
          404,
          `Notifications are taken over from apprise-api only, not from ${program}.`,
        );
      },
      async start() {
        sealing = sealShownUrls(context, shownUrls, () => stopped).catch((error: unknown) =>
          log.warn('addresses of an older version are not all sealed yet', { error }),
        );
        open.use(await deliveries.start());
        open.use(handovers.receive(notificationOffered, (offer, key) => aggregator.take(offer, key)));
        indexing = index.start();
        open.use(activity);
        open.use(sums);
        open.use(bus.subscribe(notifyActivity, sums.invalidate));
        open.use(
          bus.subscribe(jobsChanged, ({ service }) => {
            if (service !== manifest.id) return;
            sums.invalidate();
            activity.touch();
          }),
        );
        open.use(bus.subscribe(notificationAccepted, activity.touch));
        open.use(clock.every(hourMs, prune));
        open.use(
          bus.subscribe(
            engineProgress,
            ({ name, work }) => void (name === 'apprise' && work === null && engineChanged()),
          ),
        );
      },
      async health(): Promise<Health> {
        const waiting = await countWaiting();
        const { failing } = deliveries;
        const to = '/delivery';
        if (failing.length === 0) {
          const isNew = !(await configurations.isWritten());
          const idle = isNew ? 'no destinations of your own yet' : 'all delivered';
          const detail = waiting === 0 ? idle : `${waiting} on their way`;
          return { state: 'up', detail, ...(isNew ? { begin: { label: 'Add a destination', to } } : {}) };
        }
        const remedy = { label: 'See the destinations', to };
        return { state: 'degraded', detail: `${whoFails(failing)} not take messages, ${waiting} waiting`, remedy };
      },
      reconfigure: live.update,
      async [Symbol.asyncDispose]() {
        open.dispose();
        stopped = true;
        await sealing;
        await indexing?.[Symbol.asyncDispose]();
        await health[Symbol.asyncDispose]();
        await library[Symbol.asyncDispose]();
      },
    };
  },
});

/** `Gotify does`, `Gotify and Home Assistant do`; several of one kind are counted, their name alone would not tell them apart. */
function whoFails(services: readonly string[]): string {
  if (services.length === 1) return `${joinNames(services.map(getKindTitle))} does`;
  const kinds = new Set(services);
  return kinds.size < services.length
    ? `${services.length} destinations do`
    : `${joinNames(services.map(getKindTitle))} do`;
}

/** Follows redirects as long as the settings say so. */
function withRedirects(fetch: Context['fetch'], follows: () => boolean): Context['fetch'] {
  const once: Fetch = (url, options) => fetch(url, follows() ? options : { ...options, maxRedirects: 0 });
  return Object.assign(once, { stream: fetch.stream });
}

/** What all configurations name. */
async function urlsInUse(configurations: ConfigurationStore): Promise<readonly string[]> {
  const keys = await configurations.keys();
  const found = await Promise.all(keys.map((key) => configurations.find(key)));
  return found.flatMap((configuration) => (configuration === undefined ? [] : urlsIn(configuration)));
}
