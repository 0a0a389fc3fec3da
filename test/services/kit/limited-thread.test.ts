import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { askThread, threadFile, ThreadTooSlow } from '../../../services/kit/limited-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeport-thread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function ask(
  source: string,
  { limitMs = 60_000, workerData = {} }: { readonly limitMs?: number; readonly workerData?: unknown } = {},
): Promise<unknown> {
  const file = join(folder, `${String((files += 1))}.mjs`);
  writeFileSync(file, `import { parentPort, workerData } from 'node:worker_threads';\n${source}`);
  return askThread(pathToFileURL(file), { clock: systemClock, workerData, memoryMb: 32, limitMs });
}

describe('A thread with limits', () => {
  it('answers once', async () => {
    expect(await ask('parentPort.postMessage(workerData.number * 2)', { workerData: { number: 21 } })).toBe(42);
  });

  it('is ended when it takes too long', async () => {
    await expect(ask('for (;;);', { limitMs: 300 })).rejects.toThrow(ThreadTooSlow);
  });

  it.each([
    ['throws', "throw new Error('not like this')", 'not like this'],
    ['ends without an answer', '', 'ended without an answer'],
    ['takes too much memory', 'const all = []; for (;;) all.push(new Array(100_000).fill(all.length));', 'memory'],
  ])('that %s is told by the error', async (_what, source, words) => {
    await expect(ask(source)).rejects.toThrow(words);
  });

  it('has a file beside the one that starts it, with the ending of that', () => {
    expect(threadFile('worker', 'file:///house/main/reader.ts').href).toBe('file:///house/main/worker.ts');
    expect(threadFile('worker', 'file:///app/reader.js').href).toBe('file:///app/worker.js');
  });
});
