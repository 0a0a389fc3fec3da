import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { claim } from './claim.ts';

const folder = mkdtempSync(join(tmpdir(), 'claim-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a claim', () => {
  it('is kept while its process runs', async () => {
    const path = join(folder, 'living');
    expect([await claim(path), await claim(path), await claim(path)]).toEqual([true, false, false]);
  });

  it('is acquired after its process has ended', async () => {
    const path = join(folder, 'gone');
    const module = fileURLToPath(new URL('claim.ts', import.meta.url));
    const text = `import { claim } from ${JSON.stringify(module)}; await claim(${JSON.stringify(path)});`;
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', text]).status).toBe(0);
    expect([await claim(path), await claim(path)]).toEqual([false, true]);
  });

  it('is acquired when another process has its process ID', async () => {
    const path = join(folder, 'again');
    symlinkSync(`${process.pid}@1`, path);
    expect([await claim(path), await claim(path)]).toEqual([false, true]);
  });
});
