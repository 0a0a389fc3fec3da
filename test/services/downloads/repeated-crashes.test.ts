import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloads } from '../../../services/downloads/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { Client, fakeEngine } from './rig.ts';

/** Identity of a process that does not exist. */
const deadProcess = '99999999/1';
let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'homeport-crashes-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Starts a host whose extractor runs until it is ended. */
const start = (): Promise<TestHost> =>
  openTestHost({
    services: [downloads],
    dataDir,
    environment: { ALLOW_PRIVATE_ADDRESSES: 'true', ...fakeEngine(dataDir, 'sleep 60') },
  });

/** Stores what a host leaves behind that was killed while it ran a download for the given time. */
function leaveRunning(uid: string, attempts: number): void {
  const database = new Database(join(dataDir, 'downloads', 'db.sqlite'));
  const owner = 'machine = ?, host_process = ?, lease_until = ?';
  database
    .prepare(`update downloads set state = 'downloading', attempts = ?, ${owner} where uid = ?`)
    .run(attempts, hostname(), deadProcess, Date.now() + 60_000, uid);
  database.close();
}

describe('a download that was running when Homeport ended', () => {
  it('fails at the start after five attempts, and is queued again before that', async () => {
    const uids: string[] = [];
    {
      await using host = await start();
      const client = new Client(host.url('downloads'));
      await client.post('/pause', {});
      for (const tag of ['a', 'b']) uids.push(await client.add(`http://127.0.0.1:9/${tag}.mp4`));
    }
    const [crashing = '', other = ''] = uids;
    leaveRunning(crashing, 5);
    leaveRunning(other, 4);
    await using host = await start();
    const client = new Client(host.url('downloads'));
    const { done, queue } = await client.history();
    expect(done).toMatchObject([
      { uid: crashing, status: 'error', error: expect.stringContaining('Homeport stopped working several times') },
    ]);
    expect(queue.map(({ uid }) => uid)).toEqual([other]);
    expect(host.log.join('\n')).toContain('download stopped after repeated crashes');
  });
});
