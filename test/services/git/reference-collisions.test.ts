import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findNameCollision } from '../../../services/git/domain/reference-collisions.ts';
import { zeroId } from '../../../services/git/domain/ref-change.ts';
import { findUnstorableReferences } from '../../../services/git/repositories/reference-names.ts';

const id = '1'.repeat(40);

describe('names of references', () => {
  it.each(['refs/heads/aux', 'refs/heads/feature/CON.txt', 'refs/tags/com1', 'refs/heads/a<b', 'refs/heads/lpt9/x'])(
    'refuses %s on Windows only',
    (ref) => {
      expect(findNameCollision(ref, [], 'win32')).toContain('cannot store a name with');
      expect(findNameCollision(ref, [], 'darwin')).toBeUndefined();
      expect(findNameCollision(ref, [], 'linux')).toBeUndefined();
    },
  );

  it.each(['refs/heads/auxiliary', 'refs/heads/console', 'refs/heads/com', 'refs/heads/null'])(
    'accepts %s, which only begins like a device',
    (ref) => expect(findNameCollision(ref, [], 'win32')).toBeUndefined(),
  );

  it.each([
    ['refs/heads/Fix', 'refs/heads/fix'],
    ['refs/heads/Feature/a', 'refs/heads/feature/b'],
    ['refs/heads/caf\u00e9', 'refs/heads/cafe\u0301'],
  ])('refuses %s beside %s where files are found by any case', (ref, other) => {
    expect(findNameCollision(ref, [other], 'win32')).toContain(other);
    expect(findNameCollision(ref, [other], 'darwin')).toContain(other);
    expect(findNameCollision(ref, [other], 'linux')).toBeUndefined();
  });

  it('accepts names that share folders in the same case', () => {
    const existing = ['refs/heads/feature/a', 'refs/heads/main', 'refs/tags/Feature'];
    expect(findNameCollision('refs/heads/feature/b', existing, 'darwin')).toBeUndefined();
    expect(findNameCollision('refs/heads/main2', existing, 'win32')).toBeUndefined();
  });
});

describe('changes of a repository', () => {
  it('compares them with its references, each other and the deleted ones', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'references-'));
    const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
    const reader = {
      lines: (_folder: string, args: readonly string[]) =>
        Promise.resolve(
          git(...args)
            .split('\n')
            .filter((line) => line !== ''),
        ),
    };
    git('init', '--quiet', '--bare');
    const tree = execFileSync('git', ['-C', folder, 'mktree'], { input: '', encoding: 'utf8' }).trim();
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    const commit = git(...author, 'commit-tree', tree, '-m', 'first').trim();
    git('update-ref', 'refs/heads/Main', commit);
    const create = (ref: string) => ({ ref, before: zeroId, after: id });
    const find = async (changes: Parameters<typeof findUnstorableReferences>[2], platform: NodeJS.Platform) => [
      ...(await findUnstorableReferences(reader, folder, changes, platform)).keys(),
    ];
    const push = [create('refs/heads/main'), create('refs/heads/x'), create('refs/heads/X')];
    expect(await find(push, 'darwin')).toEqual(['refs/heads/main', 'refs/heads/X']);
    expect(await find(push, 'linux')).toEqual([]);
    const renamed = [{ ref: 'refs/heads/Main', before: commit, after: zeroId }, create('refs/heads/main')];
    expect(await find(renamed, 'win32')).toEqual([]);
    expect(await find([{ ref: 'refs/heads/Main', before: commit, after: id }], 'win32')).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
