import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { BlobEntry, Blobs } from '../../../services/contracts/blobs.ts';

const part = Buffer.from('The quick brown fox jumps over the lazy dog.');

/** Tests that every store of blobs passes. `damage` replaces the content of a blob behind its back. */
export function defineBlobTests(
  name: string,
  { open, damage }: { readonly open: () => Blobs; readonly damage: (key: string, bytes: Buffer) => Promise<void> },
): void {
  const write = (blobs: Blobs, key: string, bytes: Buffer) => blobs.write(key, Readable.from([bytes]));
  const read = async (blobs: Blobs, key: string): Promise<string> => (await buffer(await blobs.read(key))).toString();

  describe(`blobs in ${name}`, () => {
    it('returns what was written, whole and in ranges', async () => {
      const blobs = open();
      expect(await write(blobs, 'a/one', part)).toEqual({ size: part.length, sha256: hash(part) });
      expect(await blobs.find('a/one')).toMatchObject({ key: 'a/one', size: part.length });
      expect(Date.now() - ((await blobs.find('a/one'))?.modifiedAt ?? 0)).toBeLessThan(60_000);
      expect(await read(blobs, 'a/one')).toBe(part.toString());
      expect((await buffer(await blobs.read('a/one', { range: { start: 4, end: 8 } }))).toString()).toBe('quick');
    });

    it('stores empty blobs', async () => {
      const blobs = open();
      expect((await blobs.write('a/empty', Readable.from([]))).size).toBe(0);
      expect(await read(blobs, 'a/empty')).toBe('');
    });

    it('streams a blob of several parts unchanged', async () => {
      const blobs = open();
      const chunks = Array.from({ length: 21 }, (_, index) => Buffer.alloc(1024 * 1024, index));
      const { size, sha256 } = await blobs.write('a/large', Readable.from(chunks));
      expect(size).toBe(21 * 1024 * 1024);
      expect(hash(await buffer(await blobs.read('a/large', { sha256 })))).toBe(sha256);
    });

    it('reports missing blobs', async () => {
      const blobs = open();
      expect(await blobs.find('a/none')).toBeUndefined();
      expect(await blobs.openFile('a/none')).toBeUndefined();
      expect(await blobs.copy('a/none', 'a/other')).toBe(false);
      await expect(blobs.read('a/none')).rejects.toMatchObject({ code: 'blobs.missing', status: 404 });
      await blobs.remove(['a/none']);
      await blobs.removeFolder('none');
    });

    it('never replaces a blob', async () => {
      const blobs = open();
      await write(blobs, 'a/one', part);
      await expect(write(blobs, 'a/one', Buffer.from('other'))).rejects.toMatchObject({ code: 'blobs.exists' });
      await write(blobs, 'a/two', Buffer.from('other'));
      await expect(blobs.copy('a/two', 'a/one')).rejects.toMatchObject({ code: 'blobs.exists' });
      expect(await read(blobs, 'a/one')).toBe(part.toString());
    });

    it('accepts only one of two simultaneous writes', async () => {
      const blobs = open();
      const results = await Promise.allSettled([
        write(blobs, 'a/one', Buffer.from('first')),
        write(blobs, 'a/one', Buffer.from('second')),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const winner = results[0].status === 'fulfilled' ? 'first' : 'second';
      expect(await read(blobs, 'a/one')).toBe(winner);
    });

    it('keeps content-addressed blobs and repairs those of another size', async () => {
      const blobs = open();
      const options = { contentSize: part.length, sha256: hash(part) };
      await blobs.write('a/hash', Readable.from([part]), options);
      expect(await blobs.write('a/hash', Readable.from([part]), options)).toMatchObject({ size: part.length });
      await damage('a/hash', part.subarray(0, 5));
      await blobs.write('a/hash', Readable.from([part]), options);
      expect(await read(blobs, 'a/hash')).toBe(part.toString());
    });

    it('replaces a damaged blob of the same size on request', async () => {
      const blobs = open();
      const options = { contentSize: part.length, sha256: hash(part), isRepair: true };
      await write(blobs, 'a/hash', part);
      await damage('a/hash', Buffer.alloc(part.length, 'x'));
      await expect(blobs.write('a/hash', Readable.from(['other']), options)).rejects.toMatchObject({
        code: 'blobs.mismatch',
      });
      await blobs.write('a/hash', Readable.from([part]), options);
      expect(await read(blobs, 'a/hash')).toBe(part.toString());
    });

    it('stores nothing when the content is not the expected one', async () => {
      const blobs = open();
      for (const options of [{ sha256: hash(Buffer.from('other')) }, { contentSize: part.length + 1 }])
        await expect(blobs.write('a/one', Readable.from([part]), options)).rejects.toMatchObject({
          code: 'blobs.mismatch',
        });
      expect(await blobs.find('a/one')).toBeUndefined();
    });

    it('checks the content of a blob that exists', async () => {
      const blobs = open();
      await blobs.write('a/hash', Readable.from([part]), { contentSize: part.length, sha256: hash(part) });
      const other = Buffer.alloc(part.length);
      await expect(
        blobs.write('a/hash', Readable.from([other]), { contentSize: part.length, sha256: hash(part) }),
      ).rejects.toMatchObject({ code: 'blobs.mismatch' });
      expect(await read(blobs, 'a/hash')).toBe(part.toString());
    });

    it.each([1, 10])('stores nothing when the content fails after %i MiB', async (count) => {
      const blobs = open();
      const failure = new Error('cut off');
      async function* fail(): AsyncGenerator<Buffer> {
        for (let index = 0; index < count; index += 1) yield Buffer.alloc(1024 * 1024);
        await Promise.reject(failure);
      }
      await expect(blobs.write('a/one', fail())).rejects.toBe(failure);
      expect(await blobs.find('a/one')).toBeUndefined();
    });

    it('detects damaged content before its end', async () => {
      const blobs = open();
      await write(blobs, 'a/one', part);
      await damage('a/one', Buffer.alloc(part.length, 'x'));
      const content = await blobs.read('a/one', { sha256: hash(part) });
      await expect(buffer(content)).rejects.toMatchObject({ code: 'blobs.damaged' });
    });

    it('lists and removes blobs below a folder only', async () => {
      const blobs = open();
      for (const key of ['a/one', 'a/deep/two', 'ab/three', 'b/four']) await write(blobs, key, part);
      expect(await listKeys(blobs, 'a')).toEqual(['a/deep/two', 'a/one']);
      await blobs.removeFolder('a');
      expect(await listKeys(blobs, 'a')).toEqual([]);
      await blobs.remove(['b/four']);
      expect([...(await listKeys(blobs, 'ab')), ...(await listKeys(blobs, 'b'))]).toEqual(['ab/three']);
    });

    it('copies a blob, which stays when the original is removed', async () => {
      const blobs = open();
      await write(blobs, 'a/one', part);
      expect(await blobs.copy('a/one', 'b/copy')).toBe(true);
      await blobs.remove(['a/one']);
      expect(await read(blobs, 'b/copy')).toBe(part.toString());
    });

    it('provides a file for other programs', async () => {
      const blobs = open();
      await write(blobs, 'a/one', part);
      const file = await blobs.openFile('a/one');
      expect(readFileSync(file?.path ?? '').equals(part)).toBe(true);
      await file?.[Symbol.asyncDispose]();
      // The file is the blob itself, or a temporary copy.
      expect(existsSync(file?.path ?? '')).toBe(file?.path === blobs.getPath('a/one'));
      expect(await read(blobs, 'a/one')).toBe(part.toString());
    });
  });
}

async function listKeys(blobs: Blobs, folder: string): Promise<readonly string[]> {
  const entries: BlobEntry[] = [];
  for await (const entry of blobs.list(folder)) entries.push(entry);
  return entries.map(({ key }) => key).sort();
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
