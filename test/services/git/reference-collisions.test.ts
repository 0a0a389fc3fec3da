import * as gitProblems from '#messages/git-problems';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { StoredReferences } from '../../../services/git/domain/reference-collisions.ts';
import { zeroId } from '../../../services/git/domain/ref-change.ts';
import { importBundle } from '../../../services/git/portable/import-bundle.ts';
import {
  findUnstorableInSource,
  findUnstorableReferences,
} from '../../../services/git/repositories/reference-names.ts';

const id = '1'.repeat(40);

function findNameCollision(ref: string, existing: readonly string[], platform: NodeJS.Platform): string | undefined {
  return new StoredReferences(existing, platform).findCollision(ref);
}

afterEach(() => vi.restoreAllMocks());

describe('names of references', () => {
  it.each(['refs/heads/aux', 'refs/heads/feature/CON.txt', 'refs/tags/com1', 'refs/heads/a<b', 'refs/heads/lpt9/x'])(
    'refuses %s on Windows only',
    (ref) => {
      expect(findNameCollision(ref, [], 'win32')).toContain('Windows doesn’t allow');
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

  it.each([
    ['refs/heads/fix/a', 'refs/heads/Fix'],
    ['refs/heads/Fix', 'refs/heads/fix/a'],
  ])('refuses %s beside %s, of which one is a file and one a folder', (ref, other) => {
    expect(findNameCollision(ref, [other], 'darwin')).toContain(other);
  });

  it('refuses a third spelling and each of two that a repository from another system has', () => {
    const existing = ['refs/heads/fix', 'refs/heads/Fix/a'];
    expect(findNameCollision('refs/heads/FIX', existing, 'darwin')).toContain('refs/heads/fix');
    expect(findNameCollision('refs/heads/Fix/b', existing, 'darwin')).toContain('refs/heads/fix');
    expect(findNameCollision('refs/heads/fix/b', existing, 'darwin')).toContain('refs/heads/Fix/a');
  });
});

describe('importBundle', () => {
  it.each([
    ['linux', undefined],
    ['darwin', 'only in case'],
    ['win32', 'only in case'],
  ] as const)('refuses on %s what one reference would replace', async (platform, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
    const run = (cwd: string, args: readonly string[]): string =>
      execFileSync('git', ['-C', cwd, ...args], { encoding: 'utf8', stdio: 'pipe' });
    const git = {
      lines: (cwd: string, args: readonly string[]) => Promise.resolve(run(cwd, args).trim().split('\n')),
      run: (cwd: string, args: readonly string[]) => Promise.resolve(run(cwd, args)),
    } as unknown as Parameters<typeof importBundle>[0];
    const [source, target, bundle] = [join(folder, 'source'), join(folder, 'target'), join(folder, 'bundle')];
    for (const path of [source, target]) run(folder, ['init', '--quiet', '--bare', path]);
    const tree = execFileSync('git', ['-C', source, 'mktree'], { input: '', encoding: 'utf8' }).trim();
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    const commit = run(source, [...author, 'commit-tree', tree, '-m', 'first']).trim();
    for (const branch of ['Fix', 'fix']) run(source, ['update-ref', `refs/heads/${branch}`, commit]);
    // A tag of the same name is in another folder.
    run(source, [...author, 'tag', '-m', 'FIX', 'FIX', commit]);
    run(source, ['bundle', 'create', '--quiet', bundle, '--all']);
    const found = await findUnstorableInSource(git, target, source, {}, platform);
    expect(found).toBe(message && gitProblems.nameDiffersByCase({ ref: 'refs/heads/fix', other: 'refs/heads/Fix' }));
    const imported = importBundle(git, bundle, target, platform);
    if (message === undefined) await imported;
    else
      await expect(imported).rejects.toMatchObject({
        code: 'git.bad_backup',
        message: expect.stringContaining(message) as string,
      });
    expect(
      run(target, ['for-each-ref'])
        .split('\n')
        .filter((line) => line !== ''),
    ).toHaveLength(message === undefined ? 3 : 0);
    await importBundle(git, join(folder, 'missing'), target, platform);
    rmSync(folder, { recursive: true });
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

  it.each([
    ['tags side by side', (index: number) => `refs/tags/build-${index}`],
    ['branches in folders', (index: number) => `refs/heads/team-${index % 100}/topic/${index}`],
  ])('reads each name of a large push of %s a constant number of times', async (_name, toRef) => {
    const count = 10_000;
    const stored = Array.from({ length: count }, (_, index) => toRef(index));
    const changes = stored.map((_, index) => ({ ref: toRef(count + index), before: zeroId, after: id }));
    changes.push({ ref: toRef(0).toUpperCase().replace('REFS/', 'refs/'), before: zeroId, after: id });
    const reader = { lines: () => Promise.resolve(stored) };
    const maxSegments = 5;
    let remaining = stored.length * 4 * (1 + maxSegments);
    // Names are compared without case. The limit ends the test early if each name is compared with each other one.
    vi.spyOn(String.prototype, 'toLowerCase').mockImplementation(function (this: string) {
      if (remaining-- === 0) throw new Error('the names are compared too often');
      return this.toLocaleLowerCase('en');
    });
    const rejected = await findUnstorableReferences(reader, '', changes, 'win32');
    vi.restoreAllMocks();
    expect([...rejected.keys()]).toEqual([changes.at(-1)?.ref]);
  });
});
