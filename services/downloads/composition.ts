import type { Context } from '../contracts/service.ts';
import { Intake } from './add/intake.ts';
import type { OptionFiles } from './add/option-files.ts';
import { Previews } from './add/previews.ts';
import { Prober } from './run/prober.ts';
import { createUrlPolicy, type UrlPolicy } from './engine/url-policy.ts';
import { Cookies } from './cookies/cookies.ts';
import type { CommandSettings } from './engine/command.ts';
import { createCommandSettings, withoutArchive } from './engine/command-settings.ts';
import { Driver } from './engine/driver.ts';
import { EngineMonitor } from './engine/engine-monitor.ts';
import { Extractor } from './engine/extractor.ts';
import { createRuntimeSearch, selectJavaScriptRuntime, type JavaScriptRuntime } from './engine/javascript-runtime.ts';
import { Limits } from './limits/limits.ts';
import { readFullHistory, type MetubeDependencies } from './metube-api/listener.ts';
import { admitLiveClient } from './metube-api/sign-in.ts';
import { DownloadsSocketIo } from './metube-api/socket-io.ts';
import { LiveUpdates } from './reporting/live-updates.ts';
import { Queue } from './queue/queue.ts';
import { QueueControl } from './queue/queue-control.ts';
import { ActiveRuns } from './run/active-runs.ts';
import { DownloadNotifier } from './reporting/download-notifier.ts';
import { DownloadRunner } from './run/download-runner.ts';
import { Folders } from './files/folders.ts';
import { createDownloadMetrics } from './reporting/metrics.ts';
import { Thumbnails } from './files/thumbnails.ts';
import type { Settings } from './settings.ts';
import { DownloadStore } from './store/store.ts';
import { Subscriptions } from './subscriptions/subscriptions.ts';
import type { Reporting } from './reporting/reporting.ts';

/** Components of the service: those of its routes, and those that only start and stop with it. */
export interface DownloadComponents {
  readonly routes: MetubeDependencies;
  readonly extractor: Extractor;
  readonly notifier: DownloadNotifier;
}

export function composeDownloads(context: Context, settings: Settings, optionFiles: OptionFiles): DownloadComponents {
  const store = new DownloadStore(context.db);
  const folders = new Folders(context.files, settings);
  const cookies = new Cookies(context, () => settings.ytdlOptions['cookiefile']);
  const thumbnails = new Thumbnails(context, settings);
  const urlPolicy = createUrlPolicy(settings);
  const runs = new ActiveRuns();
  const extraction = composeExtraction(context, settings, folders, cookies);
  const reporting = composeReporting(context, settings, store, runs);
  const processing = composeQueue(context, settings, { folders, urlPolicy, runs, extraction, reporting });
  const { engine, limits, prober, queue, runner } = processing;
  const { extractor, commandSettings } = extraction;
  const { live, notifier } = reporting;
  const files = { folders, thumbnails };
  const intake = new Intake({
    context,
    urlPolicy,
    reporting,
    engine,
    queue,
    execution: { prober, runner, runs },
    files,
    withoutArchive: (order) => withoutArchive(order, settings),
  });
  const feeds = { urlPolicy, prober, scan: () => settings.subscriptionScan };
  const subscriptions = new Subscriptions({ context, intake, queue, reporting, engine, thumbnails, feeds });
  const previews = new Previews({
    context,
    urlPolicy,
    extractor,
    thumbnails,
    cookies,
    settings: commandSettings,
    defaults: settings,
  });
  const socketIo = new DownloadsSocketIo({
    context,
    settings,
    folders,
    downloads: { store, live, history: () => readFullHistory(context) },
    subscriptions,
    optionFiles,
    admit: (request) => admitLiveClient(context, settings, request),
  });
  const downloads = { store, live, intake, previews };
  const queueing = { queue, queueControl: new QueueControl({ context, live, queue }), limits, engine };
  const routes = { context, settings, files, downloads, queueing, subscriptions, socketIo, cookies };
  return { routes, extractor, notifier };
}

/** Programs that read addresses and download from them. */
interface Extraction {
  readonly javaScript: JavaScriptRuntime;
  readonly extractor: Extractor;
  readonly commandSettings: CommandSettings;
  readonly driver: Driver;
}

function composeExtraction(context: Context, settings: Settings, folders: Folders, cookies: Cookies): Extraction {
  const { engines, clock, log, vault } = context;
  const javaScript = selectJavaScriptRuntime(createRuntimeSearch(engines));
  const extractor = new Extractor({
    engines,
    clock,
    log,
    get keepLoaded() {
      return settings.keepLoaded;
    },
    get allowPrivateAddresses() {
      return settings.allowPrivateAddresses;
    },
  });
  const commandSettings = createCommandSettings(settings, folders, javaScript);
  const driver = new Driver({ engines, extractor, clock, vault, cookies, log, settings: commandSettings });
  return { javaScript, extractor, commandSettings, driver };
}

function composeReporting(context: Context, settings: Settings, store: DownloadStore, runs: ActiveRuns): Reporting {
  return {
    live: new LiveUpdates(context.bus, context.clock),
    metrics: createDownloadMetrics(context.metrics, {
      active: () => runs.count('download'),
      queued: async () => (await store.counts()).get('waiting') ?? 0,
    }),
    notifier: new DownloadNotifier(context, settings),
  };
}

/** Queue with the components that decide when and how it runs. */
interface QueueComponents {
  readonly engine: EngineMonitor;
  readonly prober: Prober;
  readonly runner: DownloadRunner;
  readonly queue: Queue;
  readonly limits: Limits;
}

interface QueueCollaborators {
  readonly folders: Folders;
  readonly urlPolicy: UrlPolicy;
  readonly runs: ActiveRuns;
  readonly extraction: Extraction;
  readonly reporting: Reporting;
}

function composeQueue(
  context: Context,
  settings: Settings,
  { folders, urlPolicy, runs, extraction, reporting }: QueueCollaborators,
): QueueComponents {
  const { driver, javaScript } = extraction;
  const engine = new EngineMonitor(context, javaScript);
  const limits = new Limits(context);
  const prober = new Prober({ context, driver, folders, reporting });
  const runner = new DownloadRunner({
    context,
    settings,
    folders,
    driver,
    prober,
    reporting,
    engine,
    urlPolicy,
  });
  const queue = new Queue({
    context,
    settings,
    folders,
    live: reporting.live,
    engine,
    runs,
    runner,
    isOpen: () => limits.open,
  });
  return { engine, prober, runner, queue, limits };
}
