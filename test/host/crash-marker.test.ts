import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeCrashMark } from '../../main/host/runtime/crash-marker.ts';

const moduleUrl = new URL('../../main/host/runtime/crash-marker.ts', import.meta.url).href;
const secret = 'correct horse battery';
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'homeport-crash-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(body: string): readonly string[] {
  const code = `
    import { markCrash, reportFatalErrors } from '${moduleUrl}';
    const folder = process.argv[1];
    process.on('uncaughtExceptionMonitor', () => markCrash(folder));
    reportFatalErrors(folder);
    ${body}`;
  return ['--max-old-space-size=40', '--input-type=module', '--eval', code, folder];
}

describe('crash mark', () => {
  it('remains after an uncaught exception until it is taken', () => {
    spawnSync(process.execPath, program('setTimeout(() => { throw new Error("broken"); });'));
    expect(takeCrashMark(folder)).toBe(true);
    expect(takeCrashMark(folder)).toBe(false);
  });

  it('remains after a lack of memory, without the environment', () => {
    const all = 'const all = []; for (;;) all.push(new Array(1e4).fill(all.length));';
    spawnSync(process.execPath, program(all), { env: { ...process.env, SECRET: secret } });
    expect(readFileSync(join(folder, '.fatal-error.json'), 'utf8')).not.toContain(secret);
    expect(takeCrashMark(folder)).toBe(true);
  });

  it('does not exist after a signal', async () => {
    const child = spawn(process.execPath, program('console.log("up"); setInterval(() => {}, 1000);'));
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(takeCrashMark(folder)).toBe(false);
  });
});
