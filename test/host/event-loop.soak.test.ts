import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupFile } from '../../services/contracts/control/backups.ts';
import { manifest } from '../../services/inbox/manifest.ts';
import { ItemStore } from '../../services/inbox/store/items.ts';
import { openDatabase } from '../../main/host/database/open.ts';
import { jobsMigrations } from '../../main/host/jobs/jobs.ts';
import { percentile } from '../bench/measure.ts';
import { api } from '../support/api.ts';
import { testEnvironment } from '../support/host.ts';
import { command, startHostProcess, type HostProcess } from '../support/host-process.ts';
import { silentLog } from '../support/database-location.ts';

const rows = 1_000_000;
const perCommit = 1000;
/** Allowed additional milliseconds of a trivial request at the 99th percentile. */
const maxDelayMs = 20;
/** Repeats, since a computer may be busy with other work. */
const tries = 3;

describe(`event loop with ${String(rows)} inbox rows delays a trivial request at most ${String(maxDelayMs)} ms at p99 during`, () => {
  let data: string;
  let backups: string;
  let host: HostProcess;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  beforeAll(async () => {
    // On a disk, since the data exceeds the memory.
    data = mkdtempSync(join(process.env['HOMEPORT_SOAK_DIR'] ?? tmpdir(), 'homeport-million-'));
    backups = `${data}-backups`;
    await fill(join(data, 'inbox'));
    host = await startHostProcess(data, { environment: { HOMEPORT_BACKUP_FOLDER: backups } });
  }, 1_800_000);
  afterAll(async () => {
    agent.destroy();
    await host[Symbol.asyncDispose]();
    for (const folder of [data, backups]) rmSync(folder, { recursive: true, force: true });
  });

  const measureP99 = async (work: () => Promise<unknown>): Promise<{ readonly p99: number; readonly took: number }> => {
    const start = performance.now();
    let done = false;
    const working = work().finally(() => (done = true));
    const times: number[] = [];
    while (!done) times.push(await trivial());
    await working;
    return { p99: percentile(times, 0.99), took: performance.now() - start };
  };
  const trivial = async (): Promise<number> => {
    const start = performance.now();
    const [response] = (await once(get(`${host.url('push')}/v1/health`, { agent }), 'response')) as [
      NodeJS.ReadableStream,
    ];
    await once(response.resume(), 'end');
    return performance.now() - start;
  };
  const addedBy = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const added: number[] = [];
    for (let turn = 0; turn < tries && (added.at(-1) ?? maxDelayMs) >= maxDelayMs; turn += 1) {
      const { p99: usual } = await measureP99(() => new Promise((resolve) => setTimeout(resolve, 3000)));
      const { p99, took } = await measureP99(work);
      added.push(p99 - usual);
      console.log(`${name}: p99 ${usual.toFixed(2)} ms alone, ${p99.toFixed(2)} ms beside it (${Math.round(took)} ms)`);
    }
    expect(added.at(-1), `each of ${added.map((ms) => ms.toFixed(1)).join(', ')} ms`).toBeLessThan(maxDelayMs);
  };

  it('stays responsive during searches', () =>
    addedBy('search', async () => {
      for (const searchText of ['backup', 'number 77777', 'nothing of this kind', 'disk full']) {
        await api(host.url('control'), `/api/inbox?q=${encodeURIComponent(searchText)}`);
      }
      await api(host.url('control'), '/api/inbox?minPriority=5&limit=200');
    }));

  it('stays responsive during a backup', () =>
    addedBy('backup', async () => {
      const backup = await api<BackupFile>(host.url('control'), '/api/backups', { method: 'POST' });
      expect(backup.bytes).toBeGreaterThan(statSync(join(data, 'inbox', 'db.sqlite')).size / 50);
    }));

  it('stays responsive during an export of the configuration', () =>
    addedBy('config export', async () => {
      const child = spawn(process.execPath, [command, 'config', 'export', '--data-dir', data], {
        env: testEnvironment(data),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      expect(await once(child, 'exit')).toEqual([0, null]);
    }));
});

async function fill(folder: string): Promise<void> {
  await using database = await openDatabase({ folder, schema: 'inbox', log: silentLog });
  await database.migrate([...jobsMigrations, ...manifest.migrations]);
  const store = new ItemStore(database.kysely);
  for (let first = 0; first < rows; first += perCommit) {
    const offers = Array.from({ length: perCommit }, (_, index) => {
      const number = first + index;
      return {
        key: `soak:${String(number)}`,
        offer: {
          title: `${number % 10 === 0 ? 'Backup' : 'Disk'} number ${String(number)}`,
          body: `Host ${String(number % 97)} says that ${number % 3 === 0 ? 'all is well' : 'the disk is nearly full'}.`,
          format: 'text' as const,
          priority: 1 + (number % 5),
          tags: ['server'],
          source: 'push',
          topic: `topic-${String(number % 50)}`,
          time: Date.now() - (rows - number),
        },
      };
    });
    await database.note((transaction) => store.add(transaction, offers, Date.now()));
  }
}
