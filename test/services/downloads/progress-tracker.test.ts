import { expect, it } from 'vitest';
import type { Item, Progress } from '../../../services/downloads/domain/item.ts';
import { readEvent } from '../../../services/downloads/domain/progress.ts';
import { ProgressTracker } from '../../../services/downloads/run/progress-tracker.ts';
import type { LiveUpdates } from '../../../services/downloads/reporting/live-updates.ts';

function follow(lines: readonly string[], partialBytes = 0): readonly string[] {
  const states: string[] = [];
  const live = {
    progressed: ({ state }: Item, { stream, percent, activity }: Progress) =>
      states.push([state, stream, percent, activity?.kind ?? null].filter((entry) => entry !== null).join(' ')),
  } as unknown as LiveUpdates;
  const item = { state: 'downloading', title: 'T', playlist: null } as unknown as Item;
  const follower = new ProgressTracker(item, live, () => Promise.resolve(), partialBytes);
  for (const line of lines) {
    const event = readEvent(line);
    if (event !== undefined) follower.handle(event);
  }
  return states;
}

const part = (status: string, done: number): string =>
  `P {"status": "${status}", "downloaded_bytes": ${done}, "total_bytes": 100}`;

it('reports the current one of two streams and their processing', () => {
  const lines = [
    ...['B {"id": "1", "title": "T", "format_id": "137+140"}', part('downloading', 50), part('finished', 100)],
    ...[part('finished', 100), part('downloading', 10), part('finished', 100)],
    'Q {"status": "started", "postprocessor": "Merger"}',
  ];
  expect(follow(lines)).toEqual([
    ...['downloading video 50', 'downloading video 100', 'downloading video 100'],
    ...['downloading audio 10', 'downloading audio 100', 'postprocessing 100 merging'],
  ]);
});

it('reports no stream if there is only one', () => {
  expect(follow(['B {"id": "1", "format_id": "22"}', part('downloading', 50)])).toEqual(['downloading 50']);
});

it('reports a transfer that was restarted instead of continued', () => {
  const states = follow(['B {"id": "1", "format_id": "22"}', part('downloading', 20), part('downloading', 30)], 50);
  expect(states).toEqual(['downloading 20 restarted', 'downloading 30 restarted']);
  expect(follow([part('downloading', 50), part('downloading', 60), part('downloading', 10)], 50)).toEqual([
    ...['downloading 50', 'downloading 60', 'downloading 10 restarted'],
  ]);
  // The video was complete, so only the audio is resumed.
  const lines = ['B {"id": "1", "format_id": "1+2"}', part('finished', 100), part('downloading', 10)];
  expect(follow(lines, 10)).toEqual(['downloading video 100', 'downloading audio 10']);
});
