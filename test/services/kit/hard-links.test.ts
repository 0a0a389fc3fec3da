import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { linkOrCopy } from '../../../services/kit/hard-links.ts';
import { replaceBuiltin } from '../../support/replace-builtin.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hard-links-'));
  writeFileSync(join(folder, 'one'), 'content');
});
afterEach(() => rmSync(folder, { recursive: true }));

const fail = (code: string) => (): Promise<void> => Promise.reject(Object.assign(new Error(code), { code }));
const copy = (): Promise<void> => linkOrCopy(join(folder, 'one'), join(folder, 'two'));

it('links a file where the file system can', async () => {
  await copy();
  expect(statSync(join(folder, 'two')).nlink).toBe(2);
});

it.each(['EISDIR', 'ENOTSUP', 'EPERM', 'ENOSYS', 'EXDEV'])('copies a file when a link fails with %s', async (code) => {
  using _links = replaceBuiltin(promises, { link: fail(code) });
  await copy();
  expect(readFileSync(join(folder, 'two'), 'utf8')).toBe('content');
  expect(statSync(join(folder, 'two')).nlink).toBe(1);
  await expect(copy()).rejects.toMatchObject({ code: 'EEXIST' });
});

it('leaves no incomplete copy and reports other errors', async () => {
  using _links = replaceBuiltin(promises, { link: fail('EISDIR'), copyFile: fail('ENOSPC') });
  await expect(copy()).rejects.toMatchObject({ code: 'ENOSPC' });
  using _denied = replaceBuiltin(promises, { link: fail('EACCES') });
  await expect(copy()).rejects.toMatchObject({ code: 'EACCES' });
  expect(readdirSync(folder)).toEqual(['one']);
});
