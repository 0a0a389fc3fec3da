import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getRate } from '../../../services/sync/domain/bandwidth.ts';
import { createFakeClock } from '../../support/clock.ts';
import { listEnginePids, lacksRclone, openSyncFixture, until, type SyncFixture } from './sync-fixture.ts';

const change = (fixture: SyncFixture, values: Record<string, unknown>): Promise<{ restarted: string[] }> =>
  fixture.api('PATCH', '/api/settings/sync', values);

describe.skipIf(lacksRclone)('a changed bandwidth', () => {
  it('applies to a client’s running sync without ending it', async () => {
    await using fixture = await openSyncFixture();
    await change(fixture, { bandwidth: '200k' });
    fixture.write({ 'from/big': 'x'.repeat(12_000_000) });
    const to = join(fixture.folder, 'to');
    const call = fixture.call('sync/copy', { srcFs: join(fixture.folder, 'from'), dstFs: to });
    await until(
      async () => existsSync(to) && readdirSync(to).length > 0,
      (has) => has,
    );
    const [pid] = listEnginePids(fixture);
    expect(await change(fixture, { bandwidth: '300k' })).toMatchObject({ restarted: [] });
    expect((await fixture.call('core/bwlimit')).body.rate).toBe('300Ki');
    expect(await change(fixture, { bandwidth: '' })).toMatchObject({ restarted: [] });
    // The transfer would take 40 s at 300 KiB/s.
    const since = Date.now();
    expect((await call).status).toBe(200);
    expect(Date.now() - since).toBeLessThan(15_000);
    expect(listEnginePids(fixture)).toEqual([pid]);
  });

  it('replaces the limit of a client, and follows its timetable', async () => {
    const noon = new Date(2026, 0, 5, 11, 59, 30).getTime();
    const clock = createFakeClock(noon);
    await using fixture = await openSyncFixture({ clock });
    await change(fixture, { bandwidth: '08:00,100k 12:00,700k' });
    const rate = async (): Promise<string> => (await fixture.call('core/bwlimit')).body.rate;
    expect(await rate()).toBe('100Ki');
    await fixture.call('core/bwlimit', { rate: '5M' });
    expect(await rate()).toBe('5Mi');
    clock.advance(60_000);
    await until(rate, (now) => now === '700Ki');
    await fixture.call('core/bwlimit', { rate: '5M' });
    expect(await change(fixture, { bandwidth: '1M:500k' })).toMatchObject({ restarted: [] });
    expect(await rate()).toBe('1Mi:500Ki');
  });
});

describe('every setting of the sync service', () => {
  it('takes effect without a restart', async () => {
    await using fixture = await openSyncFixture();
    const values = { idleSeconds: 5, maxDeletes: 1, maxDeletePercent: 2, keepDays: 3, keepReplacedDays: 4 };
    expect(await change(fixture, values)).toMatchObject({ restarted: [] });
  });
});

describe('getRate', () => {
  const monday = (hours: number, minutes = 0): Date => new Date(2026, 0, 5, hours, minutes);
  it.each([
    ['', monday(1), 'off'],
    ['2M', monday(1), '2M'],
    ['08:00,512k 23:00,off', monday(8), '512k'],
    ['08:00,512k 23:00,off', monday(7, 59), 'off'],
    ['08:00,512k 23:00,off', monday(23, 30), 'off'],
    ['Mon-10:00,1M Sat-00:00,off', monday(9), 'off'],
    ['Mon-10:00,1M Sat-00:00,off', monday(10), '1M'],
    ['Fri-10:00,1M', monday(0), '1M'],
  ])('reads %s', (bandwidth, now, rate) => {
    expect(getRate(bandwidth, now)).toBe(rate);
  });
});
