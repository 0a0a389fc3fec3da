import * as m from '#messages/sync-problems';
import type { Kysely } from 'kysely';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { TaskFields } from '../../contracts/sync/api.ts';
import { trashFolderName } from '../../contracts/sync/files.ts';
import { getApprovalReasons, type ApprovalReason, type DeleteLimits } from '../domain/delete-limits.ts';
import { findConfirmedDeletes, buildPlan, type Listing, type Plan, type PlannedFile } from '../domain/plan.ts';
import { getReplacedFilesFolder } from '../domain/replaced-files.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { getFingerprint, type PlanStore, type StoredPlan } from '../store/plans.ts';
import type { Task } from '../store/tasks.ts';
import { refuseLinks } from './links.ts';
import type { Mover, MoverOptions } from './mover.ts';

export interface RunDependencies {
  readonly context: Pick<Context, 'clock' | 'commit'>;
  readonly plans: PlanStore;
  readonly limits: (fields: TaskFields) => DeleteLimits;
}

/** Checked source and destination. */
export interface Endpoints {
  readonly source: string;
  readonly destination: string;
}

/** Creates and stores a preview without changing files. */
export async function preview(
  dependencies: RunDependencies,
  mover: Mover,
  job: Job,
  task: Task,
  endpoints: Endpoints,
): Promise<JobOutcome> {
  await createPlan(dependencies, mover, job, task, endpoints);
  return { status: 200, body: {} };
}

/**
 * Runs a sync task: creates a plan, stops if it deletes too much without approval, copies, and then deletes the planned files
 * that are unchanged. `shown` is an approved preview.
 */
export async function runTask(
  dependencies: RunDependencies,
  mover: Mover,
  job: Job,
  {
    task,
    endpoints,
    approvedPlan,
  }: { readonly task: Task; readonly endpoints: Endpoints; readonly approvedPlan: StoredPlan | undefined },
): Promise<JobOutcome> {
  const options = toMoverOptions(job, task.fields);
  const { plan, approvalReasons } =
    approvedPlan === undefined
      ? await createPlan(dependencies, mover, job, task, endpoints)
      : { plan: approvedPlan.plan, approvalReasons: [] };
  if (approvalReasons.length > 0) {
    const failure = failures.held.create({ reasons: [...approvalReasons] });
    return { status: 409, body: { error: failure.error }, state: 'held', failure };
  }
  const replaced = task.fields.keepReplaced ? requireReplacedFilesFolder(endpoints.destination, job.id) : undefined;
  options.signal.throwIfAborted();
  await refuseLinks(endpoints.destination, getPaths(plan.creates, plan.updates));
  const copyOutcome = await mover.copy(endpoints.source, endpoints.destination, replaced, options);
  if (copyOutcome.status !== 200 || plan.deletes.length + plan.deleteFolders.length === 0) return copyOutcome;
  options.signal.throwIfAborted();
  // Deletes are checked against the current state, because the copy may have taken long.
  const [source, destination] = await lists(mover, endpoints, options);
  if (destination.entries.length > 0 && source.entries.length === 0 && plan.sourceFiles > 0) {
    const failure = failures.sourceEmptied.create({});
    return { status: 409, body: { error: failure.error }, state: 'failed', failure };
  }
  const confirmed = findConfirmedDeletes(plan, source, destination);
  await refuseLinks(endpoints.destination, [...getPaths(confirmed.deletes), ...confirmed.deleteFolders]);
  const removeOutcome = await mover.remove(endpoints.destination, confirmed.deletes, replaced, options);
  if (removeOutcome.status !== 200) return removeOutcome;
  await mover.removeFolders(endpoints.destination, confirmed.deleteFolders, options);
  return { status: 200, body: {}, stats: { deletes: confirmed.deletes.length } };
}

/**
 * Undoes a run: restores replaced and deleted files and deletes created ones. Changes nothing if any of these files has changed
 * since.
 */
export async function undo(
  mover: Mover,
  job: Job,
  {
    task,
    endpoints,
    plan,
    runId,
  }: { readonly task: Task; readonly endpoints: Endpoints; readonly plan: Plan; readonly runId: number },
): Promise<JobOutcome> {
  const options = { ...toMoverOptions(job, task.fields), exclude: [] };
  const replacedFolder = requireReplacedFilesFolder(endpoints.destination, runId);
  const [destination, replaced] = await Promise.all([
    listOrEmpty(mover, endpoints.destination, options),
    listOrEmpty(mover, replacedFolder, options),
  ]);
  const currentEntries = new Map(destination.entries.map((entry) => [entry.path, entry]));
  const written = new Map([...plan.creates, ...plan.updates].map((file) => [file.path, file]));
  const restorable = replaced.entries.filter(({ isFolder }) => !isFolder);
  const created = plan.creates.filter(({ path }) => currentEntries.has(path));
  // Skips files that an interrupted earlier undo already restored.
  const changed = [
    ...created.filter((file) => !isSame(currentEntries.get(file.path), file)),
    ...restorable.filter((file) => {
      const current = currentEntries.get(file.path);
      return current !== undefined && !isSame(current, file) && !isSame(current, written.get(file.path));
    }),
  ];
  const [firstChanged] = changed;
  if (firstChanged !== undefined) {
    const { path } = firstChanged;
    throw new FailureProblem(409, failures.changedSince.create({ path, several: changed.length > 1 }));
  }
  await refuseLinks(endpoints.destination, getPaths(created, restorable));
  const removeOutcome = await mover.remove(endpoints.destination, created, undefined, options);
  if (removeOutcome.status !== 200) return removeOutcome;
  return await mover.move(replacedFolder, endpoints.destination, options);
}

/** Compares size and time with a tolerance of two seconds, because some locations store whole seconds. */
function isSame(current: PlannedFile | undefined, file: PlannedFile | undefined): boolean {
  if (current === undefined || file === undefined || current.size !== file.size) return false;
  return (
    current.modifiedAt === null || file.modifiedAt === null || Math.abs(current.modifiedAt - file.modifiedAt) < 2000
  );
}

function getPaths(...listBoth: readonly (readonly PlannedFile[])[]): readonly string[] {
  return listBoth.flat().map(({ path }) => path);
}

/** Returns the folder for replaced files. @throws Problem 422 if the destination has no parent folder. */
export function requireReplacedFilesFolder(destination: string, jobId: number): string {
  const replacedFolder = getReplacedFilesFolder(destination, jobId, hasWindowsPaths());
  if (replacedFolder !== undefined) return replacedFolder;
  const detail = m.noFolderForReplaced();
  throw new Problem('sync.invalid', 422, detail, { fields: { keepReplaced: detail } });
}

async function createPlan(
  { context, plans, limits }: RunDependencies,
  mover: Mover,
  job: Job,
  task: Task,
  endpoints: Endpoints,
): Promise<{ readonly plan: Plan; readonly approvalReasons: readonly ApprovalReason[] }> {
  const [source, destination] = await lists(mover, endpoints, toMoverOptions(job, task.fields));
  const plan = buildPlan(source, destination, task.fields.mode);
  const approvalReasons = getApprovalReasons(plan, limits(task.fields));
  job.planId = await context.commit((transaction: Kysely<any>) =>
    plans.insert(transaction, {
      taskId: task.id,
      plan,
      approvalReasons,
      fingerprint: getFingerprint(task.fields),
      now: context.clock.now(),
    }),
  );
  return { plan, approvalReasons };
}

async function lists(mover: Mover, endpoints: Endpoints, options: MoverOptions): Promise<[Listing, Listing]> {
  return await Promise.all([mover.list(endpoints.source, options), listOrEmpty(mover, endpoints.destination, options)]);
}

/** Lists a destination; a missing one counts as empty. */
async function listOrEmpty(mover: Mover, replacedFolder: string, options: MoverOptions): Promise<Listing> {
  try {
    return await mover.list(replacedFolder, options);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'sync.no_folder') throw error;
    return { entries: [], ignoresCase: false, precisionMs: null };
  }
}

function toMoverOptions(job: Job, { exclude }: TaskFields): MoverOptions {
  return { group: job.engineGroup, exclude: [`${trashFolderName}/**`, ...exclude], signal: job.stopping.signal };
}
