import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LiveJobs, type State } from '../../../main/host/jobs/live-jobs.ts';
import type { JobRow } from '../../../main/host/jobs/table.ts';

const states: readonly State[] = ['stored', 'settling', 'blocked', 'running', 'ended', 'storing'];
/** Transitions from `stored` to each state. */
const ways: Record<State, readonly State[]> = {
  stored: [],
  settling: ['settling'],
  blocked: ['settling', 'blocked'],
  running: ['running'],
  ended: ['running', 'ended'],
  storing: ['running', 'ended', 'storing'],
};
const keys = { job_key: null, order_key: null };
const row: JobRow = { id: 1, kind: 'test.step', ...keys, payload: '{}', attempts: 1, created_at: 0, run_at: 0 };

function jobIn(state: State) {
  const live = new LiveJobs();
  const job = live.of(row);
  for (const step of ways[state]) live.move(job, step);
  return { live, job };
}

function allows(from: State, to: State): boolean {
  const { live, job } = jobIn(from);
  try {
    live.move(job, to);
  } catch {
    expect(job.state).toBe(from);
    return false;
  }
  expect(job.state).toBe(to);
  return true;
}

it('allows only the documented state transitions', () => {
  const readme = readFileSync(new URL('../../../main/host/jobs/README.md', import.meta.url), 'utf8');
  const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
  const statesIn = (cell: string | undefined) => (cell?.match(/(?<=`)\w+(?=`)/g) ?? []).sort();
  const transitions = rows.map((line) => {
    const [, from, , to] = line.split('|');
    return [...statesIn(from), statesIn(to)];
  });
  const allowed = states.map((from) => [from, states.filter((to) => allows(from, to)).sort()]);
  expect(transitions).toEqual(allowed);
});

it('contains a job only while its state differs from the table, once per id', () => {
  const { live, job } = jobIn('running');
  expect([live.get(1), live.size, live.running.size, live.endedJobs.size]).toEqual([job, 1, 1, 0]);
  expect(live.of(row)).toBe(job);
  live.move(job, 'ended');
  live.move(job, 'storing');
  expect([live.running.size, live.endedJobs.size]).toEqual([0, 1]);
  live.move(job, 'stored');
  expect([live.get(1), live.size, live.endedJobs.size]).toEqual([undefined, 0, 0]);
  const next = live.of(row);
  live.move(next, 'settling');
  expect(() => live.move(job, 'running')).toThrow('job 1 is another by now');
  expect(live.get(1)).toBe(next);
});
