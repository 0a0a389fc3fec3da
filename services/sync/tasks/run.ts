import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { TaskFields } from '../../contracts/sync/api.ts';
import { brakesOf, type DeleteLimits } from '../domain/delete-limits.ts';
import { boundDeletes, planOf, type Listing, type Plan, type PlannedFile } from '../domain/plan.ts';
import { replacedPlace } from '../domain/replaced-files.ts';
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

/** Where it goes from and to, as the engine may get it. */
export interface Ends {
  readonly source: string;
  readonly destination: string;
}

/** Looks what a run would do, stores it, and changes nothing. */
export async function preview(parts: RunParts, mover: Mover, job: Job, task: Task, ends: Ends): Promise<JobOutcome> {
  await makePlan(parts, mover, job, task, ends);
  return { status: 200, body: {} };
}

/**
 * Carries a saved sync out: looks first, and waits for somebody's word where it would delete too much; copies; then deletes
 * what was planned and is still as it was. `shown` is what somebody has looked at; then nothing is asked.
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
  // The copy took its time: what is deleted is judged by how it is now.
  const [source, destination] = await lists(mover, ends, options);
  if (destination.entries.length > 0 && source.entries.length === 0 && plan.sourceFiles > 0) {
    return { status: 409, body: { error: 'The source became empty; nothing was deleted.' }, state: 'failed' };
  }
  const bound = boundDeletes(plan, source, destination);
  await refuseLinks(ends.destination, [...pathsOf(bound.deletes), ...bound.deleteFolders]);
  const removed = await mover.remove(ends.destination, bound.deletes, replaced, options);
  if (removed.status !== 200) return removed;
  await mover.removeFolders(ends.destination, bound.deleteFolders, options);
  return { status: 200, body: {}, stats: { deletes: bound.deletes.length } };
}

/**
 * Puts back what a run replaced and deleted and takes away what it created, unless somebody has changed any of it since:
 * then nothing is touched.
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
  // What is no longer kept an earlier try has put back, which was cut off.
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

/** Times may have lost their fractions on the way. */
function isSame(found: PlannedFile | undefined, file: PlannedFile | undefined): boolean {
  if (found === undefined || file === undefined || found.size !== file.size) return false;
  return found.modifiedAt === null || file.modifiedAt === null || Math.abs(found.modifiedAt - file.modifiedAt) < 2000;
}

function pathsOf(...lists: readonly (readonly PlannedFile[])[]): readonly string[] {
  return lists.flat().map(({ path }) => path);
}

/** @throws Problem 422 where a run cannot keep what it replaces. */
export function replacedFor(destination: string, jobId: number): string {
  const place = replacedPlace(destination, jobId, process.platform === 'win32');
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
  const plan = planOf(source, destination, task.fields.mode);
  const brakes = brakesOf(plan, limits(task.fields));
  job.planId = await context.commit((transaction: Kysely<any>) =>
    plans.insert(transaction, {
      ...{ taskId: task.id, plan, brakes, fingerprint: fingerprintOf(task.fields) },
      now: context.clock.now(),
    }),
  );
  return { plan, brakes };
}

async function lists(mover: Mover, ends: Ends, options: MoverOptions): Promise<[Listing, Listing]> {
  return await Promise.all([mover.list(ends.source, options), listOrNothing(mover, ends.destination, options)]);
}

/** A destination that is not there yet is an empty one. */
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
