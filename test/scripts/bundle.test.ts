import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Bundler {
  readonly bundle: (output: string, entries: readonly string[]) => Promise<void>;
}

describe('bundle in the folder of an earlier one', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-bundle-'));
    for (const name of ['latest-aaaa.js', 'older-bbbb.js']) writeFileSync(join(folder, name), '');
    writeFileSync(join(folder, 'built-files.json'), '["latest-aaaa.js"]');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const build = async (): Promise<readonly string[]> => {
    const path = '../../scripts/bundle.mjs';
    const { bundle } = (await import(path)) as Bundler;
    await bundle(folder, ['main/npm-parent.ts']);
    return readdirSync(folder);
  };

  it('keeps the latest build for programs that still run it, and removes older ones', async () => {
    const files = await build();
    expect(files).toContain('main-npm-parent.js');
    expect(files).toContain('latest-aaaa.js');
    expect(files).not.toContain('older-bbbb.js');
    expect(await build()).not.toContain('latest-aaaa.js');
  });
});
