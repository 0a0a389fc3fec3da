import * as t from '#messages/downloads-texts';
import * as m from '#messages/downloads-problems';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { api } from '../../support/api.ts';
import { fakeEngine, openRig, type Rig } from './rig.ts';

/** Replacement for yt-dlp that returns one clip for every address. */
const answer = `for word; do case "$word" in home:*) home="\${word#home:}" ;; esac; done
  case "$*" in
    *" -J "*) echo '{"id": "1", "title": "Clip", "formats": []}' ;;
    *) mkdir -p "$home"; echo video >"$home/Clip.mp4" ;;
  esac`;

describe('a first start without yt-dlp', () => {
  let folder: string;
  let releases: Server;
  let open: AsyncDisposableStack;
  /** Download of the release, after half of it was sent. */
  let releaseRequest: PromiseWithResolvers<{ readonly response: ServerResponse; readonly rest: Buffer }>;
  /** True while the releases are available. */
  let isThere: boolean;

  beforeEach(async () => {
    open = new AsyncDisposableStack();
    folder = mkdtempSync(join(tmpdir(), 'engine-install-'));
    open.defer(() => rmSync(folder, { recursive: true, force: true }));
    const program = readFileSync(fakeEngine(folder, answer).YTDLP_PATH);
    const sum = createHash('sha256').update(program).digest('hex');
    releaseRequest = Promise.withResolvers();
    isThere = true;
    releases = createServer(({ url = '' }, response) => {
      if (!isThere) return void response.writeHead(503).end();
      if (url.endsWith('SHA2-256SUMS')) {
        const names = ['yt-dlp', 'yt-dlp_linux', 'yt-dlp_linux_aarch64', 'yt-dlp_macos'];
        return void response.end(names.map((name) => `${sum}  ${name}\n`).join(''));
      }
      response.writeHead(200, { 'Content-Length': program.length });
      const half = program.length >> 1;
      response.write(program.subarray(0, half));
      releaseRequest.resolve({ response, rest: program.subarray(half) });
    }).listen(0, '127.0.0.1');
    await once(releases, 'listening');
    open.defer(() => {
      releases.closeAllConnections();
      releases.close();
    });
    // An installed yt-dlp of this computer must not be used.
    mkdirSync(join(folder, 'bin'));
    vi.stubEnv('PATH', `${join(folder, 'bin')}:/usr/bin:/bin`);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await open.disposeAsync();
  });

  async function start(): Promise<Rig> {
    const address = `http://127.0.0.1:${String((releases.address() as AddressInfo).port)}`;
    const engines = (downloads.engines ?? []).map((spec) => ({
      ...spec,
      sources: spec.sources.flatMap((source) => (source.from === 'release' ? [{ ...source, releases: address }] : [])),
    }));
    return open.use(
      await openRig({
        services: [{ ...downloads, engines }, control],
        environment: { HOMEPORT_ENGINES_DIR: join(folder, 'engines'), HOMEPORT_INSTALL_ENGINES: 'true' },
      }),
    );
  }

  const getDownloadsState = async ({ host }: Rig): Promise<ServiceState> => {
    const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
    const service = services.find(({ id }) => id === 'downloads');
    if (service === undefined) throw new Error('no downloads');
    return service;
  };

  it('shows the installation and its progress on Home, and starts waiting downloads afterwards', async () => {
    const rig = await start();
    const { response, rest } = await releaseRequest.promise;
    await vi.waitFor(async () =>
      expect(await getDownloadsState(rig)).toMatchObject({
        ...{ state: 'up', reason: null },
        running: [{ title: t.ytDlpInstalling(), to: '/settings/engines', percent: expect.any(Number) as number }],
        begin: { label: t.downloadVideo() },
      }),
    );
    expect(await getDownloadsState(rig)).not.toHaveProperty('remedy');
    const added = await rig.client.post('/add', { url: rig.site.url('/single.mp4'), quality: 'best' });
    expect(added).toMatchObject({
      status: 'ok',
      msg: m.queuedWithProblem({ problem: m.ytDlpInstalling() }),
    });
    expect((await getDownloadsState(rig)).detail).toBe(t.ytDlpInstalling());
    response.end(rest);
    expect(await rig.client.ended(added.uid ?? '')).toMatchObject({ status: 'finished' });
    await vi.waitFor(async () => expect(await getDownloadsState(rig)).not.toHaveProperty('running'));
  });

  it('requires an action only after a failed installation, with a button that installs it', async () => {
    isThere = false;
    const rig = await start();
    await vi.waitFor(async () => expect((await getDownloadsState(rig)).state).toBe('degraded'));
    const { reason, remedy } = await getDownloadsState(rig);
    expect(reason).toBe(t.ytDlpRequired());
    expect(remedy).toMatchObject({ label: 'Install yt-dlp', to: '/settings/engines', adminOnly: true });
    const page = rig.host.url('control');
    const { engines } = await api<{ engines: EngineState[] }>(page, '/api/engines');
    expect(engines[0]).toMatchObject({
      name: 'yt-dlp',
      work: null,
      failure: expect.stringContaining('responded with status 503') as string,
    });
    isThere = true;
    const { path, body } = remedy?.post ?? { path: '', body: {} };
    // The response is sent when the installation starts.
    const begun = await api<EngineState>(page, path, { method: 'POST', body: JSON.stringify(body) });
    expect(begun).toMatchObject({ path: null, failure: null, work: { step: expect.any(String) as string } });
    const { response, rest } = await releaseRequest.promise;
    response.end(rest);
    await vi.waitFor(async () => expect(await getDownloadsState(rig)).toMatchObject({ state: 'up', reason: null }));
    expect(await getDownloadsState(rig)).not.toHaveProperty('remedy');
  });
});
