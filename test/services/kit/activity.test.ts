import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createBus } from '../../../main/host/services/bus.ts';
import { defineTopic } from '../../../services/contracts/bus.ts';
import { Activity } from '../../../services/kit/activity.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';

const worked = defineTopic('test.worked', z.object({ time: z.number() }));

it('publishes one event for all changes within half a second, and none after disposal', async () => {
  const clock = createFakeClock();
  const bus = createBus(silentLog);
  const published: number[] = [];
  bus.subscribe(worked, ({ time }) => published.push(time));
  const activity = new Activity({ bus, clock }, worked);
  activity.touch();
  activity.touch();
  clock.advance(499);
  await nextTurn();
  expect(published).toEqual([]);
  clock.advance(1);
  await nextTurn();
  expect(published).toEqual([clock.now()]);
  activity.touch();
  clock.advance(500);
  await nextTurn();
  expect(published).toHaveLength(2);
  activity.touch();
  activity[Symbol.dispose]();
  activity.touch();
  clock.advance(5000);
  await nextTurn();
  expect(published).toHaveLength(2);
});
