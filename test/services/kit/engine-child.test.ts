import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Engines } from '../../../services/contracts/control/engines.ts';
import { EngineChild } from '../../../services/kit/engine-child.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { createFakeClock } from '../../support/clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeport-engine-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const engines: Pick<Engines, 'start'> = {
  start: (_library, { script, folder: cwd }) =>
    spawn(process.execPath, ['-e', script], { cwd, stdio: ['pipe', 'pipe', 'pipe'] }),
};

let scripts = 0;
/** Opens a child process that runs JavaScript in place of Python. */
function open(source: string, more: { readonly firstRequest?: object; readonly clock?: typeof systemClock } = {}) {
  const file = join(folder, `${String((scripts += 1))}.js`);
  writeFileSync(file, source);
  const script = pathToFileURL(file);
  return EngineChild.open({ python: 'python3', path: '' }, { engines, clock: systemClock, script, folder, ...more });
}

const readyScript = `const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
  const lines = require('node:readline').createInterface({ input: process.stdin });
  say({ ready: '1.2' });`;

describe('EngineChild', () => {
  it('sends the first request, exchanges lines and ends with its input', async () => {
    const child = await open(`${readyScript} lines.on('line', (line) => say({ heard: JSON.parse(line) }));`, {
      firstRequest: { folders: ['a'] },
    });
    expect(child.version).toBe('1.2');
    const answers: object[] = [];
    child.onAnswer = (answer) => answers.push(answer);
    child.send({ id: 1 });
    await vi.waitFor(() => expect(answers).toContainEqual({ heard: { id: 1 } }), 10_000);
    expect(child.usable).toBe(true);
    await child[Symbol.asyncDispose]();
    expect(child.usable).toBe(false);
  });

  it('rejects with the last error line when the process exits before it is ready', async () => {
    await expect(open("console.error('first'); console.error('no such library'); process.exit(1)")).rejects.toThrow(
      'no such library',
    );
    await expect(open('')).rejects.toThrow('process exited during the start');
  });

  it('ends a process that is not ready in time', async () => {
    const clock = createFakeClock();
    let ended: unknown;
    open('setInterval(() => 0, 1000)', { clock }).catch((error: unknown) => (ended = error));
    await vi.waitFor(() => {
      clock.advance(60_000);
      expect(ended).toBeInstanceOf(Error);
    });
    expect(String(ended)).toContain('did not get ready in time');
  });

  it('tolerates a few invalid lines and kills a process that prints too many', async () => {
    const child = await open(`${readyScript} lines.on('line', (line) => {
      for (let index = 0; index < JSON.parse(line).lines; index += 1) process.stdout.write('junk\\n');
      say({ done: true });
    });`);
    const answers: object[] = [];
    child.onAnswer = (answer) => answers.push(answer);
    child.send({ lines: 50 });
    await vi.waitFor(() => expect(answers).toEqual([{ done: true }]), 10_000);
    expect(child.usable).toBe(true);
    child.send({ lines: 5000 });
    await child.ended;
    expect(child.usable).toBe(false);
  });
});
