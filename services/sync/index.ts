import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { defineService, type Context, type Health, type Service } from '../contracts/service.ts';
import { syncChanged } from '../contracts/sync/api.ts';
import { ConfigFile } from './engine/config-file.ts';
import { Engine } from './engine/engine.ts';
import { JobIds } from './jobs/ids.ts';
import { Jobs } from './jobs/jobs.ts';
import { manifest } from './manifest.ts';
import { createMetrics } from './metrics.ts';
import { Access } from './protocol/access.ts';
import { Dispatch } from './protocol/dispatch.ts';
import { syncListener } from './protocol/listener.ts';
import { ownCalls } from './protocol/own-calls.ts';
import type { Settings } from './settings.ts';
import { JobStore } from './store/jobs.ts';
import type { Tables } from './store/tables.ts';

/** File sync: rclone's remote control with a memory, brakes and a calendar. */
export const sync = defineService({ ...manifest, create });

function create(context: Context, settings: Settings): Service {
  const { clock } = context;
  const db: Kysely<Tables> = context.db;
  const open = new AsyncDisposableStack();
  const store = new JobStore(db);
  const ids = new JobIds(context);
  const executeId = randomUUID();
  const engine: Engine = new Engine({
    context,
    config: new ConfigFile(join(context.files, 'rclone.conf'), context),
    idleMs: settings.idleSeconds * 1000,
    bandwidth: settings.bandwidth,
    onComplaint: (complaint) => jobs.complained(complaint),
  });
  const jobs: Jobs = new Jobs({
    context,
    engine: () => engine,
    ids,
    store,
    onChange: ({ id }) => context.bus.publish(syncChanged, { jobId: id }),
    onEnd(job) {
      metrics.ended(job);
      if (job.order.durable) context.bus.publish(syncChanged, { jobId: job.id });
    },
  });
  const metrics = createMetrics(context.metrics, {
    running: () => jobs.running.filter(({ order }) => order.durable).length,
    engineUp: () => engine.isRunning,
  });
  const access = new Access(context.accounts);
  const own = ownCalls({ jobs, store, engine: () => engine, executeId });
  const dispatch = new Dispatch({
    ...{ access, jobs, ids, executeId, own, engine: () => engine },
    without: async () => undefined,
  });

  return {
    http: syncListener({ context, access, dispatch, jobs, engine: () => engine, answered: metrics.answered }),
    async start() {
      open.use(engine);
      open.use(jobs);
      await context.commit((transaction: Kysely<Tables>) => store.interrupt(transaction, clock.now()));
    },
    async health(): Promise<Health> {
      const running = jobs.running.filter(({ order }) => order.durable).length;
      if (running > 0) return { state: 'up', detail: `${String(running)} running` };
      return { state: 'up', detail: 'nothing runs' };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
