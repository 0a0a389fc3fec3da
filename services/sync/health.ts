import * as m from '#messages/sync-texts';
import { firstSentence } from '../contracts/first-sentence.ts';
import type { Health, ServiceWork } from '../contracts/health.ts';
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
    detail: () => m.healthRunning({ count: jobs.length }),
    running: jobs.slice(0, 5).map(toRunningWork),
  };
}

/** Returns the health while no job is running: tasks that need attention, or their number. */
export function getIdleHealth({ all, failed, heldTasks }: Awaited<ReturnType<TaskStore['getSummary']>>): Health {
  const [firstTask, secondTask] = [...failed, ...heldTasks];
  if (firstTask !== undefined) {
    const detail = (): string => formatAttention(failed, heldTasks);
    const to = secondTask === undefined ? `/sync/syncs/${String(firstTask.id)}` : '/sync';
    return { state: 'up', detail, remedy: { label: failed.length > 0 ? m.viewFailures : m.viewDetails, to } };
  }
  if (all === 0) return loadOnDemand.health;
  return { state: 'up', detail: () => m.healthIdle({ count: all }) };
}

function formatWork(kind: string, source: string, destination: string): string {
  if (source !== '' && destination !== '') return m.work({ source, destination });
  return source || destination || kind;
}

function toRunningWork({ order: { kind, source, destination }, stats }: Job): ServiceWork {
  const total = getNumber(stats, 'totalBytes');
  return {
    title: () => formatWork(kind, source ?? '', destination ?? ''),
    to: '/sync',
    percent: total <= 0 ? null : Math.min(100, Math.round((getNumber(stats, 'bytes') / total) * 100)),
  };
}

/** Formats `Papers failed, Photos needs approval`, with the reason if only one task failed. */
function formatAttention(failed: readonly FailedTask[], heldTasks: readonly Task[]): string {
  const [onlyTask] = failed;
  if (onlyTask !== undefined && failed.length + heldTasks.length === 1) {
    const why = firstSentence(findExplanation(onlyTask, onlyTask.fields.source) ?? '') ?? '';
    const { name } = onlyTask.fields;
    return why === '' ? m.taskFailed({ name }) : m.taskFailedReason({ name, reason: why });
  }
  const joinTaskNames = (tasks: readonly Task[]): string => joinNames(tasks.map(({ fields }) => fields.name));
  const failedText = m.tasksFailed({ names: joinTaskNames(failed) });
  const heldText = m.tasksHeld({ count: heldTasks.length, names: joinTaskNames(heldTasks) });
  if (failed.length === 0) return heldText;
  return heldTasks.length === 0 ? failedText : m.tasksFailedAndHeld({ failed: failedText, held: heldText });
}
