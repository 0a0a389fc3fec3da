import { expect, it } from 'vitest';
import { getHealth } from '../../../services/push/metrics/health.ts';

it.each([
  [{ today: 0, total: 0 }, 0, 'no messages yet'],
  [{ today: 0, total: 7 }, 2, 'no messages today, 2 listening'],
  [{ today: 1, total: 7 }, 0, '1 message today'],
  [{ today: 3, total: 7 }, 1, '3 messages today, 1 listening'],
])('describes %o with %i subscribers without empty parts', (statistics, listening, detail) => {
  expect(getHealth(true, statistics, listening)).toMatchObject({ state: 'up', detail });
});
