import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../support/requirements.ts';

needs('python3', 'POSIX shell');

const script = fileURLToPath(new URL('../../scripts/electron-zip.mjs', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'homeport-zip-'));
const npmPackage = join(work, 'electron');
const zip = join(work, 'brought.zip');
const name = `electron-v45.4.1-${process.platform}-${process.arch}.zip`;
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Prepares a zip with a program, and npm's package with these checksums. */
function prepare(checksums: Readonly<Record<string, string>>): void {
  mkdirSync(npmPackage, { recursive: true });
  writeFileSync(join(npmPackage, 'package.json'), JSON.stringify({ name: 'electron', version: '45.4.1' }));
  writeFileSync(join(npmPackage, 'checksums.json'), JSON.stringify(checksums));
}

function unpack(): { readonly status: number | null; readonly output: string } {
  const { status, stderr } = spawnSync(process.execPath, [script, zip, npmPackage], { encoding: 'utf8' });
  return { status, output: stderr };
}

describe('bundled Electron archive', () => {
  let digest = '';
  beforeEach(() => {
    rmSync(npmPackage, { recursive: true, force: true });
    const parts = join(work, 'parts');
    mkdirSync(parts, { recursive: true });
    writeFileSync(join(parts, 'electron'), '#!/bin/sh\necho started\n');
    chmodSync(join(parts, 'electron'), 0o755);
    writeFileSync(join(parts, 'version'), '45.4.1');
    rmSync(zip, { force: true });
    execFileSync('python3', ['-m', 'zipfile', '-c', zip, 'electron', 'version'], { cwd: parts });
    digest = createHash('sha256').update(readFileSync(zip)).digest('hex');
  });

  it('is extracted into the npm package when its checksum matches the package', () => {
    prepare({ [name]: digest });
    expect(unpack()).toEqual({ status: 0, output: '' });
    expect(execFileSync(join(npmPackage, 'dist', 'electron'), { encoding: 'utf8' })).toBe('started\n');
    expect(readdirSync(npmPackage).sort()).toEqual(['checksums.json', 'dist', 'package.json', 'path.txt']);
    // The next start does not install it again, even without the zip.
    rmSync(zip);
    expect(unpack().status).toBe(0);
  });

  it('replaces an older version', () => {
    prepare({ [name]: digest });
    mkdirSync(join(npmPackage, 'dist'));
    writeFileSync(join(npmPackage, 'dist', 'version'), '44.0.0');
    writeFileSync(join(npmPackage, 'dist', 'old'), '');
    expect(unpack().status).toBe(0);
    expect(readdirSync(join(npmPackage, 'dist')).sort()).toEqual(['electron', 'version']);
  });

  it('is rejected completely when one byte differs', () => {
    prepare({ [name]: digest });
    const parts = join(work, 'parts');
    writeFileSync(join(parts, 'electron'), '#!/bin/sh\necho stopped\n');
    execFileSync('python3', ['-m', 'zipfile', '-c', zip, 'electron', 'version'], { cwd: parts });
    const { status, output } = unpack();
    expect(status).toBe(1);
    expect(output).toContain('was not unpacked');
    expect(output).toContain('not as Electron’s makers published it');
    expect(existsSync(join(npmPackage, 'dist'))).toBe(false);
    expect(readdirSync(npmPackage).sort()).toEqual(['checksums.json', 'package.json']);
  });

  it('is rejected with the platform when it is for another one', () => {
    prepare({ [name]: '0'.repeat(64), 'electron-v45.4.1-plan9-mips.zip': digest });
    const { status, output } = unpack();
    expect(status).toBe(1);
    expect(output).toContain(`${name} is needed, and it is electron-v45.4.1-plan9-mips.zip`);
    expect(existsSync(join(npmPackage, 'dist'))).toBe(false);
  });

  it('is rejected with a message when the file or its checksum is missing', () => {
    prepare({});
    expect(unpack()).toMatchObject({ status: 1, output: `The npm package electron 45.4.1 knows no ${name}.\n` });
    rmSync(zip);
    expect(unpack()).toMatchObject({ status: 1, output: `There is no file ${zip}.\n` });
  });
});
