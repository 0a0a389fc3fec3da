import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { withOptions } from './add/effective-settings.ts';
import { OptionFiles } from './add/option-files.ts';
import { createCookieHandlers } from './app-api/cookies.ts';
import { createDownloadHandlers } from './app-api/downloads.ts';
import { createSubscriptionHandlers } from './app-api/subscriptions.ts';
import { composeDownloads } from './composition.ts';
import { findPermissionProblem } from './files/file-permissions.ts';
import { createHealth } from './health.ts';
import { manifest } from './manifest.ts';
import { createMetubeListener } from './metube-api/listener.ts';
import { createPortable } from './portable/portable.ts';
import { createLimitHandlers } from './queue/limit-handlers.ts';
import { Retention } from './queue/retention.ts';
import type { Settings } from './settings.ts';
import { Addresses } from './store/addresses.ts';
import { sealAddresses } from './store/seal-addresses.ts';

/**
 * Delay before the engines are looked for: the check takes a second of a core, and the start of the host comes first.
 */
const firstCheckDelayMs = 1000;

/** Video downloads with the API of MeTube. */
export const downloads = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { clock, leases, log, vault } = context;
  const resources = new AsyncDisposableStack();
  const live = createLiveSettings(initialSettings);
  const optionFiles = new OptionFiles(initialSettings, context);
  const settings = withOptions(live.current, optionFiles);
  const { routes, extractor, notifier } = composeDownloads(context, settings, optionFiles);
  const { cookies, downloads: records, files, queueing, socketIo, subscriptions } = routes;
  const { engine, limits, queue } = queueing;
  const retention = new Retention(context, settings, (uids, states) => records.intake.remove(uids, states));
  let isStarted = false;

  return {
    http: createMetubeListener(routes),
    upgrade: socketIo.upgrade,
    api: [
      ...createDownloadHandlers(routes),
      ...createSubscriptionHandlers(subscriptions, settings),
      ...createCookieHandlers(cookies),
    ],
    portable: createPortable(context, settings),
    drain: { begin: () => queue.hold(), running: () => queue.active },
    async start() {
      resources.use(optionFiles);
      await optionFiles.start();
      resources.use(extractor);
      resources.use(records.live);
      resources.use(socketIo);
      resources.use(queue);
      resources.use(engine);
      engine.start(() => queue.wake());
      resources.use(limits);
      await sealAddresses(context, new Addresses(vault));
      await limits.start(createLimitHandlers(extractor, queue));
      resources.use(subscriptions);
      await cookies.start();
      await queue.start();
      resources.use(notifier.startDelivery(files.thumbnails));
      resources.use(await leases.hold('retention', () => retention.start()));
      isStarted = true;
      const problem = findPermissionProblem(settings);
      if (problem !== undefined) log.warn(problem);
      resources.use(clock.after(firstCheckDelayMs, () => engine.checkInBackground()));
      resources.use(await leases.hold('subscriptions', () => subscriptions.start()));
    },
    health: createHealth(context, routes, optionFiles),
    reconfigure: (next) =>
      live.update(next, async () => {
        await optionFiles.apply(live.current);
        if (!isStarted) return;
        retention.restart();
        queue.wake();
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
