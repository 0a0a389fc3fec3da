import type { ApiHandler } from '../contracts/api.ts';
import type { Health } from '../contracts/health.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { OptionFiles } from './add/option-files.ts';
import { createCookieHandlers } from './app-api/cookies.ts';
import { createDownloadHandlers } from './app-api/downloads.ts';
import { createSubscriptionHandlers } from './app-api/subscriptions.ts';
import { composeDownloads, type DownloadComponents } from './composition.ts';
import type { EngineMonitor } from './engine/engine-monitor.ts';
import { findPermissionProblem } from './files/file-permissions.ts';
import { manifest } from './manifest.ts';
import { createMetubeListener } from './metube-api/listener.ts';
import { createPortable } from './portable/portable.ts';
import type { Queue } from './queue/queue.ts';
import { startRetention } from './queue/retention.ts';
import type { Settings } from './settings.ts';
import { Addresses } from './store/addresses.ts';
import { sealAddresses } from './store/seal-addresses.ts';
import { DownloadStore } from './store/store.ts';

/**
 * Delay before the engines are looked for: the check takes a second of a core, and the start of the host comes first.
 */
const firstCheckDelayMs = 1000;

/** Video downloads with the API of MeTube. */
export const downloads = defineService({
  ...manifest,
  create: (context, settings) => new DownloadService(context, settings),
});

class DownloadService implements Service {
  readonly http: NonNullable<Service['http']>;
  readonly upgrade: NonNullable<Service['upgrade']>;
  readonly api: readonly ApiHandler[];
  readonly portable: NonNullable<Service['portable']>;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly drain = { begin: () => this.#components.queue.hold(), running: () => this.#components.queue.active };
  readonly #context: Context;
  readonly #settings: Settings;
  readonly #optionFiles: OptionFiles;
  readonly #components: DownloadComponents;
  readonly #resources = new AsyncDisposableStack();
  #retention: Disposable | undefined;
  /** Remains true after the first download, so that the suggestion to begin is not shown again. */
  #hasAny = false;

  constructor(context: Context, initialSettings: Settings) {
    const live = createLiveSettings(initialSettings, async () => {
      await this.#optionFiles.apply(live.current);
      if (this.#retention === undefined) return;
      this.#restartRetention();
      this.#components.queue.wake();
    });
    this.#context = context;
    this.#optionFiles = new OptionFiles(initialSettings, context);
    this.#settings = withOptions(live.current, this.#optionFiles);
    this.#components = composeDownloads(context, this.#settings, this.#optionFiles);
    const { cookies, socketIo, subscriptions } = this.#components;
    this.http = createMetubeListener(this.#components);
    this.upgrade = socketIo.upgrade;
    this.api = [
      ...createDownloadHandlers(this.#components),
      ...createSubscriptionHandlers(subscriptions, this.#settings),
      ...createCookieHandlers(cookies),
    ];
    this.portable = createPortable(context, this.#settings);
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { clock, log, vault } = this.#context;
    const { cookies, engine, limits, notifier, queue, subscriptions, thumbnails } = this.#components;
    const resources = this.#resources;
    resources.use(this.#optionFiles);
    await this.#optionFiles.start();
    resources.use(this.#components.extractor);
    resources.use(this.#components.live);
    resources.use(this.#components.socketIo);
    resources.use(queue);
    resources.use(engine);
    engine.start();
    resources.use(limits);
    await sealAddresses(this.#context, new Addresses(vault));
    await limits.start();
    resources.use(subscriptions);
    await cookies.start();
    await queue.start();
    resources.use(notifier.startDelivery(thumbnails));
    resources.defer(() => this.#retention?.[Symbol.dispose]());
    this.#restartRetention();
    const problem = findPermissionProblem(this.#settings);
    if (problem !== undefined) log.warn(problem);
    resources.use(clock.after(firstCheckDelayMs, () => engine.checkInBackground()));
    subscriptions.start();
  }

  async health(): Promise<Health> {
    const { engine, live, queue } = this.#components;
    const health = getHealth(queue, engine, this.#optionFiles);
    if (health.state !== 'up') return health;
    const running = [...engine.running, ...live.running].slice(0, 5);
    const withRunning = running.length > 0 ? { ...health, running } : health;
    this.#hasAny ||= await new DownloadStore(this.#context.db).hasAny();
    return this.#hasAny
      ? withRunning
      : { ...withRunning, begin: { label: 'Download a first video', to: '/downloads' } };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }

  #restartRetention(): void {
    this.#retention?.[Symbol.dispose]();
    const { intake } = this.#components;
    this.#retention = startRetention(
      this.#context,
      (uids, states) => intake.remove(uids, states),
      this.#settings.clearAfter,
    );
  }
}

/** Returns the current settings with the options of the option files, which may change as well. */
function withOptions(current: Settings, optionFiles: OptionFiles): Settings {
  const options = ['ytdlOptions', 'ytdlPresets'] as const;
  return new Proxy(current, {
    get: (target, name: keyof Settings) =>
      name === options[0] ? optionFiles.options : name === options[1] ? optionFiles.presets : target[name],
  });
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
