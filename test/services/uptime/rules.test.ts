import { formatSlot } from '../../../services/uptime/domain/slot-format.ts';
import { describe, expect, it } from 'vitest';
import { findDueWarnings } from '../../../services/uptime/domain/certificate.ts';
import { updateSlowness, notSlow, computeBaseline, defaultRule } from '../../../services/uptime/domain/degradation.ts';
import { judge, initialCheckState, type CheckState } from '../../../services/uptime/domain/judge.ts';
import {
  recordValue,
  createHistogram,
  parseHistogram,
  formatHistogram,
} from '../../../services/uptime/domain/histogram.ts';
import { Schedule } from '../../../services/uptime/check/schedule.ts';

const rules = { maxretries: 0, resendInterval: 0, upsideDown: false, retryOnlyOnStatusCodeFailure: false };

/** Evaluates heartbeats with these statuses. Returns the important ones and the notified ones. */
function simulate(statuses: readonly (0 | 1 | 2 | 3)[], change: Partial<typeof rules> = {}) {
  let checkState: CheckState = initialCheckState;
  return statuses.map((status, index) => {
    const verdict = judge({ ...rules, ...change }, checkState, { at: index * 1000, status, msg: '', ping: null });
    ({ state: checkState } = verdict);
    return [verdict.heartbeat.status, verdict.heartbeat.important, verdict.notification];
  });
}

describe('monitor history', () => {
  it('reports the recovery of an outage after maintenance', () => {
    expect(simulate([1, 0, 3, 1])).toEqual([
      [1, true, undefined],
      [0, true, 'down'],
      [3, true, undefined],
      [1, true, 'up'],
    ]);
  });

  it('reports no maintenance but a failure after it', () => {
    expect(simulate([1, 3, 1, 3, 0]).map(([, , tell]) => tell)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'down',
    ]);
  });

  it('sends reminders after the configured number of heartbeats', () => {
    expect(simulate([0, 0, 0, 0, 0, 1], { resendInterval: 2 }).map(([, , tell]) => tell)).toEqual([
      'down',
      undefined,
      'repeat',
      undefined,
      'repeat',
      'up',
    ]);
  });

  it('does not record a successful retry as a state change', () => {
    expect(simulate([1, 0, 1], { maxretries: 2 })).toEqual([
      [1, true, undefined],
      [2, false, undefined],
      [1, false, undefined],
    ]);
  });
});

describe('certificates', () => {
  const day = 86_400_000;
  const chain = (validTo: number, fingerprint256 = 'A') => ({
    trusted: true,
    error: null,
    chain: [
      { subject: 's', issuer: 'i', validFrom: 0, validTo, fingerprint256, kind: 'server' as const, names: [] },
      { subject: 'r', issuer: 'r', validFrom: 0, validTo: 1, fingerprint256: 'R', kind: 'root CA' as const, names: [] },
    ],
  });

  it('warns at each threshold once and again for a new certificate', () => {
    let state = {};
    const warned: (readonly [number, number])[] = [];
    for (let daysLeft = 30; daysLeft >= -2; daysLeft -= 0.5) {
      const result = findDueWarnings(chain(daysLeft * day), [7, 14, 21], state, 0);
      ({ notified: state } = result);
      warned.push(...result.due.map(({ threshold, daysRemaining }) => [threshold, daysRemaining] as const));
    }
    expect(warned).toEqual([
      [21, 21],
      [14, 14],
      [7, 7],
      [-1, 0],
    ]);
    expect(findDueWarnings(chain(5 * day), [7, 14, 21], state, 0).due).toEqual([]);
    expect(findDueWarnings(chain(5 * day, 'B'), [7, 14, 21], state, 0).due).toMatchObject([{ threshold: 7 }]);
  });
});

describe('degradation', () => {
  /** Evaluates one heartbeat per minute. Returns the indexes at which slow responses began and ended. */
  function watch(ping: (beat: number) => number, beats: number) {
    const week = createHistogram();
    let degradation = notSlow;
    const changes: [string, number][] = [];
    for (let beat = 0; beat < beats; beat += 1) {
      const verdict = updateSlowness(defaultRule, degradation, computeBaseline(defaultRule, week), ping(beat), beat);
      ({ slowness: degradation } = verdict);
      if (verdict.change !== undefined) changes.push([verdict.change, beat]);
      if (degradation.slowSince === null) recordValue(week, ping(beat));
    }
    return changes;
  }
  const getNoise = (beat: number) => ((beat * 7919) % 13) - 6;

  it('detects doubled response times within minutes', () => {
    const changes = watch((beat) => (beat >= 3000 && beat < 4500 ? 120 : 60) + getNoise(beat), 6000);
    expect(changes.map(([change]) => change)).toEqual(['began', 'ended']);
    expect(changes[0]?.[1]).toBeLessThan(3015);
    expect(changes[1]?.[1]).toBeLessThan(4515);
  });

  it('ignores occasional and alternating slow responses', () => {
    expect(watch((beat) => (beat % 50 === 0 ? 900 : 60) + getNoise(beat), 6000)).toEqual([]);
    expect(watch((beat) => (beat % 2 === 0 ? 20 : 200) + getNoise(beat), 6000)).toEqual([]);
    expect(watch((beat) => 60 * (1 + 0.35 * Math.sin((beat / 1440) * 2 * Math.PI)) + getNoise(beat), 10_000)).toEqual(
      [],
    );
  });

  it('stores a histogram in a short text', () => {
    const spread = createHistogram();
    for (const ping of [1, 20, 20, 21, 500, 60_000]) recordValue(spread, ping, 7);
    expect(parseHistogram(formatHistogram(spread))).toEqual(spread);
  });
});

describe('check schedule', () => {
  it('distributes checks evenly for any monitor IDs', () => {
    const schedule = new Schedule();
    for (let id = 1; id <= 1000; id += 1) schedule.set(id, 20_000, 0);
    const perSecond = new Array<number>(20).fill(0);
    for (let turn = schedule.take(20_000); turn !== undefined; turn = schedule.take(20_000)) {
      const second = Math.floor(turn.due / 1000) % 20;
      perSecond[second] = (perSecond[second] ?? 0) + 1;
    }
    expect(Math.min(...perSecond)).toBeGreaterThanOrEqual(48);
    expect(Math.max(...perSecond)).toBeLessThanOrEqual(52);
  });

  it('skips missed checks without drift', () => {
    const schedule = new Schedule();
    schedule.set(3, 1000, 0);
    const first = schedule.next() ?? 0;
    expect(schedule.take(first)).toMatchObject({ id: 3 });
    schedule.done(3, first + 5500);
    expect(schedule.next()).toBeCloseTo(first + 6000);
    schedule.moveTo(3, 10);
    schedule.remove(3);
    expect(schedule.take(1e9)).toBeUndefined();
  });
});

describe('times of maintenance', () => {
  const parseTime = (text: string): number => Date.parse(`${text}Z`);
  it.each([
    [
      parseTime('2026-11-26T02:00'),
      parseTime('2026-11-26T03:30'),
      'Thursday, November 26, 03:00 to 04:30 (Europe/Berlin).',
    ],
    [
      parseTime('2026-11-26T22:00'),
      parseTime('2026-11-27T01:00'),
      'Thursday, November 26, 23:00 to Friday, November 27, 02:00 (Europe/Berlin).',
    ],
    [parseTime('2026-11-26T02:00'), Infinity, 'Thursday, November 26, 03:00, until ended manually (Europe/Berlin).'],
  ])('are formatted in their time zone, %i to %i', (start, end, formatted) => {
    expect(formatSlot({ start, end }, 'Europe/Berlin')).toBe(formatted);
  });
});
