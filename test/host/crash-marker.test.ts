import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeCrashMark } from '../../main/host/runtime/crash-marker.ts';

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
