import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readS3Settings } from '../../../main/host/blobs/s3-settings.ts';
import { HostSettings } from '../../../main/host/config/host-settings.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 's3-settings-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (settings: Partial<HostSettings>) => readS3Settings(HostSettings.parse(settings));

describe('readS3Settings', () => {
  it('returns nothing without a bucket', async () => {
    expect(await read({ s3Endpoint: 'https://s3.example.org' })).toBeUndefined();
  });

  it('reads the secret key from a file, which overrides the setting', async () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'from the file\n');
    const settings = { s3Bucket: 'blobs', s3AccessKey: 'key', s3SecretKey: 'setting' };
    expect(await read(settings)).toMatchObject({ secretKey: 'setting', endpoint: '', region: 'us-east-1' });
    expect(await read({ ...settings, s3SecretKeyFile: file })).toMatchObject({ secretKey: 'from the file' });
  });

  it('refuses a bucket without keys and an unreadable file', async () => {
    await expect(read({ s3Bucket: 'blobs' })).rejects.toMatchObject({ code: 'blobs.settings' });
    const missing = { s3Bucket: 'blobs', s3AccessKey: 'key', s3SecretKeyFile: join(folder, 'none') };
    await expect(read(missing)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['', ''],
    ['/home/', 'home/'],
    ['a/b', 'a/b/'],
  ])('ends the prefix %j with one slash', async (s3Prefix, prefix) => {
    const settings = { s3Bucket: 'blobs', s3AccessKey: 'key', s3SecretKey: 'secret', s3Prefix };
    expect(await read(settings)).toMatchObject({ prefix });
  });
});
