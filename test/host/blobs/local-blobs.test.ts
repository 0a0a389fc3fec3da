import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LocalBlobs } from '../../../main/host/blobs/local-blobs.ts';
import { defineBlobTests } from './blob-contract.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'blobs-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

defineBlobTests('the data folder', {
  open: () => new LocalBlobs(folder),
  damage: async (key, bytes) => writeFileSync(join(folder, key), bytes),
});

it('leaves no incomplete file behind', async () => {
  const blobs = new LocalBlobs(folder);
  async function* fail(): AsyncGenerator<Buffer> {
    yield Buffer.from('beginning');
    await Promise.reject(new Error('cut off'));
  }
  await expect(blobs.write('a/one', fail())).rejects.toThrow('cut off');
  expect(readdirSync(join(folder, 'a', '.incoming'))).toEqual([]);
});
