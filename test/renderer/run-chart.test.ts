import { describe, expect, it } from 'vitest';
import type { JobState, SyncJob } from '../../services/contracts/sync/api.ts';
import { getRunLimit, getRunResult, getRunUnit, getRunValue } from '../../renderer/src/pages/sync/jobs/run-chart.ts';

const totals: SyncJob['totals'] = {
  bytes: 2_500_000,
  totalBytes: 2_500_000,
  transfers: 12,
  totalTransfers: 12,
  checks: 0,
  deletes: 0,
  errors: 0,
  speed: 0,
  eta: null,
  transferring: [],
};
const run: SyncJob = {
  id: 1,
  kind: 'run',
  account: 'ada',
  source: '/a',
  destination: '/b',
  state: 'done',
  startedAt: 1_000_000,
  endedAt: 1_090_000,
  error: '',
  detail: '',
  lacksSource: false,
  taskId: 1,
  planId: null,
  totals,
  speeds: { step: 1, values: [] },
  canUndo: false,
};

describe('a run in the chart', () => {
  it.each([
    ['done', 0, 'done', 'circle'],
    ['done', 2, 'errors', 'triangle'],
    ['failed', 0, 'failed', 'cross'],
    ['stopped', 0, 'unfinished', 'square'],
    ['interrupted', 0, 'unfinished', 'square'],
    ['held', 0, 'unfinished', 'square'],
  ] as const)('has its own color and shape when it is %s with %i errors', (state: JobState, errors, id, shape) => {
    expect(getRunResult({ state, totals: { ...totals, errors } })).toMatchObject({ id, shape });
  });

  it('has its size, files and duration', () => {
    expect(getRunValue('size', run)).toBe(2_500_000);
    expect(getRunValue('files', run)).toBe(12);
    expect(getRunValue('duration', run)).toBe(90_000);
    expect(getRunValue('duration', { ...run, endedAt: null })).toBe(0);
  });

  it.each([
    [[55, 1.2, 1.2, 1.2, 1.9, 0], 1.9],
    [[30, 40, 1, 1, 1, 1, 1], 1],
    [[4, 1, 2, 3, 2], undefined],
    [[55, 1, 1, 1], undefined],
    [[], undefined],
  ])('ends the scale of %j at %s', (values, limit) => {
    expect(getRunLimit(values)).toBe(limit);
  });

  it('uses the unit of the largest value', () => {
    expect(getRunUnit('size', 2_500_000)).toMatchObject({ name: 'MB', length: 1e6 });
    expect(getRunUnit('size', 2_500_000).format(2.5)).toBe('2.5 MB');
    expect(getRunUnit('size', 900).format(0.9)).toBe('900 B');
    expect(getRunUnit('files', 12).format(12)).toBe('12 files copied');
    expect(getRunUnit('duration', 90_000).format(1.5)).toBe('1.5 min');
  });
});
