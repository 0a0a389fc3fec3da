import { defineService, type Context } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { Addresses } from './store/addresses.ts';
import { cookieHandlers } from './app-api/cookies.ts';
import { Cookies } from './cookies/cookies.ts';
import { removeEnded } from './queue/retention.ts';
import { Driver } from './engine/driver.ts';
import { rightsProblem } from './engine/file-permissions.ts';
import { Extractor } from './engine/extractor.ts';
import { EngineWatch } from './engine/engine-monitor.ts';
import { javaScriptOf } from './engine/javascript-runtime.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { manifest } from './manifest.ts';
import { Folders } from './run/folders.ts';
import { createUrlPolicy } from './add/url-policy.ts';
import { Intake } from './add/intake.ts';
import { Limits } from './limits/limits.ts';
import { Live } from './queue/live-updates.ts';
import { createDownloadMetrics } from './run/metrics.ts';
import { Notices } from './run/download-notifier.ts';
import { createPortable } from './queue/portable.ts';
import { Previews } from './add/previews.ts';
import { Prober } from './add/prober.ts';
import { Queue } from './queue/queue.ts';
import { downloadsHandlers } from './app-api/downloads.ts';
import { downloadsApp, wholeHistory, type RouteParts } from './metube-api/app.ts';
import { needsSignIn, requireGrant } from './metube-api/sign-in.ts';
import { openSocketIo } from './metube-api/socket-io.ts';
import { Runs } from './run/active-runs.ts';
import { OptionFiles } from './add/option-files.ts';
import { commandSettings, withoutArchive } from './engine/command-settings.ts';
import type { Settings } from './settings.ts';
import { QueueControl } from './queue/queue-control.ts';
import { subscriptionHandlers } from './app-api/subscriptions.ts';
import { Subscriptions } from './subscriptions/subscriptions.ts';
import { sealAddresses } from './store/seal-addresses.ts';
import { DownloadStore } from './store/store.ts';
import { Thumbnails } from './run/thumbnails.ts';
import { Work } from './run/download-runner.ts';

/** The extractor takes a second of a core to answer; the host's start comes first. */
const firstLookAfterMs = 1000;

/** Video downloads, answering like MeTube. */
export const downloads = defineService({
  ...manifest,
  create(context: Context, given) {
    const optionFiles = new OptionFiles(given, context);
    const live = createLiveSettings(given, async () => {
      await optionFiles.use(live.current);
      if (removing === undefined) return;
      remove();
      queue.wake();
    });
    const settings = withOptions(live.current, optionFiles);
    const parts = assemble(context, settings, optionFiles);
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
      notices,
    } = parts;
    const open = new AsyncDisposableStack();
    let removing: Disposable | undefined;
    /** Once there was one, nobody has to be told where to begin. */
    let hasAny = false;
    const remove = (): void => {
      removing?.[Symbol.dispose]();
      removing = removeEnded(context, parts.intake, settings.clearAfter);
    };
    return {
      http: downloadsApp(parts),
      upgrade: socketIo.upgrade,
      api: [...downloadsHandlers(parts), ...subscriptionHandlers(subscriptions, settings), ...cookieHandlers(cookies)],
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
        open.use(notices.handle(thumbnails));
        open.defer(() => removing?.[Symbol.dispose]());
        remove();
        const problem = rightsProblem(settings);
        if (problem !== undefined) context.log.warn(problem);
        open.use(context.clock.after(firstLookAfterMs, () => engine.look()));
        subscriptions.start();
      },
      async health() {
        const health = healthOf(queue, engine, optionFiles);
        if (health.state !== 'up') return health;
        const running = [...engine.running, ...parts.live.running].slice(0, 5);
        const shown = running.length > 0 ? { ...health, running } : health;
        hasAny ||= await new DownloadStore(context.reads).hasAny();
        return !hasAny ? { ...shown, begin: { label: 'Download a first video', to: '/downloads' } } : shown;
      },
      drain: { begin: () => queue.hold(), running: () => queue.active },
      reconfigure: live.update,
      async [Symbol.asyncDispose]() {
        await open.disposeAsync();
      },
    };
  },
});

/** The settings as they are at the moment, with the options of the files, which may change as well. */
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
): RouteParts & { readonly extractor: Extractor; readonly notices: Notices } {
  const { engines, clock, vault } = context;
  const store = new DownloadStore(context.db);
  const javaScript = javaScriptOf();
  const folders = new Folders(context.files, settings);
  const extractor = new Extractor({
    ...{ engines, clock, log: context.log },
    get keepLoaded() {
      return settings.keepLoaded;
    },
    get allowPrivateAddresses() {
      return settings.allowPrivateAddresses;
    },
  });
  const driverSettings = commandSettings(settings, folders, javaScript.args);
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
  const runs = new Runs();
  const live = new Live(context.bus, clock);
  const gate = createUrlPolicy(settings);
  const metrics = createDownloadMetrics(context.metrics, {
    active: () => runs.count('download'),
    queued: async () => (await store.counts()).get('waiting') ?? 0,
  });
  const engine = new EngineWatch(context, javaScript, () => queue.wake());
  const notices = new Notices(context, settings);
  const prober = new Prober({ context, driver, folders, live, metrics, notices });
  const work = new Work({ context, settings, folders, driver, prober, live, metrics, notices, engine, gate });
  const queue: Queue = new Queue({
    ...{ context, settings, folders, live, engine, runs, work },
    isOpen: () => limits.open,
  });
  const limits = new Limits(context, {
    async speed(limit) {
      const apart = await extractor.limit(
        limit === null ? null : { together: limit, each: Math.floor(limit / queue.bound) },
      );
      if (apart) await queue.restart();
    },
    opened: () => queue.wake(),
    closed: async () => await queue.close(),
  });
  const thumbnails = new Thumbnails(context, settings);
  const intake = new Intake({
    ...{ context, gate, live, metrics, notices, engine, prober, queue, work, runs, thumbnails, folders },
    unarchived: (order) => withoutArchive(order, settings),
  });
  const queueControl = new QueueControl({ context, live, queue });
  const subscriptions = new Subscriptions({
    context,
    gate,
    prober,
    intake,
    queue,
    live,
    metrics,
    notices,
    engine,
    thumbnails,
    scan: () => settings.subscriptionScan,
  });
  const socketIo = openSocketIo({
    settings,
    folders,
    store,
    live,
    subscriptions,
    optionFiles,
    history: () => wholeHistory(context),
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
      gate,
      extractor,
      thumbnails,
      cookies,
      settings: driverSettings,
      defaults: settings,
    }),
    subscriptions,
    cookies,
    extractor,
    notices,
  };
}

function healthOf(queue: Queue, engine: EngineWatch, { problem, leftOut }: OptionFiles): Health {
  if (engine.health !== undefined) return engine.health;
  if (problem !== undefined) return { state: 'degraded', detail: problem };
  if (leftOut !== undefined) {
    const remedy = { label: 'Correct the options', to: '/settings/downloads/ytdlOptions', adminOnly: true } as const;
    return { state: 'degraded', detail: leftOut, remedy };
  }
  return { state: 'up', detail: queue.active === 0 ? 'nothing to download' : `${queue.active} downloading` };
}
