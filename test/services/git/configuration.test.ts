import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConfiguration } from '../../../services/git/engine/configuration.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-git-configuration-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reads the settings of a platform with git. */
function readSettings(platform: NodeJS.Platform): readonly string[] {
  const file = join(folder, platform);
  writeFileSync(file, buildConfiguration('C:\\Jane Doe\\hooks', platform).join('\n'));
  return execFileSync('git', ['config', '--file', file, '--list'], { encoding: 'utf8' }).trim().split('\n');
}

describe('configuration of git', () => {
  it('trusts the certificates of Windows there, since the configuration of Git for Windows is not read', () => {
    expect(readSettings('win32')).toContain('http.sslbackend=schannel');
    for (const platform of ['linux', 'darwin'] as const)
      expect(readSettings(platform).filter((setting) => setting.startsWith('http.'))).toEqual([]);
  });

  it.each(['linux', 'darwin', 'win32'] as const)('contains paths that git reads on %s', (platform) => {
    const settings = readSettings(platform);
    expect(settings).toContain('core.hookspath=C:\\Jane Doe\\hooks');
    expect(settings).toContain('receive.fsck.badtimezone=warn');
  });
});
