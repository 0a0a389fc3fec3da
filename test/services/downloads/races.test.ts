import { existsSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../main/host/database/open.ts';
import { DownloadStore } from '../../../services/downloads/store/store.ts';
import { silentLog } from '../../support/database-location.ts';
import { dataFolderWith, openRecordedRig, type Rig } from './rig.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

async function rigWith(settings: object = {}): Promise<Rig> {
  const dataDir = dataFolderWith(settings);
  open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  return open.use(await openRecordedRig({ dataDir }));
}

it('runs a failed download once after several simultaneous retries', async () => {
  const { client, site } = await rigWith({ retries: 0 });
  const url = site.url('/dead/500000/big.mp4');
  const uid = await client.add(url);
  await client.ended(uid);
  site.reset();
  // The download is removed by both of its identifiers, and again.
  const bodies = [{ ids: [uid, url] }, { id: uid }, { id: url }];
  const [answer] = await Promise.all(bodies.map(async (body) => await client.post('/retry', body)));
  expect(answer?.status).toBe('ok');
  expect(await client.ended(uid)).toMatchObject({ status: 'error' });
  // One probe and one attempt to resume are expected.
  expect(site.stats().hits).toEqual({ '/dead/500000/big.mp4': 2 });
  expect(site.stats().ranges).toHaveLength(1);
});

it('leaves no file of a download that another process cancelled', async () => {
  const { client, site, host } = await rigWith();
  const file = site.hold();
  const uid = await client.add(file.url);
  await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
  await using other = await openDatabase({ folder: join(host.dataDir, 'downloads'), schema: '', log: silentLog });
  await new DownloadStore(other.kysely).remove([uid]);
  file.release();
  await vi.waitFor(() => expect(existsSync(join(host.dataDir, 'downloads', 'temp', uid))).toBe(false), 15_000);
  expect(await readdir(join(host.dataDir, 'Downloads')).catch(() => [])).toEqual([]);
});
