import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { ApiHandler } from '../contracts/api.ts';
import type { AccountData } from '../contracts/control/account-data.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { syncChanged } from '../contracts/sync/api.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { BandwidthLimiter } from './engine/bandwidth-limiter.ts';
import { ConfigFile } from './engine/config-file.ts';
import { Engine } from './engine/engine.ts';
import { RemoteSetups } from './engine/remote-setup.ts';
import { getIdleHealth, getRunningHealth } from './health.ts';
import { JobIds } from './jobs/job-ids.ts';
import type { Job, JobOutcome } from './jobs/job.ts';
import { Jobs } from './jobs/jobs.ts';
import { manifest } from './manifest.ts';
import { createMetrics } from './metrics.ts';
import { Access } from './access/access.ts';
import { Dispatch } from './rclone-api/dispatch.ts';
import type { Input } from './access/input.ts';
import { syncListener } from './rclone-api/listener.ts';
import { buildAppCalls } from './rclone-api/app-calls.ts';
import { syncHandlers } from './app-api/api.ts';
import type { Settings } from './settings.ts';
import { JobStore } from './store/jobs.ts';
import { PlanStore } from './store/plans.ts';
import type { Tables } from './store/tables.ts';
import { TaskStore } from './store/tasks.ts';
import { refuseReplacedFilesLinks } from './tasks/links.ts';
import { syncAccountData } from './tasks/account-data.ts';
import { isLocal, createLocalMover, runLocalSync } from './tasks/local-job.ts';
import { SyncNotifications } from './tasks/sync-notifications.ts';
import { RcloneMover } from './tasks/rclone-mover.ts';
import { Tasks } from './tasks/tasks.ts';
import { deleteExpired } from './tasks/cleanup.ts';

const hourMs = 3_600_000;

/** File sync: rclone's remote control with history, delete limits and schedules. */
export const sync = defineService({
  ...manifest,
  create: (context, settings) => new SyncService(context, settings),
});

class SyncService implements Service {
  readonly http: RequestListener;
  readonly api: readonly ApiHandler[];
  readonly accountData: AccountData;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly drain = { begin: () => this.#tasks.pauseSchedule(), running: () => this.#durableJobs().length };
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #resources = new AsyncDisposableStack();
  readonly #runs: JobStore;
  readonly #taskStore: TaskStore;
  readonly #config: ConfigFile;
  readonly #engine: Engine;
  readonly #bandwidth: BandwidthLimiter;
  readonly #jobs: Jobs;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #notifications: SyncNotifications;
  readonly #tasks: Tasks;

  constructor(context: Context, initialSettings: Settings) {
    const { clock } = context;
    const db: Kysely<Tables> = context.db;
    const engine = (): Engine => this.#engine;
    const live = createLiveSettings(initialSettings, () => this.#bandwidth.settingChanged());
    const ids = new JobIds(context);
    const access = new Access(context);
    const plans = new PlanStore(db);
    this.#context = context;
    this.#settings = live.current;
    this.#runs = new JobStore(db);
    this.#taskStore = new TaskStore(db);
    this.#bandwidth = new BandwidthLimiter({ clock, engine, setting: () => this.#settings.bandwidth });
    this.#config = new ConfigFile(join(context.files, 'rclone.conf'), context);
    this.#engine = new Engine({
      context,
      config: this.#config,
      idleMs: () => this.#settings.idleSeconds * 1000,
      rate: () => this.#bandwidth.rate,
      onFileError: (fileError) => this.#jobs.addLoggedError(fileError),
    });
    this.#jobs = this.#createJobs(ids);
    this.#metrics = createMetrics(context.metrics, {
      running: () => this.#durableJobs().length,
      engineUp: () => this.#engine.isRunning,
    });
    this.#notifications = new SyncNotifications(context);
    this.#tasks = this.#createTasks(access, plans);
    const dispatch = this.#createDispatch(access, ids);
    const [jobs, runs, tasks, taskStore] = [this.#jobs, this.#runs, this.#tasks, this.#taskStore];
    this.http = syncListener({ context, access, dispatch, jobs, engine, answered: this.#metrics.answered });
    const setups = new RemoteSetups(engine, clock);
    this.api = syncHandlers({ context, access, engine, jobs, runs, setups, tasks, taskStore, plans });
    this.accountData = syncAccountData({ commit: context.commit, db, jobs });
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { clock, commit } = this.#context;
    await this.#config.verify();
    this.#resources.use(this.#engine);
    this.#resources.use(this.#bandwidth);
    this.#bandwidth.start();
    this.#resources.use(this.#jobs);
    const interruptedTasks = await commit((transaction: Kysely<Tables>) =>
      this.#runs.interrupt(transaction, clock.now()),
    );
    this.#resources.use(this.#notifications.handle());
    this.#resources.use(this.#tasks);
    this.#resources.use(clock.every(hourMs, () => this.#deleteExpired()));
    await this.#tasks.start(interruptedTasks);
  }

  async health(): Promise<Health> {
    const running = this.#durableJobs();
    if (running.length > 0) return getRunningHealth(running);
    return getIdleHealth(await this.#taskStore.getSummary());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }

  #durableJobs(): readonly Job[] {
    return this.#jobs.running.filter(({ order }) => order.durable);
  }

  #createJobs(ids: JobIds): Jobs {
    const { bus, log } = this.#context;
    return new Jobs({
      context: this.#context,
      engine: () => this.#engine,
      ids,
      store: this.#runs,
      onChange({ id, order }) {
        if (order.durable) bus.publish(syncChanged, { jobId: id });
      },
      onEnd: (job) => {
        this.#metrics.ended(job);
        if (job.order.durable) bus.publish(syncChanged, { jobId: job.id });
        this.#tasks.ended(job).catch((error: unknown) => log.error('sync follow-up failed', { error }));
      },
    });
  }

  #createTasks(access: Access, plans: PlanStore): Tasks {
    const settings = this.#settings;
    return new Tasks({
      context: this.#context,
      access,
      jobs: this.#jobs,
      notifications: this.#notifications,
      plans,
      runs: this.#runs,
      store: this.#taskStore,
      limits: ({ maxDeletes, maxDeletePercent }) => ({
        files: maxDeletes ?? settings.maxDeletes,
        percent: maxDeletePercent ?? settings.maxDeletePercent,
      }),
      createMover: async ({ source, destination }, job) => {
        const usesBuiltIn = isLocal(source, destination) && !(await this.#engine.isInstalled());
        return usesBuiltIn ? createLocalMover(job, this.#context) : new RcloneMover(this.#engine, this.#context);
      },
    });
  }

  #createDispatch(access: Access, ids: JobIds): Dispatch {
    const engine = (): Engine => this.#engine;
    const executeId = randomUUID();
    return new Dispatch({
      access,
      jobs: this.#jobs,
      ids,
      executeId,
      appCalls: buildAppCalls({ jobs: this.#jobs, store: this.#runs, engine, executeId }),
      engine,
      findBuiltIn: (path, input) => findBuiltInJob(this.#engine, this.#context, path, input),
    });
  }

  #deleteExpired(): void {
    const { keepDays, keepReplacedDays } = this.#settings;
    deleteExpired({
      context: this.#context,
      runs: this.#runs,
      taskStore: this.#taskStore,
      purge: (location) => this.#purge(location),
      keepDays,
      keepReplacedDays,
    }).catch((error: unknown) => this.#context.log.error('history cleanup failed', { error }));
  }

  async #purge(location: string): Promise<void> {
    if (isLocal(location)) {
      await refuseReplacedFilesLinks(location, '');
      return await rm(location, { recursive: true, force: true });
    }
    const options = { group: 'upkeep', exclude: [], signal: new AbortController().signal };
    await new RcloneMover(this.#engine, this.#context).purge(location, options);
  }
}

/** Returns the work of a copy or sync between local folders that needs no rclone, while rclone is not installed. */
async function findBuiltInJob(
  engine: Engine,
  context: Context,
  path: string,
  input: Input,
): Promise<((job: Job) => Promise<JobOutcome>) | undefined> {
  const { srcFs: source, dstFs: destination } = input;
  if ((path !== 'sync/sync' && path !== 'sync/copy') || !isLocal(source, destination)) return undefined;
  const isPlain = Object.keys(input).every((key) => key === 'srcFs' || key === 'dstFs');
  if (!isPlain || (await engine.isInstalled())) return undefined;
  const mode = path === 'sync/sync' ? 'sync' : 'copy';
  return (job) => runLocalSync(job, context, { mode, source: String(source), destination: String(destination) });
}
