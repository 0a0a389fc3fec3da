import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterEach, describe, expect, it } from 'vitest';
import { openRig, type Record as Row, type Rig } from './rig.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-folders-'));
  folders.push(folder);
  return folder;
}

type DownloadRow = Row & { readonly chapter_files?: readonly { filename: string }[] };

async function downloadFile(rig: Rig, path: string, fields: object): Promise<DownloadRow> {
  return await rig.client.ended(await rig.client.add(rig.site.url(path), fields));
}

/** Maps the paths below the folder to the results of `look`. */
async function readTree<T>(
  root: string,
  look: (stats: Awaited<ReturnType<typeof stat>>) => T,
): Promise<Record<string, T>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [`${path.slice(root.length + 1)}${entry.isDirectory() ? '/' : ''}`, look(await stat(path))] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}

describe('the umask of the settings', () => {
  it.each([
    ['077', 0o600, 0o700],
    ['022', 0o644, 0o755],
    ['0002', 0o664, 0o775],
  ])('applies the umask %s to files, companion files and new folders', async (umask, fileMode, folderMode) => {
    await using rig = await openRig({ environment: { UMASK: umask, SUBTITLES: 'en' } });
    const options = { format: 'mkv', quality: '360', folder: 'a/b' };
    await downloadFile(rig, '/short/master.m3u8', options);
    await downloadFile(rig, '/p/chapters', { format: 'mp4', split_by_chapters: true });
    await downloadFile(rig, '/p/chapters', { download_type: 'audio', format: 'mp3', quality: 'best' });
    await downloadFile(rig, '/p/og?title=Cover', { format: 'thumbnail' });
    const root = rig.file('').replace(/\/$/, '');
    const modes = await readTree(root, ({ mode }) => Number(mode) & 0o777);
    const paths = ['a/', 'a/b/', 'a/b/master.mkv', 'a/b/master.en.srt', 'In chapters - 01 - Intro.mp4', 'Cover.jpg'];
    expect(Object.keys(modes)).toEqual(expect.arrayContaining([...paths, 'In chapters.mp3']));
    for (const [path, mode] of Object.entries(modes)) {
      expect(`${path} ${mode.toString(8)}`).toBe(`${path} ${(path.endsWith('/') ? folderMode : fileMode).toString(8)}`);
    }
    expect(Number((await stat(root)).mode) & 0o777).toBe(folderMode);
  });

  it('leaves existing folders unchanged', async () => {
    const folder = await freshFolder();
    await mkdir(join(folder, 'mine'), { mode: 0o711 });
    await using rig = await openRig({ environment: { UMASK: '077', DOWNLOAD_DIR: folder } });
    const { filename = '' } = await downloadFile(rig, '/single.mp4', { folder: 'mine' });
    expect((await stat(join(folder, 'mine'))).mode & 0o777).toBe(0o711);
    expect((await stat(join(folder, 'mine', filename))).mode & 0o777).toBe(0o600);
  });

  it('applies across file systems', async () => {
    const temp = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'homeport-temp-'));
    folders.push(temp);
    await using rig = await openRig({ environment: { UMASK: '077', TEMP_DIR: temp } });
    const { filename = '' } = await downloadFile(rig, '/single.mp4', {});
    expect((await stat(rig.file(filename))).mode & 0o777).toBe(0o600);
    expect(await readdir(rig.file(''))).toEqual([filename]);
  });
});

describe('unfinished files in the download folder itself', () => {
  it('are not served, and their folder is not selectable', async () => {
    const folder = await freshFolder();
    await using rig = await openRig({ environment: { DOWNLOAD_DIR: folder, TEMP_DIR: folder } });
    const held = rig.site.hold();
    const uid = await rig.client.add(held.url);
    await rig.client.until(uid, ({ percent }) => (percent ?? 0) > 5);
    const existingPaths = Object.keys(await readTree(folder, () => '')).filter((path) => !path.endsWith('/'));
    expect(existingPaths.some((path) => path.endsWith(`${uid}/info.json`))).toBe(true);
    for (const path of existingPaths)
      expect((await fetch(`${rig.client.base}/download/${path}`)).status, path).toBe(404);
    const follower = io(rig.client.base, { transports: ['websocket'] });
    const offered = await new Promise<string>((resolve) => follower.once('custom_dirs', resolve));
    follower.disconnect();
    expect(JSON.parse(offered)).toMatchObject({ download_dir: [''] });
    held.release();
    const { filename = '' } = await rig.client.ended(uid);
    expect((await fetch(`${rig.client.base}/download/${filename}`)).status).toBe(200);
  });
});

describe('the owner of the settings', () => {
  it.runIf(process.getuid?.() === 0).each([
    { UID: '4711', GID: '4712' },
    { PUID: '4711', PGID: '4712', UID: '0' },
  ])('owns files and new folders if the host is root: %j', async (owner) => {
    await using rig = await openRig({ environment: { ...owner, SUBTITLES: 'en' } });
    await downloadFile(rig, '/short/master.m3u8', { format: 'mkv', quality: '360', folder: 'a' });
    const owners = await readTree(rig.file('').replace(/\/$/, ''), ({ uid, gid }) => `${uid}:${gid}`);
    expect(owners).toEqual({ 'a/': '4711:4712', 'a/master.mkv': '4711:4712', 'a/master.en.srt': '4711:4712' });
    expect(rig.host.log.join('')).not.toContain('UID and GID have no effect');
  });
});

describe('the folder for audio', () => {
  it('contains and serves only audio files', async () => {
    const audio = await freshFolder();
    await mkdir(join(audio, 'albums'));
    await using rig = await openRig({ environment: { AUDIO_DOWNLOAD_DIR: audio } });
    const sound = await downloadFile(rig, '/single.mp4', {
      download_type: 'audio',
      format: 'mp3',
      quality: 'best',
      folder: 'x',
    });
    const video = await downloadFile(rig, '/single.mp4', {});
    expect(sound.filename).toBe('single.mp3');
    expect(existsSync(join(audio, 'x', 'single.mp3'))).toBe(true);
    const status = async (path: string): Promise<number> => (await fetch(rig.client.base + path)).status;
    expect(await status('/audio_download/x/single.mp3')).toBe(200);
    expect(await status('/download/x/single.mp3')).toBe(404);
    expect(await status(`/download/${video.filename}`)).toBe(200);
    expect(await status(`/audio_download/${video.filename}`)).toBe(404);
    expect(await status('/audio_download/..%2f..%2fetc%2fpasswd')).toBe(404);
  });

  it('is sent to live clients with its folders', async () => {
    const audio = await freshFolder();
    await mkdir(join(audio, 'albums'));
    await using rig = await openRig({ environment: { AUDIO_DOWNLOAD_DIR: audio, URL_PREFIX: 'tube' } });
    const socket = io(rig.client.base, { path: '/tube/socket.io', transports: ['websocket'], reconnection: false });
    try {
      const message = await new Promise<string>((resolve, reject) => {
        socket.on('custom_dirs', resolve);
        socket.on('connect_error', reject);
      });
      expect(JSON.parse(message)).toEqual({ download_dir: [''], audio_download_dir: ['', 'albums'] });
    } finally {
      socket.close();
    }
  });
});

describe('the folder of a request', () => {
  it('is refused when requests must not select a folder', async () => {
    await using rig = await openRig({ environment: { CUSTOM_DIRS: 'false' } });
    const response = await rig.client.post('/add', { url: rig.site.url('/single.mp4'), quality: 'best', folder: 'x' });
    expect(response).toMatchObject({
      status: 'error',
      msg: expect.stringContaining('CUSTOM_DIRS is not true') as string,
    });
    expect(await downloadFile(rig, '/single.mp4', {})).toMatchObject({ status: 'finished' });
  });

  it('must exist when folders are not created', async () => {
    const folder = await freshFolder();
    await mkdir(join(folder, 'there'));
    await using rig = await openRig({ environment: { CREATE_CUSTOM_DIRS: 'false', DOWNLOAD_DIR: folder } });
    const response = await rig.client.post('/add', { url: rig.site.url('/single.mp4'), quality: 'best', folder: 'x' });
    expect(response).toMatchObject({ status: 'error', msg: expect.stringContaining('CREATE_CUSTOM_DIRS') as string });
    expect(await downloadFile(rig, '/single.mp4', { folder: 'there' })).toMatchObject({ status: 'finished' });
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});

describe('a removed download', () => {
  it('deletes all of its files if the settings require it', async () => {
    await using rig = await openRig({ environment: { DELETE_FILE_ON_TRASHCAN: 'true', SUBTITLES: 'en' } });
    const records = [
      await downloadFile(rig, '/short/master.m3u8', { format: 'mkv', quality: '360' }),
      await downloadFile(rig, '/p/chapters', { format: 'mp4', split_by_chapters: true }),
    ];
    const download = await downloadFile(rig, '/single.mp4', {});
    expect(await readdir(rig.file(''))).toHaveLength(7);
    await rig.client.post('/delete', { where: 'done', ids: records.map(({ uid }) => uid) });
    await expect.poll(async () => await readdir(rig.file(''))).toEqual([download.filename]);
  });

  it('expires without its files', async () => {
    await using rig = await openRig({ environment: { CLEAR_COMPLETED_AFTER: '1' } });
    await rig.client.post('/add', { url: rig.site.url('/single.mp4'), quality: 'best', format: 'any' });
    await expect.poll(() => existsSync(rig.file('single.mp4'))).toBe(true);
    await expect.poll(async () => await rig.client.history()).toEqual({ done: [], queue: [], pending: [] });
    expect(existsSync(rig.file('single.mp4'))).toBe(true);
  });
});

describe('a path prefix', () => {
  it.each(['/tube/', 'tube', '/tube'])(
    'serves every route below the prefix %j and redirects the root',
    async (prefix) => {
      await using rig = await openRig({ environment: { URL_PREFIX: prefix } });
      const get = async (path: string) => await fetch(rig.client.base + path, { redirect: 'manual' });
      expect((await get('/tube/history')).status).toBe(200);
      expect((await get('/history')).status).toBe(404);
      expect((await get('/')).headers.get('location')).toBe('/tube/');
      expect((await get('/download/a%20b.mp4')).headers.get('location')).toBe('/tube/download/a%20b.mp4');
      const body = JSON.stringify({ url: 'nonsense', quality: 'best' });
      const response = await fetch(`${rig.client.base}/tube/add`, { method: 'POST', body });
      expect(await response.json()).toMatchObject({ status: 'error' });
    },
  );
});

it.each([
  [{ UMASK: '999' }, 'UMASK'],
  [{ UID: '-1' }, 'UID'],
  [{ GID: 'staff' }, 'GID'],
  [{ SUBTITLES: 'en,../x' }, 'SUBTITLES'],
  [{ SUBTITLE_EMBED: 'perhaps' }, 'SUBTITLE_EMBED'],
  [{ OUTPUT_TEMPLATE_CHAPTER: '../%(title)s' }, 'OUTPUT_TEMPLATE_CHAPTER'],
  [{ AUDIO_DOWNLOAD_DIR: 'relative' }, 'AUDIO_DOWNLOAD_DIR'],
  [{ CLEAR_COMPLETED_AFTER: '-5' }, 'CLEAR_COMPLETED_AFTER'],
  [{ URL_PREFIX: '/a b/' }, 'URL_PREFIX'],
  [{ MAX_CONCURRENT_DOWNLOADS: '0' }, 'MAX_CONCURRENT_DOWNLOADS'],
  [{ DOWNLOAD_MODE: 'fast' }, 'DOWNLOAD_MODE'],
  [{ YTDL_OPTIONS: 'nonsense' }, 'YTDL_OPTIONS'],
])('refuses to start with %j and names it in one line', async (environment, name) => {
  await expect(openRig({ environment })).rejects.toThrow(new RegExp(`setting refused.*"${name}: `));
});

describe('the free space', () => {
  it('is known before the download folder exists', async () => {
    const folder = join(await freshFolder(), 'not', 'there', 'yet');
    await using rig = await openRig({ environment: { DOWNLOAD_DIR: folder } });
    expect((await rig.client.get<{ disk_free: number }>('/status')).disk_free).toBeGreaterThan(0);
  });
});
