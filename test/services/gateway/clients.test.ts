import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { git } from '../../../services/git/index.ts';
import { push } from '../../../services/push/index.ts';
import { lan, openHome, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { needs } from '../../support/requirements.ts';

needs('curl', 'Apprise library');

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'gateway-clients-'));
const ca = join(folder, 'ca.crt');
let home: Home;
beforeAll(async () => {
  const environment = { GATEWAY_SHARED: 'push,downloads,git', DOWNLOAD_DIR: join(folder, 'Downloads') };
  home = await openHome({ services: [push, downloads, git, control, gateway], environment });
  writeFileSync(ca, home.authority);
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs curl as on a laptop that trusts the certificate authority and resolves the names. */
async function curl(...args: string[]): Promise<string> {
  const names = ['push', 'downloads', 'git'].flatMap((id) => ['--resolve', `${id}.nas.local:${home.port}:${lan}`]);
  return (await run('curl', ['-sS', '--fail', '--cacert', ca, ...names, ...args], { maxBuffer: 64 * 1024 * 1024 }))
    .stdout;
}
const getUrl = (service: string): string => `https://${service}.nas.local:${home.port}`;
const user = ['-u', `${admin.name}:${admin.password}`];

describe('common clients', () => {
  it('serves byte ranges to curl over HTTP/2 and HTTP/1.1', async () => {
    const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    mkdirSync(join(folder, 'Downloads'), { recursive: true });
    writeFileSync(join(folder, 'Downloads', 'film.mp4'), content);
    for (const version of ['--http2', '--http1.1']) {
      const file = join(folder, `part${version}`);
      await curl(version, ...user, '-r', '100000-150000', '-o', file, `${getUrl('downloads')}/download/film.mp4`);
      expect(readFileSync(file).equals(content.subarray(100_000, 150_001))).toBe(true);
    }
  });

  it('clones and pushes with git at the displayed address', async () => {
    const message = JSON.parse(
      await curl(
        ...user,
        '-H',
        'Content-Type: application/json',
        '-d',
        '{"name":"notes","auto_init":true}',
        `${getUrl('git')}/api/v1/user/repos`,
      ),
    ) as { clone_url: string };
    expect(message.clone_url).toBe(`${getUrl('git')}/ada/notes.git`);
    const options = [
      `http.sslCAInfo=${ca}`,
      `http.curloptResolve=git.nas.local:${home.port}:${lan}`,
      'user.name=ada',
      'user.email=ada@nas.local',
    ];
    const env = { PATH: process.env['PATH'], HOME: folder, GIT_TERMINAL_PROMPT: '0' };
    const inside = async (...args: string[]): Promise<string> =>
      (await run('git', [...options.flatMap((entry) => ['-c', entry]), ...args], { env, cwd: join(folder) })).stdout;
    const url = message.clone_url.replace('https://', `https://ada:${encodeURIComponent(admin.password)}@`);
    await inside('clone', '-q', url, 'notes');
    writeFileSync(join(folder, 'notes', 'film.txt'), 'x'.repeat(3_000_000));
    await inside('-C', 'notes', 'add', '.');
    await inside('-C', 'notes', 'commit', '-q', '-m', 'A film');
    await inside('-C', 'notes', 'push', '-q');
    expect(await inside('ls-remote', url, 'HEAD')).toContain((await inside('-C', 'notes', 'rev-parse', 'HEAD')).trim());
  });

  it('sends queue updates to socket.io clients', async () => {
    const socket = io(`https://${lan}:${home.host.port('downloads')}`, {
      ...{ ca: home.authority, extraHeaders: { Authorization: adminAuthorization }, transports: ['websocket'] },
      rejectUnauthorized: true,
    } as Parameters<typeof io>[1]);
    const [all] = (await once(socket as unknown as NodeJS.EventEmitter, 'all')) as [string];
    expect(JSON.parse(all)).toBeInstanceOf(Array);
    socket.close();
    const stranger = io(`https://${lan}:${home.host.port('downloads')}`, {
      ...{ ca: home.authority, transports: ['websocket'], reconnection: false },
    } as Parameters<typeof io>[1]);
    await once(stranger as unknown as NodeJS.EventEmitter, 'connect_error');
    stranger.close();
  });

  const apprise = join(import.meta.dirname, '../../../.cache/tools/apprise-2');
  it.skipIf(!existsSync(apprise) && process.env['CI'] === undefined)(
    'sends a notification from Apprise over TLS',
    async () => {
      const env = { PATH: process.env['PATH'], PYTHONPATH: apprise, HOME: folder, REQUESTS_CA_BUNDLE: ca };
      const url = `ntfys://${admin.name}:${encodeURIComponent(admin.password)}@${lan}:${home.host.port('push')}/door`;
      await run(join(apprise, 'bin/apprise'), ['-t', 'Door', '-b', 'It rang', url], { env });
      expect(await curl(...user, `${getUrl('push')}/door/json?poll=1`)).toContain('It rang');
    },
  );
});
