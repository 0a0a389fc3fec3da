import { expect, it } from 'vitest';
import { noProgress } from '../../../services/downloads/domain/item.ts';
import { LiveUpdates } from '../../../services/downloads/reporting/live-updates.ts';
import { createFakeClock } from '../../support/clock.ts';
import { anItem as item } from './sample-item.ts';

it('publishes progress four times a second, a new state immediately and no older progress after it', () => {
  const clock = createFakeClock();
  const events: string[] = [];
  const live = new LiveUpdates(
    { publish: () => undefined, subscribe: () => ({ [Symbol.dispose]: () => undefined }) },
    clock,
  );
  using _following = live.subscribe({
    changed: ({ state }, { percent }) => events.push(`${state} ${String(percent)}`),
    removed: () => undefined,
  });
  const reportProgress = (percent: number): void => live.progressed(item, { ...noProgress, percent });
  for (const percent of [10, 11, 12]) reportProgress(percent);
  expect(events).toEqual(['downloading 10']);
  clock.advance(250);
  expect(events).toEqual(['downloading 10', 'downloading 12']);
  reportProgress(13);
  live.changed({ ...item, state: 'paused' });
  expect(events.slice(2)).toEqual(['paused 13']);
  clock.advance(1000);
  expect(events.slice(2)).toEqual(['paused 13']);
  live[Symbol.dispose]();
});
