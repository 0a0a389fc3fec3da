import { expect, it } from 'vitest';
import { readTexts } from '../../../services/contracts/text.ts';
import { getHealth } from '../../../services/push/metrics/health.ts';

it.each([
  [{ today: 0, total: 0 }, 0, 'No messages yet'],
  [{ today: 0, total: 7 }, 2, 'No messages today · 2 subscribers'],
  [{ today: 1, total: 7 }, 0, '1 message today'],
  [{ today: 3, total: 7 }, 1, '3 messages today · 1 subscriber'],
])('describes %o with %i subscribers without empty parts', (statistics, listening, detail) => {
  expect(readTexts(getHealth(true, statistics, listening))).toMatchObject({ state: 'up', detail });
});
