import { firstSentence } from '../contracts/first-sentence.ts';
import type { Health, RunningWork } from '../contracts/health.ts';
import { joinNames } from '../kit/join-names.ts';
import { findExplanation } from './domain/failure-cause.ts';
import { getNumber } from './domain/stats.ts';
import type { Job } from './jobs/job.ts';
import { loadOnDemand } from './load-on-demand.ts';
import type { FailedTask, Task, TaskStore } from './store/tasks.ts';

/** Returns the health while jobs are running. */
export function getRunningHealth(jobs: readonly Job[]): Health {
  return {
    state: 'up',
    detail: `${String(jobs.length)} running`,
    running: jobs.slice(0, 5).map(toRunningWork),
  };
}

/** Returns the health while no job is running: tasks that need attention, or their number. */
export function getIdleHealth({ all, failed, heldTasks }: Awaited<ReturnType<TaskStore['getSummary']>>): Health {
  const [firstTask, secondTask] = [...failed, ...heldTasks];
  if (firstTask !== undefined) {
    const detail = formatAttention(failed, heldTasks);
    const to = secondTask === undefined ? `/sync/syncs/${String(firstTask.id)}` : '/sync';
    return { state: 'up', detail, remedy: { label: failed.length > 0 ? 'See what failed' : 'See why', to } };
  }
  if (all === 0) return loadOnDemand.health;
  return { state: 'up', detail: `${all === 1 ? '1 sync' : `${String(all)} syncs`}, none running` };
}

function toRunningWork({ order: { kind, source, destination }, stats }: Job): RunningWork {
  const total = getNumber(stats, 'totalBytes');
  const ends = [source, destination].filter((end) => end !== undefined && end !== '');
  return {
    title: ends.length === 0 ? kind : ends.join(' to '),
    to: '/sync',
    percent: total <= 0 ? null : Math.min(100, Math.round((getNumber(stats, 'bytes') / total) * 100)),
  };
}

/** Formats `Papers failed, Photos is held back`, with the reason if only one task failed. */
function formatAttention(failed: readonly FailedTask[], heldTasks: readonly Task[]): string {
  const [onlyTask] = failed;
  if (onlyTask !== undefined && failed.length + heldTasks.length === 1) {
    const why = firstSentence(findExplanation(onlyTask, onlyTask.fields.source) ?? '') ?? '';
    return `${onlyTask.fields.name} failed${why === '' ? '' : `: ${why}`}`;
  }
  const joinTaskNames = (tasks: readonly Task[]): string => joinNames(tasks.map(({ fields }) => fields.name));
  return [
    ...(failed.length === 0 ? [] : [`${joinTaskNames(failed)} failed`]),
    ...(heldTasks.length === 0
      ? []
      : [`${joinTaskNames(heldTasks)} ${heldTasks.length === 1 ? 'is' : 'are'} held back`]),
  ].join(', ');
}
