import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { openRecordedRig, openRig, processesNaming, streams, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => (rig = await openRig()));
afterAll(async () => await rig[Symbol.asyncDispose]());

describe('the history', () => {
  it('keeps each download of one address with a separate file', async () => {
    const url = rig.site.url('/p/og?title=Twice');
    const uids: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      uids.push(await rig.client.add(url));
      await rig.client.ended(uids.at(-1) ?? '');
    }
    const rows = (await rig.client.history()).done.filter((row) => row.url === url);
    expect(rows.map(({ uid, filename }) => [uid, filename])).toEqual([
      [uids[0], 'Twice.mp4'],
      [uids[1], 'Twice (2).mp4'],
    ]);
  });

  it('treats one address in two formats as two independent downloads', async () => {
    await rig.client.post('/pause', {});
    const url = rig.site.url('/p/og?title=Both');
    const first = await rig.client.post('/add', { url, quality: 'best', format: 'any' });
    const secondAdd = await rig.client.post('/add', { url, quality: 'best', format: 'any' });
    expect(secondAdd).toEqual({ status: 'ok', msg: 'Already in queue: Both', uid: first.uid });
    const other = await rig.client.post('/add', { url, quality: 'best', format: 'mp3' });
    expect(other.uid).not.toBe(first.uid);
    await rig.client.post('/resume', {});
    const files = await Promise.all(
      [first, other].map(async ({ uid }) => (await rig.client.ended(uid ?? '')).filename),
    );
    expect(files).toEqual(['Both.mp4', 'Both.mp3']);
    expect(await streams(rig.file('Both.mp3'))).toContain('mp3');
  });
});

it('leaves no files and processes after a cancel during the conversion', async () => {
  const before = await readdir(rig.file(''));
  const uid = await rig.client.add(rig.site.url('/big.mp4?converted'), { format: 'webm' });
  await rig.client.until(uid, ({ status }) => status === 'postprocessing');
  await vi.waitFor(async () => expect(await processesNaming(uid)).not.toEqual([]), 15_000);
  await rig.client.post('/delete', { where: 'queue', ids: [uid] });
  await vi.waitFor(async () => {
    expect(await processesNaming(uid)).toEqual([]);
    expect(existsSync(join(rig.host.dataDir, 'downloads', 'temp', uid))).toBe(false);
  });
  expect(await readdir(rig.file(''))).toEqual(before);
});

describe('a file with a hostile title', () => {
  it.each([
    ['with marks that turn the reading order', '\u202egpj.exe\u2066 clip'],
    ['of 200 emoji', '🎬'.repeat(200)],
    ['with control characters', 'a\u0007b\u001b[31mc\u007fd'],
    ['that Windows reserves', 'CON'],
    ['of dots alone', '...'],
    ['that is a path', '/etc/../../passwd'],
    ['that looks like an option', '--exec rm'],
    ['with a template in it', '%(id)s %(title)s %%'],
  ])(
    'stores %s in the download folder and serves it',
    async (_name, title) => {
      const uid = await rig.client.add(rig.site.url(`/p/og?title=${encodeURIComponent(title)}`));
      const { status, error, filename = '' } = await rig.client.ended(uid);
      expect([status, error]).toEqual(['finished', null]);
      expect([...filename].filter((mark) => '/\\\u007f'.includes(mark) || mark < ' ')).toEqual([]);
      expect(Buffer.byteLength(filename)).toBeLessThanOrEqual(255);
      expect(await readdir(rig.file(''))).toContain(filename);
      const reply = await fetch(`${rig.client.base}/download/${encodeURIComponent(filename)}`, { method: 'HEAD' });
      expect(reply.status).toBe(200);
    },
    60_000,
  );

  it('creates no folder outside and none with bidirectional controls for a playlist title', async () => {
    const title = '../../\u202eevil';
    const response = await rig.client.post('/add', {
      url: rig.site.url(`/feed/2.rss?title=${encodeURIComponent(title)}`),
      quality: 'best',
      format: 'any',
    });
    const names = await Promise.all(
      (response.uids ?? []).map(async (uid) => (await rig.client.ended(uid)).filename ?? ''),
    );
    expect(names.map((name) => name.split('/').length)).toEqual([2, 2]);
    expect(names[0]).toMatch(/^\.\.⧸\.\.⧸evil\//);
  });
});

describe('a computer that slept past the lease of a run', () => {
  it('continues the download instead of restarting it', async () => {
    const clock = createFakeClock();
    await using clockRig = await openRecordedRig({ clock });
    const file = clockRig.site.hold();
    const uid = await clockRig.client.add(file.url);
    await clockRig.client.until(uid, ({ percent }) => (percent ?? 0) > 0);
    clock.set(clock.now() + 3_600_000);
    clock.advance(30_000);
    file.release();
    expect(await clockRig.client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(clockRig.site.stats().ranges).toEqual([]);
  });
});
