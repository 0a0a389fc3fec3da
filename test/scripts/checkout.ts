import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { needs } from '../support/requirements.ts';

needs('POSIX shell');

const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));

/** Programs of the simulated computer, in addition to those that a test replaces. */
const basics = ['sh', 'mkdir', 'touch', 'ln', 'sleep', 'cat', 'rm', 'chmod'];

/** A set-up that runs. */
interface SetUp {
  readonly child: ChildProcess;
  /** Lines of both outputs so far. */
  readonly lines: readonly string[];
  ended(): Promise<{ readonly status: number | null; readonly lines: readonly string[] }>;
}

/** Fresh checkout with the real set-up, on a computer that contains only the files of the test. */
export class Checkout implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'homeport-checkout-'));
  readonly #programs = join(this.folder, 'machine');

  constructor() {
    mkdirSync(this.#programs);
    cpSync(scripts, join(this.folder, 'scripts'), { recursive: true });
    const hostBuild = "import { appendFileSync } from 'node:fs'; appendFileSync('calls', 'built the program\\n');";
    this.write('scripts/build-host.mjs', hostBuild);
    const messages = "import { appendFileSync } from 'node:fs'; appendFileSync('calls', 'generated the messages\\n');";
    this.write('scripts/messages.ts', messages);
    this.write('messages/en/home.json', '{}');
    this.write('package.json', '{"name":"homeport","type":"module"}');
    this.write('package-lock.json', '{"packages":{"":{},"node_modules/a":{},"node_modules/b":{}}}');
    for (const name of basics) {
      symlinkSync(spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(), this.path(name));
    }
  }

  /** Returns the path of a program of the simulated computer. */
  path(program: string): string {
    return join(this.#programs, program);
  }

  /** Writes a fake program as a shell script; each call is recorded, see {@link calls}. */
  program(name: string, script: string): void {
    const note = `echo "${name} $*" >> ${join(this.folder, 'calls')}`;
    writeFileSync(this.path(name), `#!/bin/sh\n${note}\n${script}\n`);
    chmodSync(this.path(name), 0o755);
  }

  /** Adds an npm that installs a Node and a builder of pages, and waits in the middle while a file `wait` exists. */
  npm(): void {
    this.program(
      'npm',
      `trap 'echo npm ended >> calls; exit 1' TERM
      [ -e node_modules ] && { echo 'there is something already'; exit 1; }
      mkdir -p node_modules/.bin node_modules/a node_modules/b
      touch node_modules/a/package.json
      while [ -e wait ]; do sleep 0.05; done
      touch node_modules/b/package.json
      ln -s ${process.execPath} node_modules/.bin/node
      echo 'mkdir -p dist/renderer; echo built >> calls' > node_modules/.bin/vite
      chmod 755 node_modules/.bin/vite
      touch node_modules/.package-lock.json`,
    );
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.folder, path, '..'), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  remove(path: string): void {
    rmSync(join(this.folder, path), { recursive: true, force: true });
  }

  /** Returns all calls so far, one line each. */
  calls(): string[] {
    return this.has('calls') ? readFileSync(join(this.folder, 'calls'), 'utf8').trim().split('\n') : [];
  }

  /** Starts the set-up. `preload` is JavaScript that its Node runs first; with `shell`, npm's shell is its parent. */
  setUp(
    purpose: 'start' | 'clients',
    options: { readonly preload?: string; readonly environment?: Record<string, string>; readonly shell?: true } = {},
  ): SetUp {
    this.write('preload.cjs', options.preload ?? '');
    const command = [process.execPath, '--require', join(this.folder, 'preload.cjs')];
    command.push(join(this.folder, 'scripts', 'bootstrap.mjs'), purpose);
    const [program = '', ...rest] = options.shell ? [this.path('sh'), '-c', `${command.join(' ')}; exit $?`] : command;
    const child = spawn(program, rest, {
      cwd: this.folder,
      env: { PATH: this.#programs, HOME: this.folder, ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    const read = [child.stdout, child.stderr].map((input) => {
      const reader = createInterface({ input }).on('line', (line) => lines.push(line));
      return once(reader, 'close');
    });
    const ended = Promise.all([once(child, 'exit'), ...read]);
    return {
      child,
      lines,
      async ended() {
        await ended;
        return { status: child.exitCode, lines };
      },
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Resolves once the set-up has written such a line. */
export async function waitForLine(setUp: SetUp, text: string): Promise<void> {
  await vi.waitFor(
    () => {
      if (!setUp.lines.some((line) => line.includes(text))) throw new Error(setUp.lines.join('\n'));
    },
    { timeout: 20_000, interval: 20 },
  );
}
