import * as m from '#messages/sync-causes';
import * as problems from '#messages/sync-problems';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainApprovalReason, getApprovalReasons } from '../../../services/sync/domain/delete-limits.ts';
import { explainFailure, findExplanation, type StoredFailure } from '../../../services/sync/domain/failure-cause.ts';
import { failures, type ServiceFailure } from '../../../services/sync/domain/failures.ts';
import { coversFolder } from '../../../services/sync/domain/grant-coverage.ts';
import { compileExclusion } from '../../../services/sync/domain/exclusion.ts';
import { findConfirmedDeletes, buildPlan, type ListedEntry, type Listing } from '../../../services/sync/domain/plan.ts';
import { formatLocation } from '../../../services/sync/domain/location.ts';
import { redact } from '../../../services/sync/domain/redact.ts';
import { getReplacedFilesFolder } from '../../../services/sync/domain/replaced-files.ts';
import { LocationLocks } from '../../../services/sync/jobs/location-locks.ts';
import { LocalMover } from '../../../services/sync/tasks/local-mover.ts';
import { getNextRun } from '../../../services/sync/tasks/schedule.ts';
import { cpuTime } from '../../support/cpu-time.ts';
import { lacksRclone, openSyncFixture } from './sync-fixture.ts';
import { tree } from './trees.ts';

/** Creates a repeatable number generator by seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return Math.abs(state ^ (state >>> 13)) % below;
  };
}

const names = ['a', 'b', 'c.txt', 'D', 'é', 'e\u0301', 'sp ace', '-x', '[x]', '*', 'new\nline'];

function randomTree(roll: (below: number) => number, size: number): Map<string, string> {
  const files = new Map<string, string>();
  for (let index = 0; index < size; index++) {
    const parts = Array.from({ length: 1 + roll(3) }, () => names[roll(names.length)] ?? 'a');
    const path = parts.join('/');
    const clashes = [...files.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
    if (!clashes) files.set(path, String(roll(4)).repeat(1 + roll(3)));
  }
  return files;
}

function listing(files: ReadonlyMap<string, string>): Listing {
  const folders = new Set<string>();
  for (const path of files.keys()) {
    for (let index = path.indexOf('/'); index !== -1; index = path.indexOf('/', index + 1))
      folders.add(path.slice(0, index));
  }
  const entries: ListedEntry[] = [
    ...[...folders].map((path) => ({ path, size: -1, modifiedAt: null, isFolder: true })),
    ...[...files].map(([path, text]) => ({ path, size: text.length, modifiedAt: text.charCodeAt(0), isFolder: false })),
  ];
  return { entries, ignoresCase: false, precisionMs: 1 };
}

describe('delete limits with random folders', () => {
  it('deletes only previewed files, whatever happens after the preview', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const roll = createRandom(seed);
      const [source, destination] = [randomTree(roll, roll(12)), randomTree(roll, roll(12))];
      const plan = buildPlan(listing(source), listing(destination), 'sync');
      const [sourceLater, destinationLater] = [new Map(source), new Map(destination)];
      for (let change = roll(6); change > 0; change--) {
        const side = roll(2) === 0 ? sourceLater : destinationLater;
        const path = names[roll(names.length)] ?? 'a';
        if (roll(3) === 0) side.delete([...side.keys()][roll(Math.max(1, side.size))] ?? '');
        else if (![...side.keys()].some((other) => other.startsWith(`${path}/`)))
          side.set(path, 'later'.repeat(1 + roll(3)));
      }
      const bound = findConfirmedDeletes(plan, listing(sourceLater), listing(destinationLater));
      const seen = new Map(plan.deletes.map((file) => [file.path, file]));
      for (const { path } of bound.deletes) {
        expect(seen.has(path), `seed ${String(seed)}: ${path}`).toBe(true);
        expect(destinationLater.get(path), `seed ${String(seed)}: ${path} as it was shown`).toBe(destination.get(path));
        const names_ = [...sourceLater.keys()].map((name) => name.normalize('NFC'));
        expect(names_, `seed ${String(seed)}: ${path} is not in the source`).not.toContain(path.normalize('NFC'));
      }
      // All previewed changes are applied when nothing has changed.
      if (
        sourceLater.size === source.size &&
        JSON.stringify([...destinationLater, ...sourceLater]) === JSON.stringify([...destination, ...source])
      ) {
        expect(bound.deletes).toEqual(plan.deletes);
      }
    }
  });

  it('holds plans beyond the limits, and always holds an empty source', () => {
    let heldCount = 0;
    for (let seed = 1; seed <= 2000; seed++) {
      const roll = createRandom(seed);
      const [source, destination] = [randomTree(roll, roll(8)), randomTree(roll, roll(30))];
      const plan = buildPlan(listing(source), listing(destination), 'sync');
      const limits = { files: roll(10), percent: roll(101) };
      const reasons = getApprovalReasons(plan, limits);
      const count = plan.deletes.length;
      const isTooMuch = count > limits.files || (count >= 5 && (100 * count) / plan.destinationFiles > limits.percent);
      expect(reasons.length > 0, `seed ${String(seed)}`).toBe(count > 0 && (isTooMuch || source.size === 0));
      if (reasons.length > 0) heldCount += 1;
      expect(buildPlan(listing(source), listing(destination), 'copy').deletes).toEqual([]);
    }
    expect(heldCount).toBeGreaterThan(200);
  });

  it('does not count partial files of an interrupted copy', () => {
    const source = listing(
      new Map([
        ['a', '1'],
        ['b', '1'],
      ]),
    );
    const temporaryFiles = Array.from({ length: 9 }, (_, index): [string, string] => [
      `a.0000000${String(index)}.partial`,
      'x',
    ]);
    const plan = buildPlan(source, listing(new Map([...temporaryFiles, ['gone', 'x']])), 'sync');
    expect(plan.deletes).toHaveLength(10);
    expect(getApprovalReasons(plan, { files: 1, percent: 0 })).toEqual([]);
    expect(getApprovalReasons(plan, { files: 0, percent: 100 })).toHaveLength(1);
  });

  it('results in equal folders with the built-in engine', async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const roll = createRandom(seed);
      const folder = mkdtempSync(join(tmpdir(), 'homeport-sync-trees-'));
      const write = (name: string, files: ReadonlyMap<string, string>): void => {
        mkdirSync(join(folder, name));
        for (const [path, text] of files) {
          mkdirSync(dirname(join(folder, name, path)), { recursive: true });
          writeFileSync(join(folder, name, path), text);
          utimesSync(join(folder, name, path), text.charCodeAt(0), text.charCodeAt(0));
        }
      };
      const [from, to] = [randomTree(roll, roll(12)), randomTree(roll, roll(12))];
      write('from', from);
      write('to', to);
      const mover = new LocalMover(
        { bytes: () => new Uint8Array(), text: (length) => 'x'.repeat(length) },
        () => undefined,
      );
      const options = { group: '', exclude: [], signal: new AbortController().signal };
      const source = await mover.list(join(folder, 'from'), options);
      const listNames = (files: ReadonlyMap<string, string>): readonly string[] =>
        [...files.keys()].map((path) => path.normalize('NFC'));
      const isIn = (path: string, other: string): boolean =>
        other.startsWith(`${path}/`) || path.startsWith(`${other}/`);
      const clash = listNames(to).some((path) => listNames(from).some((other) => isIn(path, other)));
      const copied = await mover.copy(join(folder, 'from'), join(folder, 'to'), undefined, options);
      if (!clash) {
        expect(copied.status, `seed ${String(seed)}`).toBe(200);
        const plan = buildPlan(source, await mover.list(join(folder, 'to'), options), 'sync');
        await mover.remove(join(folder, 'to'), plan.deletes, undefined, options);
        await mover.removeFolders(join(folder, 'to'), plan.deleteFolders, options);
        const remainingFiles = tree(join(folder, 'to'));
        for (const [path, text] of from) expect(remainingFiles[path], `seed ${String(seed)}: ${path}`).toBe(text);
        for (const path of Object.keys(remainingFiles))
          expect(listNames(from), `seed ${String(seed)}`).toContain(path.normalize('NFC'));
      }
      rmSync(folder, { recursive: true });
      expect(existsSync(folder)).toBe(false);
    }
  });
});

describe('rules', () => {
  it('covers a folder with its whole content or not at all', () => {
    const grant = (resource: string, permission: 'read-write' | 'read' | 'write' | 'none') => ({
      resource,
      permission,
    });
    const grants = [grant('/a/*', 'read-write'), grant('/a/b/*', 'none'), grant('/a/c/*', 'read')];
    const mayRead = (folder: string): boolean => coversFolder(grants, [], folder, 'read');
    expect(['/a/c/', '/a/', '/a/b/', '/a/b/d/', '/ab/'].filter(mayRead)).toEqual(['/a/c/']);
    const mayWrite = (folder: string): boolean => coversFolder(grants, [], folder, 'write');
    expect(['/a/x/', '/a/c/'].filter(mayWrite)).toEqual(['/a/x/']);
    expect(coversFolder([grant('/a/', 'read-write')], [], '/a/', 'read')).toBe(false);
    expect(coversFolder([], [grant('/a/*', 'read')], '/a/', 'read')).toBe(true);
    expect(coversFolder([grant('/a/*', 'none')], [grant('*', 'read-write')], '/a/', 'read')).toBe(false);
    expect(coversFolder([grant('*', 'read'), grant('/x/*', 'read-write')], [], '/x/y/', 'write')).toBe(true);
    expect(coversFolder([grant('drive:*', 'read')], [], 'drive:', 'read')).toBe(true);
    expect(coversFolder([grant('*', 'read-write'), grant('*/private/*', 'none')], [], '/home/', 'read')).toBe(false);
  });

  it('hides options in the text of a location', () => {
    expect(formatLocation(':s3,access_key_id=AK,secret_access_key="a:b,c":bucket/x')).toBe(':s3:bucket/x');
    expect(formatLocation(`drive,token='{"a":"b"}':x`)).toBe('drive:x');
    expect(formatLocation('/home/a,b:c')).toBe('/home/a,b:c');
    expect(formatLocation({ type: 'sftp', pass: 'x', _root: 'y' })).toBe(':sftp:y');
    expect(redact({ pass: 'x', a: [{ client_secret: 'y' }], url: 'https://me:pw@host/x', ok: 'z' })).toEqual({
      pass: 'XXX',
      a: [{ client_secret: 'XXX' }],
      url: 'https://XXX@host/x',
      ok: 'z',
    });
  });

  it('keeps replaced files next to the destination', () => {
    expect(getReplacedFilesFolder('/data/photos/', 7)).toBe('/data/.photos.replaced/7');
    expect(getReplacedFilesFolder('drive:a/b', 7)).toBe('drive:a/.b.replaced/7');
    expect(getReplacedFilesFolder('drive:', 7)).toBeUndefined();
    expect(getReplacedFilesFolder('/', 7)).toBeUndefined();
  });

  it('handles daylight saving time in schedules', () => {
    const next = (rule: string, from: string): string | undefined => {
      const time = getNextRun(rule, 'Europe/Berlin', Date.parse(from));
      return time === undefined ? undefined : new Date(time).toISOString();
    };
    expect(next('30 2 * * *', '2026-03-28T12:00:00Z')).toMatch(/^2026-03-29T01:/);
    expect(next('0 0 31 2 *', '2026-01-01T00:00:00Z')).toBeUndefined();
  });

  it('locks overlapping locations one after another', async () => {
    const locks = new LocationLocks();
    const { signal } = new AbortController();
    const order: string[] = [];
    const first = await locks.take(['/a/'], signal);
    const second = locks.take(['/a/b/'], signal).then((lock) => (order.push('second'), lock));
    const stopped = new AbortController();
    const third = locks.take(['/a/'], stopped.signal);
    const other = await locks.take(['/ab/'], signal);
    other[Symbol.dispose]();
    stopped.abort(new Error('stopped'));
    await expect(third).rejects.toThrow('stopped');
    expect(order).toEqual([]);
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect(order).toEqual(['second']);
    (await locks.take(['/'], signal))[Symbol.dispose]();
  });
});

it('copies modification times with the compared precision', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-sync-times-'));
  mkdirSync(join(folder, 'from'));
  for (let index = 0; index < 20; index++) {
    writeFileSync(join(folder, 'from', String(index)), 'x');
    utimesSync(join(folder, 'from', String(index)), 1_700_000_000 + index / 20_000, 1_700_000_000 + index / 20_000);
  }
  const copied: number[] = [];
  const mover = new LocalMover({ bytes: () => new Uint8Array(), text: () => 'abcdefgh' }, (event) => {
    if (event.kind === 'copied') copied.push(event.size);
  });
  const options = { group: '', exclude: [], signal: new AbortController().signal };
  for (let round = 0; round < 2; round++)
    await mover.copy(join(folder, 'from'), join(folder, 'to'), undefined, options);
  expect(copied).toHaveLength(20);
  rmSync(folder, { recursive: true });
});

it('leaves no partial file after a failed copy', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-sync-half-'));
  mkdirSync(join(folder, 'from'));
  writeFileSync(join(folder, 'from/big'), Buffer.alloc(8 * 1024 * 1024));
  const stop = new AbortController();
  const mover = new LocalMover({ bytes: () => new Uint8Array(), text: () => 'abcdefgh' }, () => undefined);
  const copying = mover.copy(join(folder, 'from'), join(folder, 'to'), undefined, {
    group: '',
    exclude: [],
    signal: stop.signal,
  });
  stop.abort(new Error('stopped'));
  await expect(copying).rejects.toThrow();
  expect(tree(join(folder, 'to'))).toEqual({});
  expect(readFileSync(join(folder, 'from/big'))).toHaveLength(8 * 1024 * 1024);
  rmSync(folder, { recursive: true });
});

it.skipIf(lacksRclone)('excludes the same files as rclone', async () => {
  await using fixture = await openSyncFixture();
  const parts = ['a', 'b', 'ab', 'a.b', 'é', '[x]', '{y}', 'a b', '*', 'B', 'a,b', 'x(1)', '^', '$'];
  const roll = createRandom(7);
  const files = new Set<string>();
  for (let index = 0; index < 120; index++) {
    const path = Array.from({ length: 1 + roll(3) }, () => parts[roll(parts.length)] ?? 'a').join('/');
    const isFree = [...files].every((other) => !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`));
    if (isFree) files.add(path);
  }
  fixture.write(Object.fromEntries([...files].map((path) => [`files/${path}`, 'x'])));
  const pieces = [
    'a',
    'b',
    '*',
    '**',
    '?',
    '/',
    '/',
    '[ab]',
    '[^a]',
    '{a,b}',
    '{a*,\\*}',
    '.',
    '\\[',
    '\\{',
    ' ',
    '{{a|b}}',
    'é',
    'B',
    '(1)',
    '^',
    '$',
    ',',
    'x',
    'y',
  ];
  const mover = new LocalMover({ bytes: () => new Uint8Array(), text: () => 'abcdefgh' }, () => undefined);
  const fs = join(fixture.folder, 'files');
  let [compared, refused] = [0, 0];
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandom(seed);
    const exclude = Array.from({ length: 1 + random(2) }, () =>
      Array.from({ length: 1 + random(4) }, () => pieces[random(pieces.length)] ?? 'a').join(''),
    );
    const text = JSON.stringify(exclude);
    const expected = await fixture.call('operations/list', {
      fs,
      remote: '',
      opt: { recurse: true, noMimeType: true, noModTime: true },
      _filter: { ExcludeRule: exclude },
    });
    const actual = mover.list(fs, { group: '', exclude, signal: new AbortController().signal });
    if (expected.status !== 200) {
      refused += 1;
      await expect(actual, text).rejects.toThrow();
      continue;
    }
    compared += 1;
    const list = (expected.body.list as { Path: string; IsDir: boolean }[]).map(({ Path, IsDir }) =>
      IsDir ? `${Path}/` : Path,
    );
    expect((await actual).entries.map(({ path, isFolder }) => (isFolder ? `${path}/` : path)).toSorted(), text).toEqual(
      list.toSorted(),
    );
  }
  expect(compared).toBeGreaterThan(100);
  expect(refused).toBeGreaterThan(0);
});

it('matches patterns in linear time, and accepts regular expressions from administrators only', () => {
  const path = `${'a'.repeat(120)}/${'a'.repeat(120)}`;
  const startedAt = cpuTime();
  for (const pattern of [`${'**a'.repeat(30)}b`, `${'*a'.repeat(30)}b`, `${'{a,*}'.repeat(30)}b`]) {
    expect([pattern, compileExclusion([pattern]).file(path)]).toEqual([pattern, false]);
    expect([pattern, compileExclusion([pattern]).file(`${path}b`)]).toEqual([pattern, true]);
  }
  expect(cpuTime() - startedAt).toBeLessThan(5000);
  expect(() => compileExclusion(['x', '{{(a+)+$}}'], { expressions: false })).toThrow(
    problems.patternExpression({ pattern: '"{{(a+)+$}}"' }),
  );
  expect(compileExclusion(['{{a+}}.txt']).file('b/aa.txt')).toBe(true);
});

/** Returns a failure as it is stored. */
function toFailure({ code, parameters, error }: ServiceFailure): StoredFailure {
  return { code, parameters: JSON.parse(JSON.stringify(parameters)) as unknown, error };
}

describe('explanation of a failed sync', () => {
  const message = m.folderMissing({ folder: '/srv/photos' });
  const notLet = (path: string): string => m.accessDenied({ path });

  it.each([
    ['directory not found', message],
    ['error in ListJSON: directory not found', message],
    ['stat /data/dst/nope: no such file or directory', m.pathMissing({ path: '/data/dst/nope' })],
    ['failed to open source object: open /root/a b: permission denied', notLet('/root/a b')],
    ["EACCES: permission denied, open '/srv/x y'", notLet('/srv/x y')],
    ['write /mnt/a: no space left on device', m.diskFull()],
    ['mkdir /mnt/a/b: not a directory', m.folderNeeded({ path: '/mnt/a/b' })],
    ['open /mnt/a: read-only file system', m.readOnly({ path: '/mnt/a' })],
    ['NewFs: dial tcp: lookup nas.home on 1.1.1.1:53: no such host', m.serverUnknown({ host: 'nas.home' })],
    ['Propfind "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused', m.connectionRefused()],
    ['ssh: handshake failed: ssh: unable to authenticate, attempted methods [none password]', m.signInRejected()],
    [
      "couldn't connect SMB: response error: The attempted logon is invalid. This is either due to a " +
        'bad username or authentication information.',
      m.signInRejected(),
    ],
    ['couldn\'t fetch token: oauth2: "invalid_grant"', m.signInExpired()],
    [`didn't find section in config file ("drive")`, m.remoteMissing({ name: 'drive' })],
  ])('is said in plain words: %s', (cause, explanation) => {
    expect(explainFailure({ error: cause, code: '' }, '/srv/photos')).toEqual({ error: explanation, detail: cause });
  });

  it('never contains the text of the engine, which may include a password', () => {
    expect(findExplanation({ error: 'Get "https://ada:s3cret@nas.home/x": something new.', code: '' })).toBeUndefined();
    expect(findExplanation(toFailure(failures.unstated.create({})))).toBe(m.unstated());
  });

  it('is not confused by file names', () => {
    expect(explainFailure(toFailure(failures.link.create({ path: 'timed out.txt' })))).toEqual({
      error: m.linkAtDestination({ path: 'timed out.txt' }),
      detail: '',
    });
  });

  it('is the stored sentence for parameters of another version', () => {
    const error = 'Something of another version.';
    expect(explainFailure({ error, code: 'sync.held', parameters: { other: 1 } })).toEqual({ error, detail: '' });
  });

  it('translates the failures of the service, of which programs get an English sentence', () => {
    const limits = { files: 10, percent: 50 };
    const plan = buildPlan(
      { entries: [], ignoresCase: false, precisionMs: null },
      { entries: [], ignoresCase: false, precisionMs: null },
      'sync',
    );
    const deletes = Array.from({ length: 30 }, (_, index) => ({ path: String(index), size: 1, modifiedAt: 1 }));
    const reasons = getApprovalReasons({ ...plan, deletes, sourceFiles: 1, destinationFiles: 40 }, limits);
    const held = failures.held.create({ reasons: [...reasons] });
    expect(held.error).toBe(
      'It would delete 30 files; 10 are allowed. It would delete 75 % of the destination; 50 % are allowed.',
    );
    const explain = (failure: ServiceFailure): string => explainFailure(toFailure(failure)).error;
    expect(explain(held)).toBe(`${m.heldCount({ count: 30, limit: 10 })} ${m.heldPercent({ percent: 75, limit: 50 })}`);
    const emptied = getApprovalReasons({ ...plan, deletes: deletes.slice(0, 1), destinationFiles: 40 }, limits);
    expect(emptied.map(explainApprovalReason)).toEqual([m.heldEmptySource({ count: 1 })]);
    expect(explain(failures.changedSince.create({ path: 'a b', several: true }))).toBe(
      m.severalChangedSince({ path: 'a b' }),
    );
    expect(explain(failures.filesFailed.create({ count: 2 }))).toBe(m.filesFailed({ count: 2 }));
    expect(explain(failures.sourceEmptied.create({}))).toBe(m.sourceEmptied());
    expect(explain(failures.keyUnreadable.create({}))).toContain('remotes');
  });

  it('contains the names of files with the texts of errors', () => {
    expect(explainFailure({ error: 'open /a/quota exceeded: permission denied', code: '' }).error).toContain(
      '/a/quota exceeded',
    );
    expect(explainFailure({ error: '', code: '' })).toEqual({ error: '', detail: '' });
  });

  it('is found quickly in a long text', () => {
    const startedAt = cpuTime();
    explainFailure({ error: `open ${'open '.repeat(200_000)}`, code: '' });
    expect(cpuTime() - startedAt).toBeLessThan(500);
  });
});
