import type { Context } from '../../contracts/service.ts';
import type { Access } from '../access/access.ts';
import type { Engine } from '../engine/engine.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Settings } from '../settings.ts';
import type { JobStore } from '../store/jobs.ts';
import type { PlanStore } from '../store/plans.ts';
import type { TaskStore } from '../store/tasks.ts';
import { createLocalMover, isLocal } from './local-job.ts';
import { RcloneMover } from './rclone-mover.ts';
import type { SyncNotifications } from './sync-notifications.ts';
import { Tasks } from './tasks.ts';

interface TaskCollaborators {
  readonly access: Access;
  readonly engine: Engine;
  readonly jobs: Jobs;
  readonly notifications: SyncNotifications;
  readonly plans: PlanStore;
  readonly runs: JobStore;
  readonly store: TaskStore;
}

/** Creates the tasks, which copy between local folders without rclone while it is not installed. */
export function createTasks(
  context: Context,
  settings: Readonly<Pick<Settings, 'maxDeletes' | 'maxDeletePercent'>>,
  { engine, runs, store, ...collaborators }: TaskCollaborators,
): Tasks {
  return new Tasks({
    ...collaborators,
    stores: { runs, store },
    context,
    limits: ({ maxDeletes, maxDeletePercent }) => ({
      files: maxDeletes ?? settings.maxDeletes,
      percent: maxDeletePercent ?? settings.maxDeletePercent,
    }),
    createMover: async ({ source, destination }, job) => {
      const usesBuiltIn = isLocal(source, destination) && !(await engine.isInstalled());
      return usesBuiltIn ? createLocalMover(job, context) : new RcloneMover(engine, context);
    },
  });
}
