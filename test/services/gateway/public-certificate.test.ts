import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TcpSocketConnectOpts } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { inbox as inboxService } from '../../../services/inbox/index.ts';
import type { PublicCertificateState } from '../../../services/contracts/gateway/certificate-api.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { api, inbox } from '../../support/api.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { freePort } from '../../support/free-port.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { openAuthority, type TestAuthority } from '../../support/gateway/authority.ts';
import { openUpdateServer, type UpdateServer } from '../../support/gateway/update-server.ts';
import { lan, openHome, phoneAddress, type Home, type HomeOptions } from '../../support/gateway/phone.ts';

const domain = 'home.example.test';
const recordName = `_acme-challenge.${domain}`;
const tsigKey = { name: 'homeport.key', secret: Buffer.from('a secret shared with the server').toString('base64') };
const services = [fixtureService('lamp'), inboxService, notify, control, gateway];

let authority: TestAuthority;
let dns: UpdateServer;

beforeAll(async () => {
  authority = await openAuthority({ nonceRejections: 15 });
  dns = await openUpdateServer(authority, 'example.test', tsigKey);
});
afterAll(async () => {
  await dns[Symbol.asyncDispose]();
  await authority[Symbol.asyncDispose]();
});

const openSharing = (options: HomeOptions = {}): Promise<Home> =>
  openHome({ services, settings: { shared: ['lamp'] }, ...options });

/** Settings for confirmation by dynamic updates. */
const updates = (): Record<string, unknown> => ({
  ...authority.settings,
  acmeDomain: domain,
  acmeConfirmation: 'rfc2136',
  acmeDnsServer: dns.address,
  acmeTsigName: tsigKey.name,
  acmeTsigSecret: tsigKey.secret,
});

const readState = ({ host }: Pick<Home, 'host'>): Promise<PublicCertificateState> =>
  api(host.url('control'), '/api/gateway/certificate');

const retry = ({ host }: Home): Promise<PublicCertificateState> =>
  api(host.url('control'), '/api/gateway/certificate/retry', { method: 'POST' });

async function waitFor(home: Home, status: PublicCertificateState['status']): Promise<PublicCertificateState> {
  return vi.waitFor(
    async () => {
      const state = await readState(home);
      expect([state.status, state.problem?.text ?? '']).toEqual([status, expect.any(String)]);
      return state;
    },
    { timeout: 60_000, interval: 100 },
  );
}

async function dial(home: Home, servername: string): Promise<TLSSocket> {
  const ca = [home.authority, await authority.root()];
  const options: ConnectionOptions & Pick<TcpSocketConnectOpts, 'localAddress'> = {
    host: lan,
    port: home.port,
    servername,
    ca,
    localAddress: phoneAddress,
  };
  const socket = connect(options);
  await once(socket, 'secureConnect');
  return socket;
}

async function getSerial(home: Home, servername: string): Promise<string> {
  const socket = await dial(home, servername);
  const { serialNumber } = socket.getPeerX509Certificate() ?? new X509Certificate('');
  socket.destroy();
  return serialNumber;
}

describe('certificate by dynamic DNS updates', () => {
  it('is tried in staging, issued, presented for the domain only, and replaced without dropping connections', async () => {
    await using home = await openSharing();
    const localSerial = await getSerial(home, 'lamp.nas.local');
    await home.change({ ...updates(), acmeStagingDirectory: `${authority.directory}?staging` });
    const state = await waitFor(home, 'done');
    expect(state.certificate?.names).toEqual([domain, `*.${domain}`]);
    // Two records each for staging and production, which are deleted.
    expect([dns.values, new Set(dns.history).size]).toEqual([[], 4]);
    const socket = await dial(home, `lamp.${domain}`);
    const serial = socket.getPeerX509Certificate()?.serialNumber;
    expect(await getSerial(home, 'lamp.nas.local')).toBe(localSerial);
    await retry(home);
    await vi.waitFor(async () => expect(await getSerial(home, domain)).not.toBe(serial), { interval: 100 });
    socket.write(`GET / HTTP/1.1\r\nHost: lamp.${domain}:${String(home.port)}\r\n\r\n`);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    expect(reply.toString()).toMatch(/^HTTP\/1\.1 401/);
    socket.destroy();
    const { services: shared } = await home.state();
    expect(shared.find(({ id }) => id === 'lamp')?.addresses[0]).toEqual({
      by: 'domain',
      url: `https://lamp.${domain}:${String(home.port)}`,
    });
  });

  it('stops at a wrong key, names the remedy once in the inbox and hides the secret', async () => {
    await using home = await openSharing();
    const acmeTsigSecret = Buffer.from('another secret').toString('base64');
    await home.change({ ...updates(), acmeTsigSecret });
    const state = await waitFor(home, 'stopped');
    expect(state).toMatchObject({
      problem: { code: 'gateway.acme.dns_token' },
      certificate: null,
      nextAttemptAt: null,
    });
    await vi.waitFor(async () => expect(await inbox(home.host.url('control'))).toHaveLength(1));
    await retry(home);
    await waitFor(home, 'stopped');
    expect(await inbox(home.host.url('control'))).toHaveLength(1);
    expect(home.host.log.join('\n')).not.toContain(acmeTsigSecret);
    expect(JSON.stringify(await home.state())).not.toContain(acmeTsigSecret);
    expect((await home.ask('https://lamp.nas.local/')).status).toBe(401);
  });

  it('deletes the records when they never appear at the name servers', async () => {
    dns.isDetached = true;
    try {
      await using home = await openSharing();
      await home.change({ ...updates(), acmePropagationSeconds: 5 });
      const state = await waitFor(home, 'failed');
      expect(state.problem?.code).toBe('gateway.acme.propagation');
      expect(state.nextAttemptAt).toBeGreaterThan(Date.now() + 4 * 60_000);
      expect(dns.values).toEqual([]);
    } finally {
      dns.isDetached = false;
    }
  });

  it.each([
    ['another confirmation', { acmeConfirmation: 'manual' }],
    ['no domain', { acmeDomain: '' }],
  ])('deletes the records with the former settings after a change to %s', async (_name, change) => {
    dns.isDetached = true;
    try {
      await using home = await openSharing();
      await home.change({ ...updates(), acmePropagationSeconds: 600 });
      await vi.waitFor(() => expect(dns.values.length).toBeGreaterThan(0), { timeout: 30_000, interval: 50 });
      await home.change({ ...change, acmeDnsServer: '', acmeTsigName: '', acmeTsigSecret: '' });
      await vi.waitFor(() => expect(dns.values).toEqual([]), { timeout: 30_000, interval: 50 });
    } finally {
      dns.isDetached = false;
    }
  });

  it('deletes the records with new credentials when the former ones were revoked', async () => {
    dns.isDetached = true;
    const revoked = dns.key;
    try {
      await using home = await openSharing();
      await home.change({ ...updates(), acmePropagationSeconds: 600 });
      await vi.waitFor(() => expect(dns.values.length).toBeGreaterThan(0), { timeout: 30_000, interval: 50 });
      const [first] = dns.values;
      dns.key = { name: 'homeport.key', secret: Buffer.from('another secret of the server').toString('base64') };
      await home.change({ acmeTsigSecret: dns.key.secret });
      await vi.waitFor(() => expect(dns.values).not.toContain(first), { timeout: 30_000, interval: 50 });
      await home.change({ acmeDomain: '' });
      await vi.waitFor(() => expect(dns.values).toEqual([]), { timeout: 30_000, interval: 50 });
    } finally {
      dns.isDetached = false;
      dns.key = revoked;
    }
  });

  it('keeps the certificate while the authority is down, and registers again when it lost the account', async () => {
    await using home = await openSharing();
    await home.change(updates());
    await waitFor(home, 'done');
    const serial = await getSerial(home, domain);
    await authority.stop();
    await retry(home);
    try {
      const state = await waitFor(home, 'failed');
      expect(state).toMatchObject({ problem: { code: 'gateway.acme.authority_down' }, steps: expect.any(Array) });
      expect(state.certificate).not.toBeNull();
    } finally {
      await authority.start();
    }
    expect((await home.state()).problems).toEqual([]);
    await retry(home);
    await waitFor(home, 'done');
    expect(await getSerial(home, domain)).not.toBe(serial);
  });

  it('reports a clock that is wrong by a day', async () => {
    const dayMs = 24 * 3_600_000;
    const clock = { ...systemClock, now: () => Date.now() + dayMs };
    await using home = await openSharing({ clock });
    await home.change(updates());
    expect((await waitFor(home, 'failed')).problem?.code).toBe('gateway.acme.clock');
  });
});

describe('certificate with records by hand', () => {
  it('shows the records, continues the same order after a restart and finishes when they exist', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-test-'));
    const manual = { ...authority.settings, acmeDomain: domain, acmeConfirmation: 'manual' };
    let records: PublicCertificateState['records'];
    {
      await using home = await openSharing({ dataDir });
      await home.change(manual);
      ({ records } = await waitFor(home, 'waiting'));
      expect(records.map(({ name }) => name)).toEqual([recordName, recordName]);
    }
    await using home = await openSharing({ dataDir });
    expect((await waitFor(home, 'waiting')).records).toEqual(records);
    for (const { name, value } of records) await authority.setTxt(name, value);
    await retry(home);
    await waitFor(home, 'done');
    await authority.clearTxt(recordName);
    await home.change({ acmeDomain: '' });
    expect(await readState(home)).toMatchObject({ status: 'off', certificate: null });
    await home[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describe('authority with a rate limit', () => {
  it('is asked again only after the requested delay', async () => {
    const { cert, key } = makeSelfSigned();
    const folder = mkdtempSync(join(tmpdir(), 'authority-'));
    const caFile = join(folder, 'cert.pem');
    writeFileSync(caFile, cert);
    const requests: string[] = [];
    const server = createServer({ cert, key }, (request, response) => {
      requests.push(request.url ?? '');
      const base = `https://${request.headers.host ?? ''}`;
      const isAccount = request.url === '/account';
      response.writeHead(isAccount ? 429 : 200, {
        'Replay-Nonce': 'nonce',
        ...(isAccount && { 'Retry-After': '7200' }),
      });
      const error = { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too many accounts' };
      const directory = { newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` };
      response.end(JSON.stringify(isAccount ? error : directory));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    {
      await using home = await openSharing();
      await home.change({ ...updates(), acmeDirectory: `https://localhost:${String(port)}/`, acmeCaFile: caFile });
      const { problem, nextAttemptAt } = await waitFor(home, 'failed');
      expect(problem).toMatchObject({ code: 'gateway.acme.rate_limited', text: expect.stringContaining('too many') });
      expect(nextAttemptAt).toBeGreaterThan(Date.now() + 7_000_000);
      expect(requests).toEqual(['/', '/account']);
    }
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('certificate over HTTP', () => {
  it('answers only challenges of other networks, and lists shared services by name', async () => {
    const httpPort = await freePort();
    await using own = await openAuthority({
      httpPort,
      externalAccount: {
        keyId: 'kid-1',
        hmacKey: Buffer.from('a key of thirty-two bytes length').toString('base64url'),
      },
    });
    await using home = await openSharing({
      environment: { HOMEPORT_PORT_GATEWAY_HTTP: String(httpPort), GATEWAY_NETWORKS: `${phoneAddress}/32` },
    });
    await home.change({ ...own.settings, acmeDomain: domain, acmeConfirmation: 'http' });
    expect((await waitFor(home, 'stopped')).problem?.code).toBe('gateway.acme.external_account');
    await home.change({
      acmeKeyId: 'kid-1',
      acmeHmacKey: Buffer.from('a key of thirty-two bytes length').toString('base64url'),
    });
    const state = await waitFor(home, 'done');
    expect(state.certificate?.names).toEqual([domain, `lamp.${domain}`]);
    await expect(fetch(`http://${lan}:${String(httpPort)}/trust`)).rejects.toThrow();
  });
});
