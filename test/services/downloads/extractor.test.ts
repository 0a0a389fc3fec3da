import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { sharedEngines } from '../../support/engines.ts';
import type { Engines } from '../../../services/contracts/control/engines.ts';
import { Extractor } from '../../../services/downloads/engine/extractor.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { dataFolderWith, openRig, requireEngines } from './rig.ts';

const real = sharedEngines();
const folders: string[] = [];
beforeAll(requireEngines);
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-extractor-'));
  folders.push(folder);
  return folder;
}

function extractor(
  engines: ExtractorEngines = real,
  options: { keepLoaded?: boolean; allowed?: boolean } = {},
): Extractor {
  const { keepLoaded = true, allowed = true } = options;
  return new Extractor({ engines, clock: systemClock, log: silentLog, keepLoaded, allowPrivateAddresses: allowed });
}

type ExtractorEngines = Pick<Engines, 'find' | 'library' | 'start'>;

/** Returns engines whose worker runs some lines of Python before its own. */
function loadedAfter(python: string): ExtractorEngines {
  return {
    find: (name, options) => real.find(name, options),
    library: (name) => real.library(name),
    start: (library, { script, folder }) => real.start(library, { script: `${python}\n${script}`, folder }),
  };
}

interface Ran {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

async function run(
  subject: Extractor,
  args: readonly string[],
  {
    signal = new AbortController().signal,
    onStart,
  }: { signal?: AbortSignal; onStart?: (identity: string) => Promise<void> } = {},
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const exit = await subject.run(args, {
    clock: systemClock,
    signal,
    ...(onStart === undefined ? {} : { onStart }),
    onLine: (line, from) => void (from === 'stdout' ? out : err).push(line),
  });
  return { code: exit.code, signal: exit.signal, out, err };
}

/** Site that accepts requests and never responds. */
async function silentSite(onAsked: () => void): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(onAsked);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/x`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the PIDs of the Python processes started by this process. */
async function children(): Promise<readonly number[]> {
  const pids: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (parent === String(process.pid) && stat.includes('python')) pids.push(Number(pid));
  }
  return pids;
}

describe.each([
  ['a loaded extractor', true],
  ['the executable', false],
])('%s', (_name, keepLoaded) => {
  it('prints the same lines and exits with the same code', async () => {
    await using subject = extractor(real, { keepLoaded });
    expect(await run(subject, ['--version'])).toEqual({ code: 0, signal: null, out: ['2026.10.26'], err: [] });
    const refused = await run(subject, ['--ignore-config', '--no-such-option']);
    expect(refused.code).toBe(2);
    expect(refused.err.at(-1)).toContain('no such option: --no-such-option');
    const failed = await run(subject, ['--ignore-config', '-J', '--', 'ftp://127.0.0.1/x']);
    expect(failed.code).toBe(1);
    expect(failed.err.at(-1)).toMatch(/^ERROR: /);
  });

  it('stops aborted commands', async () => {
    await using subject = extractor(real, { keepLoaded });
    const stopping = new AbortController();
    await using site = await silentSite(() => stopping.abort());
    let identity = '';
    const exit = await run(subject, ['--ignore-config', '-J', '--', site.url], {
      signal: stopping.signal,
      onStart: (started) => {
        identity = started;
        return Promise.resolve();
      },
    });
    expect(exit.code).not.toBe(0);
    const pid = Number.parseInt(identity, 10);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('a loaded extractor', () => {
  it('runs many commands concurrently without mixing their output', async () => {
    await using subject = extractor();
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    const names = numbers.map((number) => `Ünïcode 漢字 ${number}`);
    const ran = await Promise.all(
      names.map(async (title) => {
        const info = join(await freshFolder(), 'info.json');
        await writeFile(info, JSON.stringify({ id: 'x', title, url: 'http://127.0.0.1:9/x', ext: 'mp4' }));
        return await run(subject, ['--ignore-config', '--print', '%(title)s', '-s', '--load-info-json', info]);
      }),
    );
    expect(ran.map(({ out }) => out)).toEqual(names.map((name) => [name]));
    expect(await children()).toHaveLength(1);
  });

  it('leaves no processes when it ends', async () => {
    const subject = extractor();
    await run(subject, ['--version']);
    expect(await children()).not.toEqual([]);
    await subject[Symbol.asyncDispose]();
    expect(await children()).toEqual([]);
  });

  it('moves the commands of a killed worker to another one, a limited number of times', async () => {
    await using subject = extractor();
    await using site = await silentSite(() => undefined);
    const killed: number[] = [];
    const exit = await run(subject, ['--ignore-config', '-J', '--', site.url], {
      async onStart() {
        const [pid = 0] = (await children()).filter((entry) => !killed.includes(entry));
        killed.push(pid);
        process.kill(pid, 'SIGKILL');
      },
    });
    expect(exit).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(killed).toHaveLength(3);
    expect((await run(subject, ['--version'])).out).toEqual(['2026.10.26']);
    expect(await children()).not.toContain(killed.at(-1));
  });

  it.each([
    ['prints, does not disturb its answers', "import gc; gc.freeze = lambda: print('half a line', end='', flush=True)"],
    [
      'says in between what is no answer',
      "import os; own = os.write; os.write = lambda to, text: own(to, (b'{}\\n[1\\n' if text[:5] == b'{\"id\"' else b'') + text)",
    ],
  ])('falls back to the executable for a Python that %s', async (_case, python) => {
    await using subject = extractor(loadedAfter(python));
    expect(await run(subject, ['--version'])).toEqual({ code: 0, signal: null, out: ['2026.10.26'], err: [] });
    expect(await children()).toHaveLength(1);
  });

  it('reports that no process can be started, while running commands continue', async () => {
    const python = [
      'import os; own = os.fork; count = 0',
      'def fork():',
      '    global count; count += 1',
      '    if count == 2: raise BlockingIOError(11, "Resource temporarily unavailable")',
      '    return own()',
      'os.fork = fork',
    ].join('\n');
    await using subject = extractor(loadedAfter(python));
    const requested = Promise.withResolvers<undefined>();
    await using site = await silentSite(() => requested.resolve(undefined));
    const stopping = new AbortController();
    const first = run(subject, ['--ignore-config', '-J', '--', site.url], { signal: stopping.signal });
    await requested.promise;
    expect(await run(subject, ['--version'])).toMatchObject({
      ...{ code: 1, out: [] },
      err: [expect.stringContaining('ERROR: The extractor could not be started: [Errno 11]')],
    });
    expect((await run(subject, ['--version'])).out).toEqual(['2026.10.26']);
    stopping.abort();
    expect((await first).signal).toBe('SIGTERM');
  });

  it('refuses redirects to internal addresses, unless they are allowed', async () => {
    await using subject = extractor(real, { allowed: false });
    const { code, err } = await run(subject, ['--ignore-config', '-J', '--', 'http://127.0.0.1:9/x']);
    expect(code).toBe(1);
    expect(err.join('\n')).toContain('Refusing to fetch internal address "127.0.0.1" for host "127.0.0.1"');
    await using open = extractor();
    expect((await run(open, ['--ignore-config', '-J', '--', 'http://127.0.0.1:9/x'])).err.join('\n')).toContain(
      'refused',
    );
  });

  it('uses another release that was installed in the meantime, or the executable if it cannot be imported', async () => {
    const { path } = await real.find('yt-dlp');
    const folder = await freshFolder();
    let executable = path ?? '';
    const moved: ExtractorEngines = {
      start: (library, options) => real.start(library, options),
      find: async (name) => ({ ...(await real.find(name)), path: name === 'yt-dlp' ? executable : null }),
      library: async () => ({
        python: (await real.library('yt-dlp'))?.python ?? '',
        path: join(dirname(executable), 'packages'),
      }),
    };
    await using subject = extractor(moved);
    await run(subject, ['--version']);
    const before = await children();
    await mkdir(join(folder, 'next'));
    await copyFile(path ?? '', join(folder, 'next', 'yt-dlp'));
    await symlink(join(dirname(path ?? ''), 'packages'), join(folder, 'next', 'packages'));
    executable = join(folder, 'next', 'yt-dlp');
    expect((await run(subject, ['--version'])).code).toBe(0);
    await vi.waitFor(async () => expect((await children()).some((pid) => before.includes(pid))).toBe(false), 10_000);

    await cp(join(folder, 'next'), join(folder, 'broken'), { recursive: true, verbatimSymlinks: true });
    await rename(join(folder, 'broken', 'packages'), join(folder, 'broken', 'elsewhere'));
    await writeFile(
      join(folder, 'broken', 'yt-dlp'),
      `#!/bin/sh\nPYTHONPATH='${dirname(path ?? '')}/packages' exec ${(await real.library('yt-dlp'))?.python} -m yt_dlp "$@"\n`,
      { mode: 0o755 },
    );
    executable = join(folder, 'broken', 'yt-dlp');
    expect((await run(subject, ['--version'])).out).toEqual(['2026.10.26']);
  });
});

it('downloads without a loaded extractor', async () => {
  const dataDir = dataFolderWith({ keepLoaded: false });
  folders.push(dataDir);
  await using rig = await openRig({ dataDir });
  const uid = await rig.client.add(`${rig.site.address}/single.mp4`);
  expect(await rig.client.ended(uid)).toMatchObject({ status: 'finished' });
});
