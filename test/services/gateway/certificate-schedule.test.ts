import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../../services/gateway/acme/authority-errors.ts';
import { getRenewalTime, getRetryTime, isExpiringSoon } from '../../../services/gateway/acme/schedule.ts';

const dayMs = 24 * 3_600_000;
const minuteMs = 60_000;
const certificate = { madeAt: 0, expiresAt: 90 * dayMs };

describe('renewal time', () => {
  it('is at two thirds of the lifetime at the latest, and varies by a twentieth', () => {
    expect(getRenewalTime(certificate, 0)).toBe(60 * dayMs);
    expect(getRenewalTime(certificate, 1)).toBe(55.5 * dayMs);
  });
});

describe('retry time', () => {
  it('grows with each failure and honors the delay that the authority requests', () => {
    const getDelays = (retryAfterMs?: number): number[] =>
      [1, 2, 3].map((failures) => getRetryTime({ now: 0, failures, retryAfterMs }, undefined, 0) ?? 0);
    expect(getDelays()).toEqual([5 * minuteMs, 30 * minuteMs, 120 * minuteMs]);
    expect(getDelays(60 * minuteMs)).toEqual([60 * minuteMs, 60 * minuteMs, 120 * minuteMs]);
  });

  it('ends without a certificate after eight failures, and a week after the end of a certificate', () => {
    expect(getRetryTime({ now: 0, failures: 7 }, undefined, 0)).toBe(dayMs);
    expect(getRetryTime({ now: 0, failures: 8 }, undefined, 0)).toBeUndefined();
    expect(getRetryTime({ now: 96 * dayMs, failures: 40 }, certificate, 0)).toBe(97 * dayMs);
    expect(getRetryTime({ now: 98 * dayMs, failures: 41 }, certificate, 0)).toBeUndefined();
  });
});

describe('warning before the end', () => {
  it('begins two weeks before, or after four fifths of a short lifetime', () => {
    expect([75, 76].map((day) => isExpiringSoon(certificate, day * dayMs))).toEqual([false, true]);
    const short = { madeAt: 0, expiresAt: 10 * dayMs };
    expect([7, 8].map((day) => isExpiringSoon(short, day * dayMs))).toEqual([false, true]);
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    ['Thu, 01 Jan 1970 00:02:00 GMT', 120_000],
    ['99999999', 7 * dayMs],
    ['-5', undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (header, ms) => {
    expect(parseRetryAfter(header, 0)).toBe(ms);
  });
});
