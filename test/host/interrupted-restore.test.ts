import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finishRestore, stageFormer, stageRestore } from '../../main/host/backup/restore.ts';
import { writeBackup } from '../../main/host/backup/write.ts';

/** Calls that change the disk, after each of which a kill leaves a different state. */
const changing = ['renameSync', 'rmSync', 'writeFileSync', 'mkdirSync'] as const;

class Cut extends Error {}

let folder: string;
let data: string;
let file: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-cut-'));
  data = join(folder, 'data');
  file = join(folder, 'backup.tar.gz');
  fill('old');
  await writeBackup(data, file);
  rmSync(data, { recursive: true });
  fill('new');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes files that belong together: a mixture of old and new is corrupt. */
function fill(mark: 'old' | 'new'): void {
  mkdirSync(join(data, 'mail', 'spool'), { recursive: true });
  mkdirSync(join(data, 'git'));
  for (const path of ['homeport.yaml', 'vault.key', 'mail/spool/a.eml', 'git/HEAD', `git/${mark}-alone`]) {
    writeFileSync(join(data, path), mark);
  }
}

/** Returns the host whose data a folder contains; any other result is a mixture. */
function heldBy(folder: string): string {
  const marks = ['homeport.yaml', 'vault.key', 'mail/spool/a.eml', 'git/HEAD'].map((path) =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : 'nothing',
  );
  const alone = (['old', 'new'] as const).filter((mark) => existsSync(join(folder, 'git', `${mark}-alone`)));
  return [...new Set([...marks, ...alone])].join(' and ');
}

/** Runs the work like a process that is killed before its n-th change of the disk. Returns false when it completed. */
function cutBefore(count: number, work: () => void): boolean {
  const originals = Object.fromEntries(changing.map((name) => [name, fs[name]]));
  let changes = 0;
  for (const name of changing) {
    Object.assign(fs, {
      [name]: (...args: unknown[]): unknown => {
        changes += 1;
        if (changes >= count) throw new Cut();
        return (originals[name] as (...args: unknown[]) => unknown)(...args);
      },
    });
  }
  syncBuiltinESMExports();
  try {
    work();
    return false;
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
    return true;
  } finally {
    Object.assign(fs, originals);
    syncBuiltinESMExports();
  }
}

const setAside = (): string[] => readdirSync(data).filter((name) => name.startsWith('.before-restore-'));

describe('interrupted restore', () => {
  it('has the complete backup at the next start and the former data set aside', async () => {
    let cuts = 0;
    for (let step = 1; ; step += 1) {
      rmSync(data, { recursive: true });
      fill('new');
      await stageRestore(data, file);
      // Nothing has changed before the swap.
      expect(heldBy(data)).toBe('new');
      const wasCut = cutBefore(step, () => finishRestore(data));
      finishRestore(data);
      expect(heldBy(data), `cut before step ${String(step)}`).toBe('old');
      expect(setAside().map((name) => heldBy(join(data, name)))).toEqual(['new']);
      expect(existsSync(join(data, '.restoring'))).toBe(false);
      if (!wasCut) break;
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(8);
  });

  it('has either data completely when taken back', async () => {
    const seen = new Set<string>();
    for (let step = 1; ; step += 1) {
      rmSync(data, { recursive: true });
      fill('new');
      await stageRestore(data, file);
      const former = finishRestore(data) ?? '';
      const wasCut = cutBefore(step, () => {
        stageFormer(data, former);
        finishRestore(data);
      });
      finishRestore(data);
      const now = heldBy(data);
      seen.add(now);
      expect(['old', 'new'], `cut before step ${String(step)}`).toContain(now);
      // The other data exists as well.
      expect(setAside().map((name) => heldBy(join(data, name)))).toEqual([now === 'old' ? 'new' : 'old']);
      if (!wasCut) {
        expect(now).toBe('new');
        break;
      }
    }
    expect([...seen].sort()).toEqual(['new', 'old']);
  });

  it('is discarded during preparation, also with an earlier one ready', async () => {
    await stageRestore(data, file);
    writeFileSync(file, 'no archive');
    await expect(stageRestore(data, file)).rejects.toMatchObject({ code: 'backup.damaged' });
    expect(finishRestore(data)).toBeUndefined();
    expect(heldBy(data)).toBe('new');
  });
});
