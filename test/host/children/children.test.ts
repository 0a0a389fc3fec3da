import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openChildren, type ServiceChildren } from '../../../main/host/children/children.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { findProcessIdentity, isRunning } from '../../../services/kit/platform/process-identity.ts';
import { createFakeClock } from '../../support/clock.ts';
import { standInPrograms } from '../../support/program-stand-ins.ts';

const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const node = process.execPath;

let folder: string;
let children: ServiceChildren;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-children-'));
  children = await openChildren(folder, { clock: systemClock, log });
});
afterEach(async () => {
  await children[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Prints the pid of a grandchild and continues. */
const withGrandchild = `
  const { spawn } = require('node:child_process');
  const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  console.log(pid);
  setInterval(() => {}, 1000);
`;

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer];
  return chunk.toString().trim();
}

describe('child process', () => {
  it('receives its arguments unchanged and a clean environment', async () => {
    vi.stubEnv('HOMEPORT_ADMIN_PASSWORD', 'secret');
    const script = 'console.log(JSON.stringify([process.argv.slice(1), process.env]))';
    const child = await children.start({
      name: 'print',
      file: node,
      args: ['-e', script, '--', '$(id); --x', ''],
      environment: { GREETING: 'hello' },
    });
    const [argv, environment] = JSON.parse(await text(child.stdout)) as [string[], Record<string, string>];
    expect(argv).toEqual(['$(id); --x', '']);
    expect(environment).toMatchObject({ GREETING: 'hello', PATH: process.env['PATH'] });
    expect(environment).not.toHaveProperty('HOMEPORT_ADMIN_PASSWORD');
    expect(await child.exited).toEqual({ code: 0, signal: null });
    vi.unstubAllEnvs();
  });

  it('delivers its complete output when it ends immediately on a busy host', async () => {
    const readLine = async (): Promise<string> => {
      const child = await children.start({
        name: 'echo',
        file: 'sh',
        args: ['-c', 'echo said; echo so >&2'],
        environment: {},
      });
      const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), child.exited]);
      return out + errors;
    };
    expect(await Promise.all(Array.from({ length: 40 }, readLine))).toEqual(
      Array.from({ length: 40 }, () => 'said\nso\n'),
    );
  });

  it('ends with its descendants', async () => {
    const child = await children.start({ name: 'family', file: node, args: ['-e', withGrandchild] });
    const grandchild = await findProcessIdentity(Number(await firstLine(child.stdout)));
    expect(await isRunning(grandchild ?? '')).toBe(true);
    await child.stop();
    await vi.waitFor(async () => expect(await isRunning(grandchild ?? '')).toBe(false));
  });

  it('is killed when it ignores the stop signal', async () => {
    const script = "process.on('SIGTERM', () => {}); console.log('on'); setInterval(() => {}, 1000)";
    const stop = { signal: 'SIGTERM', graceMs: 100 } as const;
    const child = await children.start({ name: 'deaf', file: node, args: ['-e', script], stop });
    await firstLine(child.stdout);
    expect(await child.stop()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('ends when its abort signal fires', async () => {
    const stop = new AbortController();
    const args = ['-e', 'setInterval(() => {}, 1000)'];
    const child = await children.start({ name: 'bound', file: node, args, signal: stop.signal });
    stop.abort();
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
    await expect(children.start({ name: 'late', file: node, args, signal: stop.signal })).rejects.toThrow();
  });

  it('reports a missing program', async () => {
    const start = children.start({ name: 'engine', file: join(folder, 'nothing'), args: [] });
    await expect(start).rejects.toMatchObject({ code: 'child.missing', status: 503 });
  });

  it('is recorded until it has ended', async () => {
    const child = await children.start({ name: 'noted', file: node, args: ['-e', 'setInterval(() => {}, 1000)'] });
    expect(readdirSync(folder)).toEqual([String(child.pid)]);
    await child.stop();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('process of a killed host', () => {
  it('is ended at the next start unless its pid was reused', async () => {
    const options = { detached: true, stdio: 'ignore' } as const;
    const orphan = spawn(node, ['-e', 'setInterval(() => {}, 1000)'], options);
    const other = spawn(node, ['-e', 'setInterval(() => {}, 1000)'], options);
    const identity = (await findProcessIdentity(orphan.pid ?? 0)) ?? '';
    writeFileSync(join(folder, String(orphan.pid)), identity);
    writeFileSync(join(folder, String(other.pid)), `${String(other.pid)}/1`);
    writeFileSync(join(folder, 'nonsense'), 'x');
    const ended = once(orphan, 'exit');
    await using _next = await openChildren(folder, { clock: systemClock, log });
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(await findProcessIdentity(other.pid ?? 0)).toBeDefined();
    expect(readdirSync(folder)).toEqual([]);
    other.kill('SIGKILL');
  });
});

describe('child process on Windows', () => {
  const openOnWindows = () => openChildren(folder, { clock: systemClock, log, platform: 'win32' });

  it('is ended by one taskkill when it is stopped', async () => {
    using programs = standInPrograms({ taskkill: 'kill -9 "$2"' });
    await using windowsChildren = await openOnWindows();
    const child = await windowsChildren.start({
      name: 'server',
      file: node,
      args: ['-e', 'setInterval(() => {}, 1000)'],
    });
    await child.stop();
    child.kill('SIGKILL');
    expect(programs.calls('taskkill')).toEqual([`/PID ${String(child.pid)} /T /F`]);
  });

  it('is not killed by its pid after it has ended', async () => {
    using programs = standInPrograms({ taskkill: '' });
    await using windowsChildren = await openOnWindows();
    const ends = Array.from({ length: 50 }, async (_, index) => {
      const child = await windowsChildren.start({ name: 'short', file: 'true', args: [], shortLived: index % 2 === 0 });
      const exit = await child.exited;
      await child.stop();
      return exit.code;
    });
    expect(new Set(await Promise.all(ends))).toEqual(new Set([0]));
    expect(programs.calls('taskkill')).toEqual([]);
  });

  it('is not killed by its pid while a descendant holds its output open', async () => {
    using programs = standInPrograms({ taskkill: '' });
    await using windowsChildren = await openOnWindows();
    const child = await windowsChildren.start({
      ...{ name: 'parent', file: 'sh', args: ['-c', 'sleep 60 & echo $!'] },
      stop: { signal: 'SIGTERM', graceMs: 10 },
    });
    const grandchild = Number(await firstLine(child.stdout));
    // The shell has exited once its pid is free; its output is still open.
    await vi.waitFor(async () => expect(await findProcessIdentity(child.pid)).toBeUndefined());
    const stopped = child.stop();
    await new Promise((resolve) => systemClock.after(50, () => resolve(undefined)));
    process.kill(grandchild, 'SIGKILL');
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(programs.calls('taskkill')).toEqual([]);
  });

  it('is not recorded, since the system ends it with its host', async () => {
    using programs = standInPrograms({ taskkill: 'kill -9 "$2"', powershell: '' });
    await using windowsChildren = await openOnWindows();
    const child = await windowsChildren.start({
      name: 'server',
      file: node,
      args: ['-e', 'setInterval(() => {}, 1000)'],
    });
    expect(readdirSync(folder)).toEqual([]);
    await child.stop();
    expect(programs.calls('powershell')).toEqual([]);
  });

  it('is not mistaken for another program that has its pid after a restart', async () => {
    using programs = standInPrograms({ taskkill: '', powershell: '' });
    const other = spawn(node, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(join(folder, String(other.pid)), `${String(other.pid)}/`);
    await using _next = await openOnWindows();
    expect(programs.calls('taskkill')).toEqual([]);
    expect(await findProcessIdentity(other.pid ?? 0)).toBeDefined();
    expect(readdirSync(folder)).toEqual([]);
    other.kill('SIGKILL');
  });
});

describe('supervised process', () => {
  it('restarts after growing pauses and reports the reason', async () => {
    const clock = createFakeClock();
    await using children = await openChildren(join(folder, 'kept'), { clock, log });
    const states: string[] = [];
    const supervised = children.supervise(
      { name: 'short', file: node, args: ['-e', 'process.exit(3)'] },
      {
        ready: () => Promise.resolve(),
        onState: (state, reason) => states.push(reason === '' ? state : `${state}: ${reason}`),
      },
    );
    const waiting = (times: number) =>
      vi.waitFor(() => expect(states.filter((s) => s.startsWith('waiting'))).toHaveLength(times));
    await waiting(1);
    expect(states.at(-1)).toBe('waiting: it ended with code 3');
    clock.advance(999);
    expect(supervised.state).toBe('waiting');
    clock.advance(1);
    await waiting(2);
    clock.advance(1999);
    expect(supervised.state).toBe('waiting');
    clock.advance(1);
    await waiting(3);
    await supervised[Symbol.asyncDispose]();
    expect(supervised.state).toBe('stopped');
    await expect(supervised.up()).rejects.toMatchObject({ code: 'child.stopped' });
  });

  it('is returned once it is ready, and again after a kill', async () => {
    const supervised = children.supervise(
      { name: 'server', file: node, args: ['-e', "console.log('ready'); setInterval(() => {}, 1000)"] },
      { ready: async ({ stdout }) => void (await firstLine(stdout)) },
    );
    const first = await supervised.up();
    first.kill('SIGKILL');
    await first.exited;
    const second = await vi.waitFor(async () => {
      const child = await supervised.up();
      expect(child.pid).not.toBe(first.pid);
      return child;
    });
    await supervised[Symbol.asyncDispose]();
    expect(await second.exited).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('waits after a failed start', async () => {
    const supervised = children.supervise(
      { name: 'absent', file: join(folder, 'nothing'), args: [] },
      { ready: () => Promise.resolve() },
    );
    await vi.waitFor(() => expect(supervised.state).toBe('waiting'));
    await expect(supervised.up(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
