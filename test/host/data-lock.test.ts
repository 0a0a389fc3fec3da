import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from '../../main/host/runtime/data-lock.ts';

describe.skipIf(process.platform === 'win32')('the files of the data folder lock', () => {
  let folder: string;
  let mask: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'data-lock-'));
    mask = process.umask(0);
  });
  afterEach(() => {
    process.umask(mask);
    rmSync(folder, { recursive: true, force: true });
  });
  const mode = (name: string): string => (statSync(join(folder, name)).mode & 0o777).toString(8);

  it('are readable for their owner only, whatever the mask of the process', () => {
    using lock = lockDataFolder(folder);
    lock.announce('http://127.0.0.1:7700', []);
    expect([mode('lock.sqlite'), mode('running.json')]).toEqual(['600', '600']);
  });

  it('tightens the file mode of an earlier version', () => {
    for (const name of ['lock.sqlite', 'running.json']) {
      writeFileSync(join(folder, name), '');
      chmodSync(join(folder, name), 0o644);
    }
    using _lock = lockDataFolder(folder);
    expect([mode('lock.sqlite'), mode('running.json')]).toEqual(['600', '600']);
  });
});
