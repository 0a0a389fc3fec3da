import { expect, it } from 'vitest';
import { historyOf } from '../../renderer/src/pages/uptime/history.ts';
import { groupOf } from '../../renderer/src/pages/uptime/monitor-filter.ts';
import { percentWords } from '../../renderer/src/pages/uptime/words.ts';
import type { Beat } from '../../services/contracts/uptime/views.ts';

it('a share has two digits, and is never rounded up to a whole', () => {
  expect([1, 0.99999, 0.998, 0, null].map(percentWords)).toEqual(['100\u00a0%', '99.99\u00a0%', '99.80\u00a0%', '0.00\u00a0%', '']); // prettier-ignore
});

it('what is paused is neither up nor down, and what has no check yet waits', () => {
  const stood = (active: boolean, status: 0 | 1 | null) => groupOf({ active, state: { status } as never });
  expect([stood(true, 0), stood(true, 1), stood(false, 0), stood(true, null)]).toEqual(['down', 'up', 'paused', 'unknown']); // prettier-ignore
});

it('it stands since before its first check here, unless that was a change', () => {
  const beat = (status: 0 | 1, time: string): Beat => ({ status, msg: '', time }) as Beat;
  const at = (time: string): number => Date.parse(`2026-11-27T${time}Z`);
  const first = beat(1, '2026-11-27 12:00:00');
  expect(historyOf([first], at('03:00:00'))).toMatchObject([{ status: 1, began: at('03:00:00'), until: undefined }]);
  expect(historyOf([first, beat(0, '2026-11-27 11:00:00')], at('03:00:00'))).toMatchObject([
    { status: 1, began: at('12:00:00') },
    { status: 0, began: at('11:00:00'), until: at('12:00:00') },
  ]);
  expect(historyOf([], null)).toEqual([]);
});
