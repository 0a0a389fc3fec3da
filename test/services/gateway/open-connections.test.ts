import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SharedService } from '../../../services/contracts/gateway/api.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, phoneAddress, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

/** Service that responds with a line immediately and ends the response when the client disconnects. */
const lamp = fixtureService('lamp', () => ({
  http: (_request, response) => void response.writeHead(200).write('on\n'),
}));
const services = [push, lamp, control, gateway];

/** Opens a stream and waits for its first data. */
interface Stream {
  readonly answer: IncomingMessage;
  readonly ended: Promise<unknown>;
}

async function stream(home: Home, url: string, headers: Record<string, string> = {}): Promise<Stream> {
  const openRequest = home.open(url, { headers }).end();
  openRequest.on('error', () => undefined);
  const [response] = (await once(openRequest, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  const ended = new Promise((resolve) => void response.once('close', resolve));
  response.on('error', () => undefined);
  await once(response, 'data');
  response.resume();
  return { answer: response, ended };
}

/** Returns the certificate that new connections to an address receive. */
async function shownOn(host: string, port: number, ca?: string): Promise<{ serial: string; names: string }> {
  const socket = connectTls({
    ...{ host, port, servername: 'push.nas.local', localAddress: phoneAddress },
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
  });
  await once(socket, 'secureConnect');
  const { serialNumber, subjectaltname = '' } = socket.getPeerCertificate();
  socket.destroy();
  return { serial: serialNumber, names: subjectaltname };
}

describe('open connections', () => {
  it('survives the renewal of the certificate after two thirds of its lifetime', async () => {
    const clock = createFakeClock(Date.now() - 300 * 86_400_000);
    await using home = await openHome({ services, clock, environment: { GATEWAY_SHARED: 'push' } });
    const before = await shownOn(lan, home.port, home.authority);
    const { answer } = await stream(home, 'https://push.nas.local/hall/json', { Authorization: adminAuthorization });
    clock.set(clock.now() + 250 * 86_400_000);
    clock.advance(10_000);
    await home.state();
    expect((await shownOn(lan, home.port, home.authority)).serial).toBe(before.serial);
    clock.set(clock.now() + 20 * 86_400_000);
    clock.advance(10_000);
    await vi.waitFor(
      async () => expect((await shownOn(lan, home.port, home.authority)).serial).not.toBe(before.serial),
      {
        timeout: 20_000,
      },
    );
    const firstData = once(answer, 'data') as Promise<[Buffer]>;
    const posting = { method: 'POST', headers: { Authorization: adminAuthorization }, body: 'It rang' };
    await home.ask('https://push.nas.local/hall', posting);
    expect((await firstData)[0].toString()).toContain('It rang');
  });

  it('survives a new address of this computer', async () => {
    await using home = await openHome({
      services,
      settings: { shared: ['push'], addresses: [lan] },
      environment: { HOMEPORT_PORT_GATEWAY: String(await freePort()) },
    });
    const first = await home.state();
    const { port } = home;
    expect(first.certificate?.names).toContain(lan);
    const socket = await home.dial('nas.local');
    await home.change({ addresses: [lan, '127.0.0.4'] });
    const second = await home.state();
    expect(second.certificate?.names).toContain('127.0.0.4');
    expect(second.lanAddresses).toEqual([lan, '127.0.0.4']);
    expect((await shownOn('127.0.0.4', port)).names).toContain('127.0.0.4');
    expect((await shownOn(lan, port)).names).toContain('127.0.0.4');
    expect(socket.destroyed).toBe(false);
    socket.write('GET /.homeport/style.css HTTP/1.1\r\nHost: nas.local\r\nConnection: close\r\n\r\n');
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toContain('HTTP/1.1 200');
    await home.change({ addresses: ['127.0.0.4'] });
    await expect(shownOn(lan, port)).rejects.toThrow('ECONNREFUSED');
  });
});

describe("administrator's certificate", () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-certificate-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  const write = ({ cert, key }: { cert: string; key: string }): void => {
    writeFileSync(files.certFile, cert);
    writeFileSync(files.keyFile, key);
  };

  it('is used, reloaded after changes and kept while the files are invalid', async () => {
    const clock = createFakeClock(Date.now());
    write(makeSelfSigned());
    await using home = await openHome({ services, clock, environment: { GATEWAY_SHARED: 'push' } });
    const local = await shownOn(lan, home.port);
    await home.change(files);
    const certificate = await shownOn(lan, home.port);
    expect(certificate.serial).not.toBe(local.serial);
    expect(await home.state()).toMatchObject({ trustUrl: null, certificate: { source: 'own' }, problems: [] });

    const other = makeSelfSigned();
    write(other);
    clock.advance(10_000);
    await vi.waitFor(async () => expect((await shownOn(lan, home.port)).serial).not.toBe(certificate.serial), {
      timeout: 20_000,
    });
    const renewed = await shownOn(lan, home.port);

    write({ cert: other.cert, key: makeSelfSigned().key });
    clock.advance(10_000);
    const broken = expect.stringContaining('can’t be used') as string;
    await vi.waitFor(async () => expect((await home.state()).problems).toEqual([broken]), { timeout: 20_000 });
    expect((await shownOn(lan, home.port)).serial).toBe(renewed.serial);

    await home.change({ certFile: '', keyFile: '' });
    expect((await shownOn(lan, home.port, home.authority)).serial).toBe(local.serial);
    write(other);
    await home.change(files);
    expect((await shownOn(lan, home.port)).serial).toBe(renewed.serial);
  });

  it('falls back to the local certificate when it is unreadable', async () => {
    const broken = { GATEWAY_CERT_FILE: join(folder, 'none.pem'), GATEWAY_KEY_FILE: join(folder, 'none.key') };
    await using home = await openHome({ services, environment: { GATEWAY_SHARED: 'push', ...broken } });
    expect((await home.ask('https://push.nas.local/v1/health')).status).toBe(200);
    expect((await home.state()).problems).toEqual([expect.stringContaining('none.pem')]);
  });

  it('reports the expiry', async () => {
    const { cert, key } = makeSelfSigned();
    write({ cert, key });
    const clock = createFakeClock(Date.now());
    await using home = await openHome({ services, clock, environment: { GATEWAY_SHARED: 'push' } });
    await home.change(files);
    expect((await home.state()).problems).toEqual([]);
    clock.set(clock.now() + 3 * 86_400_000);
    expect((await home.state()).problems).toEqual([expect.stringContaining('has expired')]);
  });
});

describe('revoked access', () => {
  let home: Home;
  beforeAll(async () => {
    home = await openHome({ services, settings: { shared: ['push', 'lamp'] } });
  });
  afterAll(() => home[Symbol.asyncDispose]());

  it('ends only the connections of a session that signs out', async () => {
    const [cookie, other] = [
      await home.signIn('https://lamp.nas.local', admin.name, admin.password),
      await home.signIn('https://lamp.nas.local', admin.name, admin.password),
    ];
    const firstStream = await stream(home, 'https://lamp.nas.local/', { Cookie: cookie });
    const otherStream = await stream(home, 'https://lamp.nas.local/', { Cookie: other });
    const origin = `https://lamp.nas.local:${home.port}`;
    await home.ask('https://lamp.nas.local/.homeport/sign-out', {
      method: 'POST',
      headers: { Cookie: cookie, Origin: origin },
    });
    await firstStream.ended;
    expect(otherStream.answer.destroyed).toBe(false);
    otherStream.answer.destroy();
  });

  it('ends connections of accounts without a grant, also over HTTP/2', async () => {
    const account = { name: 'bob', password: 'long enough' };
    const grants = [{ service: 'lamp', resource: '*', permission: 'read' }];
    await api(home.host.url('control'), '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({ ...account, grants }),
    });
    const cookie = await home.signIn('https://lamp.nas.local', account.name, account.password);
    const byHttp1 = await stream(home, 'https://lamp.nas.local/', { Cookie: cookie });
    const session = home.http2('lamp.nas.local');
    const byHttp2 = session.request({ ':path': '/', cookie });
    byHttp2.on('error', () => undefined);
    await once(byHttp2, 'data');
    const closed = new Promise((resolve) => void byHttp2.once('close', resolve));
    await api(home.host.url('control'), '/api/accounts/bob', { method: 'PATCH', body: JSON.stringify({ grants: [] }) });
    await Promise.all([byHttp1.ended, closed]);
    session.destroy();
  });

  it('ends connections of a service that is no longer shared', async () => {
    const socket = new WebSocket(`wss://push.nas.local:${home.port}/hall/ws`, {
      ...{ ca: home.authority, headers: { Authorization: adminAuthorization } },
      lookup: (_name: string, options: any, done: any) =>
        options.all ? done(null, [{ address: lan, family: 4 }]) : done(null, lan, 4),
    });
    socket.on('error', () => undefined);
    await once(socket, 'message');
    const closed = once(socket, 'close');
    const { ended } = await stream(home, 'https://push.nas.local/hall/json', { Authorization: adminAuthorization });
    await home.change({ shared: ['lamp'] });
    await Promise.all([closed, ended]);
    const isOn = ({ services: all }: { services: SharedService[] }): string[] =>
      all.filter(({ exposure }) => exposure !== 'off').map(({ id }) => id);
    expect(isOn(await home.state())).toEqual(['lamp']);
  });

  it('ends connections of a network that is no longer admitted', async () => {
    await home.change({ shared: ['push', 'lamp'] });
    const { ended, answer } = await stream(home, 'https://push.nas.local/hall/json', {
      Authorization: adminAuthorization,
    });
    const requestSocket = answer.socket;
    await home.change({ networks: ['127.0.0.9'] });
    await ended;
    expect(requestSocket.destroyed).toBe(true);
    await expect(home.ask('https://push.nas.local/v1/health')).rejects.toThrow();
    await home.change({ networks: ['127.0.0.0/8'] });
    expect((await home.ask('https://push.nas.local/v1/health')).status).toBe(200);
  });
});
