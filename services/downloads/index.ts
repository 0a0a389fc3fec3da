import { defineService, type Context } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { Addresses } from './store/addresses.ts';
import { createCookieHandlers } from './app-api/cookies.ts';
import { Cookies } from './cookies/cookies.ts';
import { startRetention } from './queue/retention.ts';
import { Driver } from './engine/driver.ts';
import { findPermissionProblem } from './engine/file-permissions.ts';
import { Extractor } from './engine/extractor.ts';
import { EngineMonitor } from './engine/engine-monitor.ts';
import { selectJavaScriptRuntime } from './engine/javascript-runtime.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { manifest } from './manifest.ts';
import { Folders } from './run/folders.ts';
import { createUrlPolicy } from './add/url-policy.ts';
import { Intake } from './add/intake.ts';
import { Limits } from './limits/limits.ts';
import { LiveUpdates } from './queue/live-updates.ts';
import { createDownloadMetrics } from './run/metrics.ts';
import { DownloadNotifier } from './run/download-notifier.ts';
import { createPortable } from './queue/portable.ts';
import { Previews } from './add/previews.ts';
import { Prober } from './add/prober.ts';
import { Queue } from './queue/queue.ts';
import { createDownloadHandlers } from './app-api/downloads.ts';
import { createMetubeApp, readFullHistory, type MetubeDependencies } from './metube-api/app.ts';
import { needsSignIn, requireGrant } from './metube-api/sign-in.ts';
import { createDownloadsSocketIo } from './metube-api/socket-io.ts';
import { ActiveRuns } from './run/active-runs.ts';
import { OptionFiles } from './add/option-files.ts';
import { createCommandSettings, withoutArchive } from './engine/command-settings.ts';
import type { Settings } from './settings.ts';
import { QueueControl } from './queue/queue-control.ts';
import { createSubscriptionHandlers } from './app-api/subscriptions.ts';
import { Subscriptions } from './subscriptions/subscriptions.ts';
import { sealAddresses } from './store/seal-addresses.ts';
import { DownloadStore } from './store/store.ts';
import { Thumbnails } from './run/thumbnails.ts';
import { DownloadRunner } from './run/download-runner.ts';

/**
 * Delay before the engines are looked for: the check takes a second of a core, and the start of the host comes first.
 */
const firstCheckDelayMs = 1000;

/** Video downloads with the API of MeTube. */
export const downloads = defineService({
  ...manifest,
  create(context: Context, initial) {
    const optionFiles = new OptionFiles(initial, context);
    const live = createLiveSettings(initial, async () => {
      await optionFiles.apply(live.current);
      if (retention === undefined) return;
      restartRetention();
      queue.wake();
    });
    const settings = withOptions(live.current, optionFiles);
    const components = assemble(context, settings, optionFiles);
    const {
      queue,
      live: progress,
      engine,
      socketIo,
      extractor,
      limits,
      subscriptions,
      cookies,
      thumbnails,
      notifier,
    } = components;
    const open = new AsyncDisposableStack();
    let retention: Disposable | undefined;
    /** Remains true after the first download, so that the suggestion to begin is not shown again. */
    let hasAny = false;
    const restartRetention = (): void => {
      retention?.[Symbol.dispose]();
      retention = startRetention(context, components.intake, settings.clearAfter);
    };
    return {
      http: createMetubeApp(components),
      upgrade: socketIo.upgrade,
      api: [
        ...createDownloadHandlers(components),
        ...createSubscriptionHandlers(subscriptions, settings),
        ...createCookieHandlers(cookies),
      ],
      portable: createPortable(context, settings),
      async start() {
        open.use(optionFiles);
        await optionFiles.start();
        open.use(extractor);
        open.use(progress);
        open.use(socketIo);
        open.use(queue);
        open.use(engine);
        engine.start();
        open.use(limits);
        await sealAddresses(context, new Addresses(context.vault));
        await limits.start();
        open.use(subscriptions);
        await cookies.start();
        await queue.start();
        open.use(notifier.startDelivery(thumbnails));
        open.defer(() => retention?.[Symbol.dispose]());
        restartRetention();
        const problem = findPermissionProblem(settings);
        if (problem !== undefined) context.log.warn(problem);
        open.use(context.clock.after(firstCheckDelayMs, () => engine.checkInBackground()));
        subscriptions.start();
      },
      async health() {
        const health = getHealth(queue, engine, optionFiles);
        if (health.state !== 'up') return health;
        const running = [...engine.running, ...components.live.running].slice(0, 5);
        const withRunning = running.length > 0 ? { ...health, running } : health;
        hasAny ||= await new DownloadStore(context.reads).hasAny();
        return !hasAny ? { ...withRunning, begin: { label: 'Download a first video', to: '/downloads' } } : withRunning;
      },
      drain: { begin: () => queue.hold(), running: () => queue.active },
      reconfigure: live.update,
      async [Symbol.asyncDispose]() {
        await open.disposeAsync();
      },
    };
  },
});

/** Returns the current settings with the options of the option files, which may change as well. */
function withOptions(current: Settings, optionFiles: OptionFiles): Settings {
  const options = ['ytdlOptions', 'ytdlPresets'] as const;
  return new Proxy(current, {
    get: (target, name: keyof Settings) =>
      name === options[0] ? optionFiles.options : name === options[1] ? optionFiles.presets : target[name],
  });
}

function assemble(
  context: Context,
  settings: Settings,
  optionFiles: OptionFiles,
): MetubeDependencies & { readonly extractor: Extractor; readonly notifier: DownloadNotifier } {
  const { engines, clock, vault } = context;
  const store = new DownloadStore(context.db);
  const javaScript = selectJavaScriptRuntime();
  const folders = new Folders(context.files, settings);
  const extractor = new Extractor({
    engines,
    clock,
    log: context.log,
    get keepLoaded() {
      return settings.keepLoaded;
    },
    get allowPrivateAddresses() {
      return settings.allowPrivateAddresses;
    },
  });
  const driverSettings = createCommandSettings(settings, folders, javaScript.args);
  const cookies = new Cookies(context, () => settings.ytdlOptions['cookiefile']);
  const driver = new Driver({
    engines,
    extractor,
    clock,
    vault,
    cookies,
    log: context.log,
    settings: driverSettings,
  });
  const runs = new ActiveRuns();
  const live = new LiveUpdates(context.bus, clock);
  const urlPolicy = createUrlPolicy(settings);
  const metrics = createDownloadMetrics(context.metrics, {
    active: () => runs.count('download'),
    queued: async () => (await store.counts()).get('waiting') ?? 0,
  });
  const engine = new EngineMonitor(context, javaScript, () => queue.wake());
  const notifier = new DownloadNotifier(context, settings);
  const prober = new Prober({ context, driver, folders, live, metrics, notifier });
  const runner = new DownloadRunner({
    context,
    settings,
    folders,
    driver,
    prober,
    live,
    metrics,
    notifier,
    engine,
    urlPolicy,
  });
  const queue: Queue = new Queue({
    context,
    settings,
    folders,
    live,
    engine,
    runs,
    runner,
    isOpen: () => limits.open,
  });
  const limits = new Limits(context, {
    async speed(limit) {
      const mustRestart = await extractor.limit(
        limit === null ? null : { total: limit, perRun: Math.floor(limit / queue.maxRunning) },
      );
      if (mustRestart) await queue.restart();
    },
    opened: () => queue.wake(),
    closed: async () => await queue.stopOutsideHours(),
  });
  const thumbnails = new Thumbnails(context, settings);
  const intake = new Intake({
    context,
    urlPolicy,
    live,
    metrics,
    notifier,
    engine,
    prober,
    queue,
    runner,
    runs,
    thumbnails,
    folders,
    withoutArchive: (order) => withoutArchive(order, settings),
  });
  const queueControl = new QueueControl({ context, live, queue });
  const subscriptions = new Subscriptions({
    context,
    urlPolicy,
    prober,
    intake,
    queue,
    live,
    metrics,
    notifier,
    engine,
    thumbnails,
    scan: () => settings.subscriptionScan,
  });
  const socketIo = createDownloadsSocketIo({
    settings,
    folders,
    store,
    live,
    subscriptions,
    optionFiles,
    history: () => readFullHistory(context),
    admit: async (request) => {
      if (await needsSignIn(context, settings, request)) await requireGrant(context, request, 'read');
    },
    log: context.log,
  });
  return {
    context,
    settings,
    folders,
    store,
    intake,
    queue,
    live,
    engine,
    queueControl,
    thumbnails,
    socketIo,
    limits,
    previews: new Previews({
      context,
      urlPolicy,
      extractor,
      thumbnails,
      cookies,
      settings: driverSettings,
      defaults: settings,
    }),
    subscriptions,
    cookies,
    extractor,
    notifier,
  };
}

function getHealth(queue: Queue, engine: EngineMonitor, { problem, ignoredOptions }: OptionFiles): Health {
  if (engine.health !== undefined) return engine.health;
  if (problem !== undefined) return { state: 'degraded', detail: problem };
  if (ignoredOptions !== undefined) {
    const remedy = { label: 'Correct the options', to: '/settings/downloads/ytdlOptions', adminOnly: true } as const;
    return { state: 'degraded', detail: ignoredOptions, remedy };
  }
  return { state: 'up', detail: queue.active === 0 ? 'nothing to download' : `${queue.active} downloading` };
}
