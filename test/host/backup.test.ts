import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createGzip } from 'node:zlib';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finishRestore, restoreBackup } from '../../main/host/backup/restore.ts';
import { writeBackup } from '../../main/host/backup/write.ts';

let folder: string;
let data: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-backup-test-'));
  data = join(folder, 'data');
  file = join(folder, 'backup.tar.gz');
  mkdirSync(join(data, 'mail', 'spool'), { recursive: true });
  writeFileSync(join(data, 'homeport.yaml'), 'version: 1\n');
  writeFileSync(join(data, 'vault.key'), 'key', { mode: 0o600 });
  writeFileSync(join(data, 'mail', 'spool', 'a.eml'), Buffer.alloc(100_000, 'x'));
  writeFileSync(join(data, 'mail', 'spool', 'empty'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function databaseWithRows(rows: number): Database.Database {
  const database = new Database(join(data, 'mail', 'db.sqlite'));
  database.pragma('journal_mode = WAL');
  database.exec('CREATE TABLE messages (id INTEGER PRIMARY KEY)');
  for (let id = 1; id <= rows; id += 1) database.prepare('INSERT INTO messages VALUES (?)').run(id);
  return database;
}

describe('backup and restore', () => {
  it('restores every file and rows in the write-ahead log of an open database', async () => {
    const open = databaseWithRows(100);
    const summary = await writeBackup(data, file);
    open.close();
    expect(summary.files).toBe(5);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const restored = join(folder, 'restored');
    mkdirSync(restored);
    expect(await restoreBackup(restored, file, { force: false })).toEqual({
      former: undefined,
      tables: 'here',
      renamed: [],
    });
    expect(readFileSync(join(restored, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');
    expect(readFileSync(join(restored, 'mail', 'spool', 'a.eml')).length).toBe(100_000);
    expect(readFileSync(join(restored, 'mail', 'spool', 'empty')).length).toBe(0);
    expect(statSync(join(restored, 'vault.key')).mode & 0o777).toBe(0o600);
    const database = new Database(join(restored, 'mail', 'db.sqlite'));
    expect(database.prepare('SELECT count(*) AS rows FROM messages').get()).toEqual({ rows: 100 });
    database.close();
    expect(existsSync(join(restored, '.restoring'))).toBe(false);
  });

  it('finishes during continuous writes', async () => {
    const open = databaseWithRows(1);
    open.exec('CREATE TABLE filler (content TEXT)');
    const fill = open.prepare('INSERT INTO filler VALUES (?)');
    for (let row = 0; row < 600; row += 1) fill.run('x'.repeat(4000));
    let done = false;
    const backup = writeBackup(data, file).finally(() => (done = true));
    // A copy that restarted with each commit would never finish.
    const deadline = Date.now() + 60_000;
    while (!done && Date.now() < deadline) {
      fill.run('y');
      await nextTurn();
    }
    expect(done).toBe(true);
    await backup;
    open.close();
  });

  it('omits engines, logs, lock files and links', async () => {
    mkdirSync(join(data, 'engines'));
    writeFileSync(join(data, 'engines', 'yt-dlp'), 'large');
    mkdirSync(join(data, 'logs'));
    writeFileSync(join(data, 'logs', 'homeport.log'), 'line');
    writeFileSync(join(data, 'running.json'), '{}');
    symlinkSync('/etc/hostname', join(data, 'mail', 'link'));
    await writeBackup(data, file);
    const restored = join(folder, 'restored');
    mkdirSync(restored);
    await restoreBackup(restored, file, { force: false });
    expect(readdirSync(restored).sort()).toEqual(['homeport.yaml', 'mail', 'vault.key']);
    expect(readdirSync(join(restored, 'mail'))).toEqual(['spool']);
  });

  it('rejects a non-empty folder, and preserves its content with force', async () => {
    await writeBackup(data, file);
    writeFileSync(join(data, 'homeport.yaml'), 'version: 1\n# newer\n');
    await expect(restoreBackup(data, file, { force: false })).rejects.toMatchObject({ code: 'backup.not_empty' });
    const { former } = await restoreBackup(data, file, { force: true });
    expect(readFileSync(join(data, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');
    expect(readFileSync(join(former ?? '', 'homeport.yaml'), 'utf8')).toContain('# newer');
  });

  it.each([
    ['cut off', (content: Buffer) => content.subarray(0, content.length / 2)],
    ['changed in the middle', (content: Buffer) => (content.writeUInt8((content[200] ?? 0) ^ 1, 200), content)],
    ['not an archive', () => Buffer.from('hello')],
  ])('rejects an archive that is %s and changes nothing', async (_title, damage) => {
    await writeBackup(data, file);
    writeFileSync(file, damage(readFileSync(file)));
    await expect(restoreBackup(data, file, { force: true })).rejects.toMatchObject({ code: 'backup.damaged' });
    expect(readFileSync(join(data, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');
    expect(existsSync(join(data, '.restoring'))).toBe(false);
  });

  it.each(['../escaped', '/tmp/homeport-escaped', 'mail/../../escaped', 'C:/escaped', 'lock.sqlite'])(
    'rejects an archive with the path %s',
    async (name) => {
      const tar = pack();
      tar.entry({ name }, 'evil');
      tar.entry({ name: 'manifest.json' }, '{}');
      tar.finalize();
      await pipeline(tar, createGzip(), createWriteStream(file));
      await expect(restoreBackup(data, file, { force: true })).rejects.toMatchObject({ code: 'backup.damaged' });
      expect(existsSync(join(folder, 'escaped'))).toBe(false);
    },
  );

  it('finishes an interrupted swap and discards an interrupted unpacking', () => {
    const staging = join(data, '.restoring');
    mkdirSync(join(staging, 'content'), { recursive: true });
    writeFileSync(join(staging, 'content', 'homeport.yaml'), 'half');
    expect(finishRestore(data)).toBeUndefined();
    expect(readFileSync(join(data, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');

    mkdirSync(join(staging, 'content'), { recursive: true });
    mkdirSync(join(staging, 'former'));
    writeFileSync(join(staging, 'content', 'homeport.yaml'), 'restored');
    writeFileSync(join(staging, 'former', 'moved-before-the-crash'), '');
    writeFileSync(join(staging, 'complete'), '');
    const former = finishRestore(data) ?? '';
    expect(readFileSync(join(data, 'homeport.yaml'), 'utf8')).toBe('restored');
    expect(readdirSync(former).sort()).toEqual(['homeport.yaml', 'mail', 'moved-before-the-crash', 'vault.key']);
  });

  it('refuses to write into the saved data folder', async () => {
    await expect(writeBackup(data, join(data, 'backup.tar.gz'))).rejects.toMatchObject({ code: 'backup.target' });
  });

  it('reports a write failure and leaves no partial archive', async () => {
    await expect(writeBackup(data, join(folder, 'missing', 'backup.tar.gz'))).rejects.toMatchObject({
      code: 'backup.target',
    });
    appendFileSync(join(data, 'homeport.yaml'), '');
    expect(readdirSync(folder)).toEqual(['data']);
  });

  it('treats a file that only looks like a database as a file', async () => {
    writeFileSync(join(data, 'mail', 'spool', 'holiday.sqlite'), 'no database');
    writeFileSync(join(data, 'mail', 'spool', 'notes.sqlite-wal'), 'nor this');
    await writeBackup(data, file);
    const restored = join(folder, 'restored');
    mkdirSync(restored);
    await restoreBackup(restored, file, { force: false });
    expect(readFileSync(join(restored, 'mail', 'spool', 'holiday.sqlite'), 'utf8')).toBe('no database');
    expect(readFileSync(join(restored, 'mail', 'spool', 'notes.sqlite-wal'), 'utf8')).toBe('nor this');
  });

  it('names a damaged database and leaves nothing behind', async () => {
    writeFileSync(join(data, 'mail', 'db.sqlite'), 'x'.repeat(10_000));
    const damaged = expect.stringContaining(join(data, 'mail', 'db.sqlite')) as string;
    await expect(writeBackup(data, file)).rejects.toMatchObject({ code: 'backup.source', detail: damaged });
    expect(readdirSync(folder)).toEqual(['data']);
  });

  it('preserves data set aside by an interrupted restore', async () => {
    await writeBackup(data, file);
    const staging = join(data, '.restoring');
    mkdirSync(join(staging, 'content'), { recursive: true });
    mkdirSync(join(staging, 'former'));
    writeFileSync(join(staging, 'former', 'mine'), 'from before');
    writeFileSync(join(staging, 'complete'), '');
    writeFileSync(join(staging, 'set-aside'), '');
    await restoreBackup(data, file, { force: true });
    const formerFolders = readdirSync(data).filter((name) => name.startsWith('.before-restore-'));
    expect(formerFolders.some((name) => existsSync(join(data, name, 'mine')))).toBe(true);
  });

  it.each([['nothing but its mark'], ['content']])(
    'finishes after an interruption of its last step with %s remaining',
    (leftovers) => {
      const staging = join(data, '.restoring');
      mkdirSync(leftovers === 'content' ? join(staging, 'content') : staging, { recursive: true });
      writeFileSync(join(staging, 'complete'), '');
      writeFileSync(join(staging, 'set-aside'), '');
      expect(finishRestore(data)).toBeUndefined();
      expect(existsSync(staging)).toBe(false);
      expect(existsSync(join(data, 'homeport.yaml'))).toBe(true);
    },
  );
});
