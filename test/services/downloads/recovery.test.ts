import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../main/host/database/open.ts';
import type { Context } from '../../../services/contracts/service.ts';
import { migrations } from '../../../services/downloads/migrations.ts';
import { runLines } from '../../../services/downloads/engine/process-runner.ts';
import { recover } from '../../../services/downloads/queue/recovery.ts';
import { DownloadStore } from '../../../services/downloads/store/store.ts';
import { findProcessIdentity } from '../../../services/kit/platform/process-identity.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { standInPrograms } from '../../support/program-stand-ins.ts';
import { anItem } from './sample-item.ts';

const startedAt = '133456789012345678/C:\\Homeport\\node.exe';
const self = { machine: 'here', process: '1/own' };
const live = { changed: () => undefined } as unknown as Parameters<typeof recover>[0]['live'];

/** Opens a store with one running download of a host, and a function that recovers it on Windows. */
async function openQueue({ owner, child }: { readonly owner: string; readonly child: string | null }) {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'homeport-recovery-'));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const database = opened.use(await openDatabase({ folder, schema: 'recovery', log: silentLog }));
  await database.migrate(migrations);
  const clock = createFakeClock();
  const store = new DownloadStore(database.kysely);
  await store.append([{ ...anItem, state: 'waiting' }]);
  await store.claim({ machine: self.machine, process: owner }, clock.now() + 60_000);
  await store.setChild(anItem.uid, child);
  const commit = (work: (db: typeof database.kysely) => Promise<unknown>) => work(database.kysely);
  const context = { db: database.kysely, clock, log: silentLog, commit } as unknown as Context;
  const stack = opened.move();
  return {
    clock,
    recover: async () => {
      await recover({ context, live, runs: { has: () => false }, folders: undefined as never }, self, true, 'win32');
      return (await store.find(anItem.uid))?.state;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe('recovery of downloads on Windows', () => {
  const other = String(process.pid);

  it('requeues a download when another program has the pid of the former host', async () => {
    using programs = standInPrograms({ powershell: `printf '%s' '${startedAt}'`, taskkill: '' });
    await using queue = await openQueue({ owner: `${other}/133000000000000000/C:\\Homeport\\node.exe`, child: null });
    expect(await queue.recover()).toBe('waiting');
    expect(programs.calls('taskkill')).toEqual([]);
  });

  it('leaves a download to a host that still runs', async () => {
    using _programs = standInPrograms({ powershell: `printf '%s' '${startedAt}'` });
    await using queue = await openQueue({ owner: `${other}/${startedAt}`, child: null });
    expect(await queue.recover()).toBe('preparing');
  });

  it.each([`${other}/`, `${other}/${startedAt}`, other])(
    'follows the lease when the system does not report the start of %s',
    async (owner) => {
      using _programs = standInPrograms({ powershell: 'exit 1' });
      await using queue = await openQueue({ owner, child: null });
      expect(await queue.recover()).toBe('preparing');
      queue.clock.advance(60_001);
      expect(await queue.recover()).toBe('waiting');
    },
  );

  it('kills no program that has the pid of the former extractor', async () => {
    using programs = standInPrograms({ powershell: `printf '%s' '${startedAt}'`, taskkill: '' });
    for (const child of [`${other}/`, `${other}/${startedAt}`]) {
      await using queue = await openQueue({ owner: '4194304/1/x', child });
      expect(await queue.recover()).toBe('waiting');
    }
    expect(programs.calls('taskkill')).toEqual([]);
  });
});

describe('program of a download on Windows', () => {
  const clock = createFakeClock();
  const onLine = (): void => undefined;

  it('is not killed by its pid after it has ended, and its start is not asked for', async () => {
    using programs = standInPrograms({ taskkill: '', powershell: '' });
    const onStart = () => Promise.reject(new Error('not to be called'));
    const options = { clock, signal: new AbortController().signal, onLine, onStart };
    expect(await runLines('true', [], options, 'win32')).toEqual({ code: 0, signal: null });
    expect([programs.calls('taskkill'), programs.calls('powershell')]).toEqual([[], []]);
  });

  it('is ended with its descendants by one taskkill', async () => {
    using programs = standInPrograms({ taskkill: 'kill -9 "$2"' });
    const abort = new AbortController();
    const running = runLines('sleep', ['60'], { clock, signal: abort.signal, onLine }, 'win32');
    abort.abort();
    expect(await running).toEqual({ code: null, signal: 'SIGKILL' });
    expect(programs.calls('taskkill')).toEqual([expect.stringMatching(/^\/PID \d+ \/T \/F$/)]);
  });
});

describe('program of a download on Linux', () => {
  it('is ended with its descendants', async () => {
    const abort = new AbortController();
    const pids: number[] = [];
    const onLine = (line: string): void => {
      pids.push(Number(line));
      abort.abort();
    };
    const options = { clock: createFakeClock(), signal: abort.signal, onLine };
    expect(await runLines('sh', ['-c', 'sleep 60 & echo $!; wait'], options, 'linux')).toMatchObject({ code: null });
    await vi.waitFor(async () => expect(await findProcessIdentity(pids[0] ?? 0)).toBeUndefined());
  });
});
