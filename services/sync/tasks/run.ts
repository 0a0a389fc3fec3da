import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { TaskFields } from '../../contracts/sync/api.ts';
import { getApprovalReasons, type DeleteLimits } from '../domain/delete-limits.ts';
import { findConfirmedDeletes, buildPlan, type Listing, type Plan, type PlannedFile } from '../domain/plan.ts';
import { getReplacedFilesFolder } from '../domain/replaced-files.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { fingerprintOf, type PlanStore, type StoredPlan } from '../store/plans.ts';
import type { Task } from '../store/tasks.ts';
import { refuseLinks } from './links.ts';
import type { Mover, MoverOptions } from './mover.ts';

export interface RunParts {
  readonly context: Pick<Context, 'clock' | 'commit'>;
  readonly plans: PlanStore;
  readonly limits: (fields: TaskFields) => DeleteLimits;
}

/** Checked source and destination. */
export interface Ends {
  readonly source: string;
  readonly destination: string;
}

/** Creates and stores a preview without changing files. */
export async function preview(parts: RunParts, mover: Mover, job: Job, task: Task, ends: Ends): Promise<JobOutcome> {
  await makePlan(parts, mover, job, task, ends);
  return { status: 200, body: {} };
}

/**
 * Runs a sync task: creates a plan, stops if it deletes too much without approval, copies, and then deletes the planned files
 * that are unchanged. `shown` is an approved preview.
 */
export async function carryOut(
  parts: RunParts,
  mover: Mover,
  job: Job,
  { task, ends, shown }: { readonly task: Task; readonly ends: Ends; readonly shown: StoredPlan | undefined },
): Promise<JobOutcome> {
  const options = optionsOf(job, task.fields);
  const { plan, brakes } =
    shown === undefined ? await makePlan(parts, mover, job, task, ends) : { ...shown, brakes: [] };
  if (brakes.length > 0) return { status: 409, body: { error: brakes.join(' ') }, state: 'held' };
  const replaced = task.fields.keepReplaced ? replacedFor(ends.destination, job.id) : undefined;
  options.signal.throwIfAborted();
  await refuseLinks(ends.destination, pathsOf(plan.creates, plan.updates));
  const copied = await mover.copy(ends.source, ends.destination, replaced, options);
  if (copied.status !== 200 || plan.deletes.length + plan.deleteFolders.length === 0) return copied;
  options.signal.throwIfAborted();
  // Deletes are checked against the current state, because the copy may have taken long.
  const [source, destination] = await lists(mover, ends, options);
  if (destination.entries.length > 0 && source.entries.length === 0 && plan.sourceFiles > 0) {
    return { status: 409, body: { error: 'The source became empty; nothing was deleted.' }, state: 'failed' };
  }
  const bound = findConfirmedDeletes(plan, source, destination);
  await refuseLinks(ends.destination, [...pathsOf(bound.deletes), ...bound.deleteFolders]);
  const removed = await mover.remove(ends.destination, bound.deletes, replaced, options);
  if (removed.status !== 200) return removed;
  await mover.removeFolders(ends.destination, bound.deleteFolders, options);
  return { status: 200, body: {}, stats: { deletes: bound.deletes.length } };
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
    ends,
    plan,
    runId,
  }: { readonly task: Task; readonly ends: Ends; readonly plan: Plan; readonly runId: number },
): Promise<JobOutcome> {
  const options = { ...optionsOf(job, task.fields), exclude: [] };
  const place = replacedFor(ends.destination, runId);
  const [there, kept] = await Promise.all([
    listOrNothing(mover, ends.destination, options),
    listOrNothing(mover, place, options),
  ]);
  const now = new Map(there.entries.map((entry) => [entry.path, entry]));
  const written = new Map([...plan.creates, ...plan.updates].map((file) => [file.path, file]));
  const back = kept.entries.filter(({ isFolder }) => !isFolder);
  const created = plan.creates.filter(({ path }) => now.has(path));
  // Skips files that an interrupted earlier undo already restored.
  const changed = [
    ...created.filter((file) => !isSame(now.get(file.path), file)),
    ...back.filter((file) => {
      const found = now.get(file.path);
      return found !== undefined && !isSame(found, file) && !isSame(found, written.get(file.path));
    }),
  ];
  const [first] = changed;
  if (first !== undefined) {
    const detail = `${first.path} was changed since${changed.length > 1 ? ', and others' : ''}; nothing was put back.`;
    throw new Problem('sync.changed_since', 409, detail);
  }
  await refuseLinks(ends.destination, pathsOf(created, back));
  const removed = await mover.remove(ends.destination, created, undefined, options);
  if (removed.status !== 200) return removed;
  return await mover.move(place, ends.destination, options);
}

/** Compares size and time with a tolerance of two seconds, because some locations store whole seconds. */
function isSame(found: PlannedFile | undefined, file: PlannedFile | undefined): boolean {
  if (found === undefined || file === undefined || found.size !== file.size) return false;
  return found.modifiedAt === null || file.modifiedAt === null || Math.abs(found.modifiedAt - file.modifiedAt) < 2000;
}

function pathsOf(...lists: readonly (readonly PlannedFile[])[]): readonly string[] {
  return lists.flat().map(({ path }) => path);
}

/** Returns the folder for replaced files. @throws Problem 422 if the destination has no parent folder. */
export function replacedFor(destination: string, jobId: number): string {
  const place = getReplacedFilesFolder(destination, jobId, process.platform === 'win32');
  if (place !== undefined) return place;
  const detail = 'What is replaced is kept beside the destination, so that must be a folder within something.';
  throw new Problem('sync.invalid', 422, detail, { fields: { keepReplaced: detail } });
}

async function makePlan(
  { context, plans, limits }: RunParts,
  mover: Mover,
  job: Job,
  task: Task,
  ends: Ends,
): Promise<{ readonly plan: Plan; readonly brakes: readonly string[] }> {
  const [source, destination] = await lists(mover, ends, optionsOf(job, task.fields));
  const plan = buildPlan(source, destination, task.fields.mode);
  const brakes = getApprovalReasons(plan, limits(task.fields));
  job.planId = await context.commit((transaction: Kysely<any>) =>
    plans.insert(transaction, {
      taskId: task.id,
      plan,
      brakes,
      fingerprint: fingerprintOf(task.fields),
      now: context.clock.now(),
    }),
  );
  return { plan, brakes };
}

async function lists(mover: Mover, ends: Ends, options: MoverOptions): Promise<[Listing, Listing]> {
  return await Promise.all([mover.list(ends.source, options), listOrNothing(mover, ends.destination, options)]);
}

/** Lists a destination; a missing one counts as empty. */
async function listOrNothing(mover: Mover, place: string, options: MoverOptions): Promise<Listing> {
  try {
    return await mover.list(place, options);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'sync.no_folder') throw error;
    return { entries: [], ignoresCase: false, precisionMs: null };
  }
}

function optionsOf(job: Job, { exclude }: TaskFields): MoverOptions {
  return { group: job.engineGroup, exclude, signal: job.stopping.signal };
}
