import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inbox } from '../../support/api.ts';
import { startFixtureSite } from '../../support/fixture-site/site.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { useRecordedExtractor } from '../../support/recorded-extractor/recorded-extractor.ts';
import { Client, processesNaming, streams } from './rig.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-crash-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

it('keeps the order, continues partial files and delivers each file once after kill -9', async () => {
  await using site = await startFixtureSite();
  const environment = { ...useRecordedExtractor(), ALLOW_PRIVATE_ADDRESSES: 'true' };
  const held = site.hold();
  const laterUrls = ['b', 'c'].map((tag) => site.url(`/single.mp4?${tag}`));
  const uids: string[] = [];
  let orphans: readonly number[];
  {
    await using host = await startHostProcess(dataDir, { environment });
    const client = new Client(host.url('downloads'));
    for (const url of [held.url, ...laterUrls]) uids.push(await client.add(url));
    await client.until(uids[0] ?? '', ({ percent }) => (percent ?? 0) > 10);
    orphans = await processesNaming(uids[0] ?? '');
    expect(orphans).not.toHaveLength(0);
    await host.kill();
  }
  site.reset();
  await using host = await startHostProcess(dataDir, { environment });
  const client = new Client(host.url('downloads'));
  expect((await client.history()).queue.map(({ uid }) => uid)).toEqual(uids);
  const running = await processesNaming(uids[0] ?? '');
  expect(running.filter((pid) => orphans.includes(pid))).toEqual([]);
  held.release();

  for (const uid of uids) expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
  expect(site.stats().ranges.map(({ path }) => path)).toContain(held.path);
  const files = await readdir(join(dataDir, 'Downloads'));
  expect(files.toSorted()).toEqual(['big.mp4', 'single (2).mp4', 'single.mp4']);
  expect(await streams(join(dataDir, 'Downloads', 'big.mp4'))).toEqual(['h264/720', 'aac']);
  expect((await client.history()).done.map(({ uid }) => uid)).toEqual(uids);
  await vi.waitFor(
    async () => {
      const notifications = (await inbox(host.url('control'))).filter(({ source }) => source === 'downloads');
      expect(notifications.map(({ title, body }) => `${title}: ${body}`).toSorted()).toEqual([
        'big: Download finished',
        'single: Download finished',
        'single: Download finished',
      ]);
    },
    { timeout: 20_000, interval: 100 },
  );
});
