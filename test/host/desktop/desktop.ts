import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';

const run = promisify(execFile);
const programs = ['dunst', 'dunstctl', 'Xvfb', 'dbus-daemon', 'notify-send'];

/** Missing programs of a desktop with popups. `npm run test:clients` installs them where permitted. */
export const missingPrograms = programs.filter(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status !== 0,
);

/** Popup in the server's history. */
export interface ServedPopup {
  readonly id: number;
  readonly appname: string;
  readonly summary: string;
  readonly body: string;
  /** Rendered text: summary and body as markup. */
  readonly message: string;
}

export interface DesktopOptions {
  /** Default: `dunst`. `none`: a bus without a popup server. */
  readonly server?: 'dunst' | 'none';
}

/** Display, session bus and popup server for one test. */
export class Desktop implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeport-desktop-'));
  readonly #children: ChildProcess[] = [];
  readonly environment: Record<string, string> = { PATH: process.env['PATH'] ?? '', HOME: this.#folder };
  server: ChildProcess | undefined;

  static async open({ server = 'dunst' }: DesktopOptions = {}): Promise<Desktop> {
    const desktop = new Desktop();
    await using opening = new AsyncDisposableStack();
    opening.use(desktop);
    const { environment } = desktop;
    const screen = desktop.#start('Xvfb', ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp']);
    environment['DISPLAY'] = `:${await firstLine(screen.stdio[3] as Readable)}`;
    const bus = desktop.#start('dbus-daemon', [`--config-file=${desktop.#busFile()}`, '--nofork', '--print-address=3']);
    environment['DBUS_SESSION_BUS_ADDRESS'] = await firstLine(bus.stdio[3] as Readable);
    if (server === 'dunst') {
      desktop.server = desktop.#start('dunst', ['-conf', '/dev/null']);
      await vi.waitFor(async () => expect(await desktop.control('is-paused')).toContain('false'), {
        timeout: 10_000,
        interval: 50,
      });
    }
    opening.move();
    return desktop;
  }

  /** Returns the output of dunstctl; empty while the server is missing. */
  async control(...args: string[]): Promise<string> {
    try {
      return (await run('dunstctl', args, { env: this.environment, timeout: 5000 })).stdout;
    } catch {
      // Fails until the server has its name on the bus; callers poll.
      return '';
    }
  }

  /** Closes visible popups; returns all popups so far, newest first. */
  async history(): Promise<readonly ServedPopup[]> {
    await this.control('close-all');
    const text = await this.control('history');
    const { data } = JSON.parse(text) as { data: readonly (readonly Record<string, { data: unknown }>[])[] };
    return (data[0] ?? []).map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, { data: value }]) => [name, value])) as never,
    );
  }

  /** Returns the number of displayed or waiting popups. */
  async count(which: 'displayed' | 'waiting'): Promise<number> {
    return Number(/\d+/.exec(await this.control('count', which))?.[0] ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Configures a bus that does not start a server on demand. */
  #busFile(): string {
    const file = join(this.#folder, 'bus.conf');
    writeFileSync(
      file,
      `<busconfig><type>session</type><listen>unix:dir=${this.#folder}</listen>
      <policy context="default">
      <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
    );
    return file;
  }

  #start(command: string, args: readonly string[]): ChildProcess {
    const child = spawn(command, args, { env: this.environment, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    this.#children.push(child);
    return child;
  }
}

async function firstLine(stream: Readable): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line.trim();
  throw new Error('it ended without a word');
}
