import * as desktopMessages from '#messages/desktop';
import { execFile, fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hostFlags } from '../../main/shell/host-child.ts';
import manifest from '../../package.json' with { type: 'json' };
import { testEnvironment } from '../support/host.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(new URL('../support/electron-program/program.ts', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'homeport-built-'));
const app = join(work, 'app');
const tools = join(work, 'tools');

interface State {
  readonly pids: readonly number[];
  readonly addresses: readonly string[];
  readonly notices: readonly string[];
  readonly visible: boolean;
  readonly tip: string | null;
  readonly menu: string;
  readonly popups: readonly string[];
  readonly errors: readonly string[];
}

/** Runs the built app under a fake of Electron's program. */
class BuiltApp implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly messages: Record<string, unknown>[] = [];
  output = '';
  #requestCount = 0;
  constructor() {
    const dataDir = mkdtempSync(join(work, 'data-'));
    this.#child = fork(program, [app, '--data-dir', dataDir, '--hidden'], {
      env: {
        ...testEnvironment(dataDir),
        XDG_CONFIG_HOME: join(dataDir, 'config'),
        PATH: [tools, process.env['PATH']].join(delimiter),
      },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => (this.output += String(chunk)));
    this.#child.on('message', (message: Record<string, unknown>) => this.messages.push(message));
  }
  async ask<Answer = State>(command: string): Promise<Answer> {
    this.#requestCount += 1;
    const id = this.#requestCount;
    this.#child.send({ does: command, id });
    const response = await vi.waitFor(() => {
      const answer = this.messages.find((message) => message['id'] === id);
      if (answer === undefined) throw new Error(`no answer to ${command}\n${this.output}`);
      return answer;
    }, waiting);
    return response['value'] as Answer;
  }
  /** Waits until the state matches the expectation. */
  async waitForState(expectation: (state: State) => void): Promise<State> {
    return await vi.waitFor(async () => {
      const state = await this.ask('state');
      expectation(state);
      return state;
    }, waiting);
  }
  async ended(): Promise<unknown> {
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    }
  }
}

const waiting = { timeout: 60_000, interval: 50 };

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
    return false;
  }
}

describe('built desktop app', () => {
  beforeAll(async () => {
    // Without npm's path: the script finds its bundler in any environment.
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'build-app.mjs'), app], {
      cwd: work,
      env: { ...process.env, PATH: '/usr/bin:/bin' },
    });
    // Fakes a desktop that shows tray icons, for queries of its bus.
    mkdirSync(tools);
    writeFileSync(join(tools, 'gdbus'), '#!/bin/sh\necho "(true,)"\n', { mode: 0o755 });
    symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'));
  }, 240_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it('names its entry as Electron expects', () => {
    const built = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(built).toMatchObject({ main: 'host/main-index.js', type: 'module', version: manifest.version });
    expect(built).not.toHaveProperty('scripts');
  });

  it('evaluates its entry, becomes ready, and shows a page that answers', async () => {
    await using built = new BuiltApp();
    await built.waitForState(({ tip }) =>
      expect(tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() })),
    );
    await built.ask('second');
    const { addresses, errors, visible } = await built.waitForState(({ addresses: list }) =>
      expect(list.at(-1)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/),
    );
    expect(visible).toBe(true);
    expect(errors).toEqual([]);
    const page = addresses.at(-1) ?? '';
    expect(await (await fetch(page)).text()).toContain('<!doctype html>');
    const session = await fetch(`${page}api/session`, {
      headers: { 'Homeport-Session': await built.ask<string>('session') },
    });
    expect(await session.json()).toMatchObject({ account: { name: 'ada', role: 'admin' } });
    await built.ask('quit');
    expect(await built.ended()).toBe(0);
    expect(built.output).toContain('host is stopping');
    await expect(fetch(page)).rejects.toThrow();
  });

  it('ends when its parent under npm is killed without notice', async () => {
    const dataDir = mkdtempSync(join(work, 'data-'));
    const argv = JSON.stringify([program, app, '--data-dir', dataDir, '--hidden']);
    const starter = spawn(
      process.execPath,
      ['-e', `require('node:child_process').spawn(process.execPath, ${argv}, { stdio: 'inherit' })`],
      {
        env: {
          ...testEnvironment(dataDir),
          XDG_CONFIG_HOME: join(dataDir, 'config'),
          PATH: [tools, process.env['PATH']].join(delimiter),
          npm_lifecycle_event: 'start',
          npm_package_name: 'homeport',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      },
    );
    let output = '';
    starter.stderr.on('data', (chunk) => (output += String(chunk)));
    let over = false;
    starter.stderr.once('end', () => (over = true));
    try {
      await vi.waitFor(() => expect(output).toContain('host is ready'), waiting);
      starter.kill('SIGKILL');
      // Every started process holds this stream.
      await vi.waitUntil(() => over, waiting);
      expect(output).toContain('host is stopping');
    } finally {
      if (!over) process.kill(-(starter.pid ?? 0), 'SIGKILL');
    }
  });

  it('passes the flags of npm start to the services', async () => {
    expect(manifest.scripts.start.split(' ').filter((word) => word.startsWith('--max'))).toEqual(
      hostFlags.map((flag) => flag.replace('--js-flags=', '')),
    );
    await using built = new BuiltApp();
    await vi.waitFor(() => expect(built.messages.some((message) => 'forked' in message)).toBe(true), waiting);
    expect(built.messages.find((message) => 'forked' in message)).toMatchObject({
      serviceName: 'Homeport services',
      execArgv: hostFlags,
    });
  });

  it('reports crashed services, restarts them, and the page answers', async () => {
    await using built = new BuiltApp();
    const { pids } = await built.waitForState(({ tip }) =>
      expect(tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() })),
    );
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await built.waitForState(({ popups }) => expect(popups).toContain(desktopMessages.servicesStopped()));
    const after = await built.waitForState(({ pids: all, tip }) => {
      expect(all).toHaveLength(2);
      expect(tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() }));
    });
    await built.ask('second');
    const { addresses } = await built.waitForState(({ addresses: list }) => expect(list.length).toBeGreaterThan(0));
    expect((await fetch(addresses.at(-1) ?? '')).status).toBe(200);
    await built.ask('quit');
    expect(await built.ended()).toBe(0);
    for (const pid of after.pids) expect(isRunning(pid)).toBe(false);
  });

  it.skipIf(process.platform === 'win32')(
    'responds while its services hang, and quits',
    async () => {
      await using built = new BuiltApp();
      const { pids } = await built.waitForState(({ tip }) =>
        expect(tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() })),
      );
      const [pid = 0] = pids;
      // Acts like a busy loop: the process exists, but does not respond.
      process.kill(pid, 'SIGSTOP');
      await built.ask('second');
      await built.waitForState(({ visible }) => expect(visible).toBe(true));
      await built.waitForState(({ tip }) =>
        expect(tip).toBe(desktopMessages.toolTip({ status: desktopMessages.phaseSilent() })),
      );
      await built.ask('again');
      await built.waitForState(({ pids: all, tip }) => {
        expect(all).toHaveLength(2);
        expect(tip).toBe(desktopMessages.toolTip({ status: desktopMessages.allServicesRunning() }));
      });
      expect(isRunning(pid)).toBe(false);
      const { pids: all } = await built.ask('state');
      process.kill(all.at(-1) ?? 0, 'SIGSTOP');
      await built.ask('quit');
      expect(await built.ended()).toBe(0);
      expect(isRunning(all.at(-1) ?? 0)).toBe(false);
    },
    240_000,
  );
});
