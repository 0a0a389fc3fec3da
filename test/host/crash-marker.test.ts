import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../main/host/cli/commands.ts';
import { parseCommandLine } from '../../main/host/cli/command-line.ts';
import { takeCrashMark } from '../../main/host/runtime/crash-marker.ts';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import { openTestHost } from '../support/host.ts';

const moduleUrl = new URL('../../main/host/runtime/crash-marker.ts', import.meta.url).href;
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'homeport-crash-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(body: string): readonly string[] {
  const code = `
    import { markCrash } from '${moduleUrl}';
    const folder = process.argv[1];
    process.on('uncaughtExceptionMonitor', () => markCrash(folder));
    ${body}`;
  return ['--input-type=module', '--eval', code, folder];
}

describe('crash mark', () => {
  it('remains after an uncaught exception until it is taken', () => {
    spawnSync(process.execPath, program('setTimeout(() => { throw new Error("broken"); });'));
    expect(takeCrashMark(folder)).toBe(true);
    expect(takeCrashMark(folder)).toBe(false);
  });

  it('does not exist after a signal', async () => {
    const child = spawn(process.execPath, program('console.log("up"); setInterval(() => {}, 1000);'));
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(takeCrashMark(folder)).toBe(false);
  });
});

describe('crash of a host', () => {
  const mark = (): string => join(folder, '.crashed');
  const services = [control, push];

  it('is not counted by a command beside the next host', async () => {
    await (await openTestHost({ services, dataDir: folder }))[Symbol.asyncDispose]();
    writeFileSync(mark(), '');
    const command = parseCommandLine(['config', 'export', join(folder, 'export.yaml')]);
    if (command.name !== 'config export') throw new Error(command.name);
    await runCommand(command, { dataDir: folder, descriptors: services });
    expect(existsSync(mark())).toBe(true);
  });

  it('is counted once for a running job, also when its service restarts', async () => {
    await (await openTestHost({ services, dataDir: folder }))[Symbol.asyncDispose]();
    using file = new DisposableStack();
    const database = file.adopt(new Database(join(folder, 'push', 'db.sqlite')), (each) => each.close());
    const insert = `insert into jobs (kind, payload, state, run_at, attempts, created_at)
      values ('test.left', '{}', 'running', 0, 1, 0)`;
    database.exec(insert);
    writeFileSync(mark(), '');
    await using home = await openTestHost({ services, dataDir: folder });
    expect(existsSync(mark())).toBe(false);
    // A handler that does not end in time leaves this.
    database.exec("update jobs set state = 'running', lease_owner = 'former', lease_until = 1");
    await home.host.control.restart('push');
    expect(database.prepare('select crashes from jobs').all()).toEqual([{ crashes: 1 }]);
  });
});
