import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkConfig } from '../../../main/host/config/check.ts';
import { DataFolder, descriptors } from './fixture.ts';

/** Runs the child that dies before step `killAt` of its writing; resolves to whether it died. */
async function writeAndDie(folder: string, action: 'change' | 'open', killAt: number): Promise<boolean> {
  const script = fileURLToPath(import.meta.resolve('./crash-child.ts'));
  const child = spawn(process.execPath, [script, folder, action, String(killAt)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal]: unknown[] = await once(child, 'exit');
  if (signal === null && code !== 0) throw new Error(`the child failed with code ${String(code)}`);
  return signal === 'SIGKILL';
}

test('leaves complete old or new settings after kill -9 at any step of a change', async () => {
  const seen = new Set<unknown>();
  let hasCrashed = true;
  for (let killAt = 1; hasCrashed; killAt += 1) {
    await using folder = await DataFolder.make('version: 1\nservices: { push: { retention: 1 } }\n');
    await folder.write('homeport.yaml.1', 'version: 1 # the one before\n');
    hasCrashed = await writeAndDie(folder.path, 'change', killAt);
    expect(checkConfig(await folder.read(), descriptors)).toEqual({ problems: [], warnings: [] });

    const config = await folder.open();
    const retention = config.read().services['push']?.settings['retention'];
    seen.add(retention);
    expect([1, 2]).toContain(retention);
    if (!hasCrashed) expect(retention).toBe(2);
    expect(await folder.names()).not.toEqual(expect.arrayContaining([expect.stringMatching(/\.(new|old)$/)]));
    await config.change('push', { retention: 3 });
    expect((await folder.open()).read().services['push']?.settings['retention']).toBe(3);
  }
  expect([...seen].sort()).toEqual([1, 2]);
}, 60_000);

test('leaves a complete old or new file after kill -9 at any step of a migration, and a copy of the old one', async () => {
  const old = await readFile(new URL('samples/v0.yaml', import.meta.url), 'utf8');
  const migrated = await readFile(new URL('samples/v0.migrated.yaml', import.meta.url), 'utf8');
  const seen = new Set<string>();
  let hasCrashed = true;
  for (let killAt = 1; hasCrashed; killAt += 1) {
    await using folder = await DataFolder.make(old);
    hasCrashed = await writeAndDie(folder.path, 'open', killAt);
    const text = await folder.read();
    seen.add(text);
    expect([old, migrated]).toContain(text);
    if (text === migrated) expect(await folder.read('homeport.yaml.v0')).toBe(old);
    const config = await folder.open();
    expect(config.read().services['push']?.settings['retention']).toBe(30);
    expect(await folder.read()).toBe(migrated);
    expect(await folder.read('homeport.yaml.v0')).toBe(old);
    expect(await folder.names()).not.toContain('homeport.yaml.v0.2');
  }
  expect(seen.size).toBe(2);
}, 60_000);
