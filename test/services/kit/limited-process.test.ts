import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { LimitedProcesses, type ProcessLimits } from '../../../services/kit/limited-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeport-process-'));
const opened: LimitedProcesses[] = [];
afterAll(async () => {
  await Promise.all(opened.map((input) => input[Symbol.asyncDispose]()));
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
function open(body: string, limits: Partial<ProcessLimits> = {}): LimitedProcesses {
  const file = join(folder, `${String((files += 1))}.mjs`);
  writeFileSync(file, `let calls = 0;\nexport async function run(input) {\n  calls += 1;\n  ${body}\n}`);
  const processes = new LimitedProcesses(pathToFileURL(file), {
    clock: systemClock,
    memoryMb: 32,
    timeoutMs: 30_000,
    ...limits,
  });
  opened.push(processes);
  return processes;
}

describe('LimitedProcesses', () => {
  it('answers many evaluations with the same child', async () => {
    const processes = open('return { pid: process.pid, calls, double: input.number * 2 };');
    const first = await processes.run<{ pid: number }>({ number: 21 });
    expect(first).toMatchObject({ calls: 1, double: 42 });
    expect(await processes.run({ number: 4 })).toEqual({ pid: first.pid, calls: 2, double: 8 });
  });

  it('rejects with the message of the module when it throws', async () => {
    const processes = open("throw new Error('not like this');");
    await expect(processes.run({})).rejects.toMatchObject({ name: 'EvaluationFailed', message: 'not like this' });
  });

  it.each([
    ['an endless loop', 'for (;;);'],
    ['a regular expression that backtracks', "return /^(a+)+$/.test('a'.repeat(60) + '!');"],
    ['a promise that never settles', 'await new Promise(() => undefined);'],
  ])('ends %s after its time', async (_case, body) => {
    const processes = open(`if (input.fast) return 'fine'; ${body}`, { timeoutMs: 400 });
    await expect(processes.run({})).rejects.toMatchObject({ name: 'LimitExceeded', limit: 'time' });
    expect(await processes.run({ fast: true })).toBe('fine');
  });

  it.each([
    ['one large array', 'const all = []; for (;;) all.push(1);'],
    [
      'strings that double',
      "let text = 'ab'; const all = []; for (;;) all.push((text = [...text, ...text].join('')));",
    ],
    ['buffers outside the heap', 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));'],
  ])('survives %s and starts a new child', async (_case, body) => {
    const processes = open(`if (input.fast) return 'fine'; ${body}`);
    await expect(processes.run({})).rejects.toMatchObject({ name: 'LimitExceeded', limit: 'memory' });
    expect(await processes.run({ fast: true })).toBe('fine');
  });

  it('reports deep recursion and a child that exits', async () => {
    const recursion = open('const deep = (n) => deep(n + 1) + 1; return deep(0);');
    await expect(recursion.run({})).rejects.toMatchObject({ name: 'EvaluationFailed' });
    await expect(open('process.exit(3);').run({})).rejects.toMatchObject({ name: 'LimitExceeded' });
  });

  it('rejects input, output and queues that are too large', async () => {
    const echo = open('return input;', { maxInputBytes: 2000, maxOutputBytes: 1000 });
    await expect(echo.run('x'.repeat(5000))).rejects.toMatchObject({ limit: 'input' });
    await expect(echo.run('x'.repeat(1500))).rejects.toMatchObject({ limit: 'output' });
    expect(await echo.run('x'.repeat(500))).toHaveLength(500);
    const slow = open('await new Promise((resolve) => setTimeout(resolve, 200)); return input;', { maxWaiting: 1 });
    const answers = await Promise.allSettled([1, 2, 3].map((input) => slow.run(input)));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  });

  it('runs at most the configured number of children at the same time', async () => {
    const processes = open('await new Promise((resolve) => setTimeout(resolve, 50)); return process.pid;', {
      maxProcesses: 2,
    });
    const pids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => processes.run<number>({})));
    expect(new Set(pids).size).toBeLessThanOrEqual(2);
  });

  it('withholds secrets, file access and programs from the child', async () => {
    process.env['HOMEPORT_TEST_SECRET'] = 'hidden';
    const processes = open(`
      if (input === 'environment') return JSON.stringify(process.env);
      if (input === 'write') (await import('node:fs')).writeFileSync(${JSON.stringify(join(folder, 'written'))}, 'x');
      return (await import('node:child_process')).spawnSync('id').error?.message ?? 'ran';`);
    expect(await processes.run('environment')).not.toContain('hidden');
    await expect(processes.run('write')).rejects.toThrow(/restricted/);
    await expect(processes.run('spawn')).rejects.toThrow(/restricted/);
    delete process.env['HOMEPORT_TEST_SECRET'];
  });

  it('ends the child after its idle time and with its disposal', async () => {
    const processes = open('return process.pid;', { idleMs: 50 });
    const pid = await processes.run<number>({});
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    const other = await processes.run<number>({});
    expect(other).not.toBe(pid);
    await processes[Symbol.asyncDispose]();
    expect(isAlive(other)).toBe(false);
    await expect(processes.run({})).rejects.toThrow('stopping');
  });

  it('works inside a worker thread and survives a crash of the child', async () => {
    const file = join(folder, 'crash.mjs');
    writeFileSync(file, 'export function run() { const all = []; for (;;) all.push(1); }');
    const source = `
      import { parentPort } from 'node:worker_threads';
      import { LimitedProcesses } from ${JSON.stringify(new URL('../../../services/kit/limited-process.ts', import.meta.url).href)};
      const clock = { after: (ms, call) => { const t = setTimeout(call, ms); return { [Symbol.dispose]: () => clearTimeout(t) }; } };
      const processes = new LimitedProcesses(
        new URL(${JSON.stringify(pathToFileURL(file).href)}),
        { clock, memoryMb: 32, timeoutMs: 30000 },
      );
      const error = await processes.run({}).catch((error) => error);
      parentPort.postMessage(error.limit);`;
    const thread = join(folder, 'thread.mjs');
    writeFileSync(thread, source);
    const worker = new Worker(pathToFileURL(thread), { execArgv: [] });
    expect(await new Promise((resolve) => worker.once('message', resolve).once('error', resolve))).toBe('memory');
    await worker.terminate();
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
