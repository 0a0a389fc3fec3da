import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTls, type Server as TlsServer } from 'node:https';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMailServer } from '../../support/mail-server.ts';
import { SMTPServer } from 'smtp-server';
import { lacksProgram, needs } from '../../support/requirements.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { listen, openTarget, openUptime, type UptimeRig } from './rig.ts';

needs('openssl');

let rig: UptimeRig;
beforeAll(async () => {
  rig = await openUptime();
});
afterAll(() => rig[Symbol.asyncDispose]());

const hourly = { interval: 3600, timeout: 20 };

it.skipIf(lacksProgram('ping'))('measures a ping and reports an unknown name as down', async () => {
  const pingMonitor = { type: 'ping', hostname: '127.0.0.1', packetSize: 120, ping_count: 2, ...hourly };
  const { id } = await rig.add({ ...pingMonitor, name: 'here' });
  expect((await rig.until(id, 1)).ping).toEqual(expect.any(Number));
  const none = await rig.add({ type: 'ping', name: 'none', hostname: 'nosuch.invalid', ...hourly });
  expect((await rig.until(none.id, 0)).msg).toContain('nosuch.invalid');
  const option = await rig.add({ type: 'ping', name: 'option', hostname: '-f', ...hourly });
  expect((await rig.until(option.id, 0)).msg).toContain('-f');
});

it('queries the configured server for the record type', async () => {
  const { server, port } = await openNameServer();
  try {
    const common = { type: 'dns', dns_resolve_server: '127.0.0.1', port, ...hourly };
    const monitor = await rig.add({ ...common, name: 'found', hostname: 'web.test' });
    expect(await rig.until(monitor.id, 1)).toMatchObject({ msg: 'Records: 192.0.2.7' });
    const textMonitor = await rig.add({ ...common, name: 'words', hostname: 'web.test', dns_resolve_type: 'TXT' });
    expect(await rig.until(textMonitor.id, 1)).toMatchObject({ msg: 'Records: hello' });
    const missing = await rig.add({ ...common, name: 'missing', hostname: 'nosuch.test' });
    expect((await rig.until(missing.id, 0)).msg).toContain('ENOTFOUND');
  } finally {
    server.close();
  }
});

it('checks greeting, encryption and rejection of an SMTP server', async () => {
  await using mail = await openMailServer();
  const common = { type: 'smtp', hostname: '127.0.0.1', ...hourly };
  const { id } = await rig.add({ ...common, name: 'mail', port: mail.port });
  expect(await rig.until(id, 1)).toMatchObject({ msg: 'SMTP connection verifies successfully' });
  const unencrypted = await rig.add({ ...common, name: 'no tls', port: mail.port, smtpSecurity: 'starttls' });
  expect(await rig.until(unencrypted.id, 0)).toMatchObject({ msg: 'The server does not offer STARTTLS' });
  const pem = makeSelfSigned();
  const secured = new SMTPServer({ ...pem, authOptional: true, disableReverseLookup: true });
  const tlsPort = await listen(secured.server);
  const starttls = { ...common, hostname: 'localhost', port: tlsPort, smtpSecurity: 'starttls' };
  const trusted = await rig.add({ ...starttls, name: 'trusted', tlsCa: pem.cert });
  await rig.until(trusted.id, 1);
  const strange = await rig.add({ ...starttls, name: 'strange' });
  expect((await rig.until(strange.id, 0)).msg).toContain('it is self-signed');
  await new Promise<void>((resolve) => secured.close(() => resolve()));
  const refusing = createTcp((socket) => socket.end('554 go away\r\n'));
  const port = await listen(refusing);
  const refused = await rig.add({ ...common, name: 'refused', port });
  expect(await rig.until(refused.id, 0)).toMatchObject({ msg: 'Unexpected greeting from the server: 554 go away' });
  refusing.close();
});

it('reports a WebSocket monitor as up after the upgrade with its subprotocol', async () => {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    handleProtocols: (offered) => (offered.has('mqtt') ? 'mqtt' : false),
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await using web = await openTarget((_request, response) => void response.writeHead(404).end());
  try {
    const common = { type: 'websocket-upgrade', ...hourly };
    const { id } = await rig.add({
      ...common,
      name: 'ws',
      url: `ws://127.0.0.1:${String(port)}/`,
      wsSubprotocol: 'mqtt',
    });
    expect(await rig.until(id, 1)).toMatchObject({ msg: '1000 - OK' });
    const other = await rig.add({
      ...common,
      name: 'other',
      url: `ws://127.0.0.1:${String(port)}/`,
      wsSubprotocol: 'wamp',
    });
    expect((await rig.until(other.id, 0)).msg).toContain('subprotocol');
    const none = await rig.add({ ...common, name: 'none', url: web.url.replace('http', 'ws') });
    expect(await rig.until(none.id, 0)).toMatchObject({ msg: 'Unexpected server response: 404' });
  } finally {
    server.close();
  }
});

it('follows the events of a container of a TCP engine such as Podman', async () => {
  const streams: ServerResponse[] = [];
  let state: Record<string, unknown> = { Running: true, Status: 'running', Health: { Status: '' } };
  await using engine = await openTarget((request, response) => {
    if (request.url?.startsWith('/events') === true) {
      streams.push(response.writeHead(200));
      response.flushHeaders();
    } else if (request.url === '/containers/db/json') {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ Id: 'f'.repeat(64), Name: 'db', State: state, RestartCount: 0 }));
    } else response.writeHead(404).end('{"cause":"no such container","message":"no such container","response":404}');
  });
  const where = { name: 'podman', dockerType: 'tcp', dockerDaemon: `tcp://127.0.0.1:${String(engine.port)}` };
  const { id: docker_host } = await rig.call<{ id: number }>('POST', '/api/docker-hosts', where);
  const { id } = await rig.add({ type: 'docker', name: 'db', docker_container: 'db', docker_host, ...hourly });
  expect(await rig.until(id, 1)).toMatchObject({ msg: 'Container has not reported health and is currently running.' });
  await expect.poll(() => streams.length).toBe(1);
  state = { Running: false, Status: 'exited' };
  streams[0]?.write(
    `{"status":"died","id":"${'f'.repeat(64)}","Type":"container","Action":"died",` +
      `"Actor":{"ID":"${'f'.repeat(64)}","Attributes":{"name":"db"}}}\n`,
  );
  expect(await rig.until(id, 0)).toMatchObject({ msg: 'Container State is exited' });
});

it('uses the configured status of a manual monitor', async () => {
  const { id } = await rig.add({ type: 'manual', name: 'by hand', ...hourly });
  expect(await rig.until(id, 2)).toMatchObject({ msg: 'No status has been set yet' });
  for (const manual_status of [1, 0, 1]) {
    await rig.call('PATCH', `/api/monitors/${String(id)}`, { manual_status });
    await rig.until(id, manual_status);
  }
  expect((await rig.events('up', id))[0]).toMatchObject({ title: '[Up] by hand' });
});

it('includes nested members of a group and excludes paused ones', async () => {
  const outer = await rig.add({ type: 'group', name: 'outer', ...hourly });
  const inner = await rig.add({ type: 'group', name: 'inner', parent: outer.id, ...hourly });
  const leaf = await rig.add({ type: 'manual', name: 'leaf', parent: inner.id, manual_status: 0, ...hourly });
  await rig.until(leaf.id, 0);
  expect(await rig.until(inner.id, 0)).toMatchObject({ msg: 'Child monitors down: leaf' });
  expect(await rig.until(outer.id, 0)).toMatchObject({ msg: 'Child monitors down: inner' });
  await rig.call('POST', `/api/monitors/${String(leaf.id)}/pause`);
  expect(await rig.until(inner.id, 2)).toMatchObject({ msg: 'Group empty' });
  await rig.call('POST', `/api/monitors/${String(outer.id)}/pause`);
  expect((await rig.raw('POST', `/api/monitors/${String(inner.id)}/check`)).status).toBe(409);
});

it('checks the groups of a monitor that is moved or removed', async () => {
  const from = await rig.add({ type: 'group', name: 'from', ...hourly });
  const to = await rig.add({ type: 'group', name: 'to', ...hourly });
  const member = await rig.add({ type: 'manual', name: 'moved', parent: from.id, manual_status: 1, ...hourly });
  await rig.until(from.id, 1);
  expect(await rig.until(to.id, 2)).toMatchObject({ msg: 'Group empty' });
  await rig.call('PATCH', `/api/monitors/${String(member.id)}`, { parent: to.id });
  await rig.until(to.id, 1);
  expect(await rig.until(from.id, 2)).toMatchObject({ msg: 'Group empty' });
  await rig.call('DELETE', `/api/monitors/${String(member.id)}`);
  expect(await rig.until(to.id, 2)).toMatchObject({ msg: 'Group empty' });
});

describe('certificate details', () => {
  let folder: string;
  const open: TlsServer[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'chain-'));
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    openssl(
      'req',
      '-x509',
      ...curve,
      '-days',
      '3000',
      '-keyout',
      'root.key',
      '-out',
      'root.pem',
      '-subj',
      '/CN=Harbour Root',
    );
    for (const [name, from, to, names] of [
      ['good', '-1', '+90', 'DNS:localhost'],
      ['ended', '-60', '-2', 'DNS:localhost'],
      ['other', '-1', '+90', 'DNS:elsewhere.test'],
    ] as const) {
      openssl('req', ...curve, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=leaf-${name}`);
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
      writeFileSync(join(folder, `${name}.db`), '');
      writeFileSync(join(folder, `${name}.cnf`), authority(name));
      openssl(
        'ca',
        '-batch',
        '-config',
        `${name}.cnf`,
        '-startdate',
        stamp(from),
        '-enddate',
        stamp(to),
        '-in',
        `${name}.csr`,
        '-out',
        `${name}.pem`,
        '-notext',
        '-extfile',
        `${name}.ext`,
      );
    }
  });
  afterAll(() => {
    for (const server of open) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });

  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const serve = async (name: string): Promise<string> => {
    const server = createTls(
      { key: read(`${name}.key`), cert: read(`${name}.pem`) + read('root.pem') },
      (_request, response) => void response.end('x'),
    );
    open.push(server);
    return `https://localhost:${String(await listen(server))}/`;
  };
  const add = async (name: string, overrides: object = {}) =>
    rig.add({
      type: 'http',
      name,
      url: await serve(name),
      tlsCa: read('root.pem'),
      expiryNotification: true,
      ...hourly,
      ...overrides,
    });

  it('lists chain, issuer and validity', async () => {
    const { id } = await add('good');
    await rig.until(id, 1);
    expect(await rig.call('GET', `/api/monitors/${String(id)}/facts`)).toMatchObject({
      certificate: {
        trusted: true,
        error: null,
        chain: [
          { subject: 'leaf-good', issuer: 'Harbour Root', kind: 'server', names: ['DNS:localhost'] },
          { subject: 'Harbour Root', issuer: 'Harbour Root', kind: 'root CA' },
        ],
      },
    });
    const { state } = await rig.call<{ state: { certDays: number } }>('GET', `/api/monitors/${String(id)}`);
    expect(state.certDays).toBe(89);
  });

  it('lists expired and mismatched certificates, which are down', async () => {
    const ended = await add('ended');
    expect((await rig.until(ended.id, 0)).msg).toContain('it has expired');
    expect((await rig.events('cert_expiry', ended.id))[0]).toMatchObject({
      title: expect.stringContaining('expired'),
      type: 'failure',
      event: { daysRemaining: -2, threshold: -1 },
    });
    const other = await add('other');
    expect((await rig.until(other.id, 0)).msg).toContain('elsewhere.test');
    const careless = await add('other', { ignoreTls: true });
    await rig.until(careless.id, 1);
    expect(await rig.call('GET', `/api/monitors/${String(careless.id)}/facts`)).toMatchObject({
      certificate: { trusted: false, chain: [{ subject: 'leaf-other' }, {}] },
    });
  });
});

function stamp(days: string): string {
  const expiresAt = new Date(Date.now() + Number(days) * 86_400_000);
  return `${expiresAt.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`;
}

function authority(name: string): string {
  return (
    `[ca]\ndefault_ca=a\n[a]\ndatabase=${name}.db\nnew_certs_dir=.\nserial=${name}.srl\n` +
    'rand_serial=yes\ncertificate=root.pem\nprivate_key=root.key\ndefault_md=sha256\npolicy=p\n' +
    'unique_subject=no\n[p]\ncommonName=supplied\n'
  );
}

/** DNS server with records of web.test: 192.0.2.7, and "hello" as text. */
async function openNameServer(): Promise<{ readonly server: UdpSocket; readonly port: number }> {
  const server = createSocket('udp4');
  server.on('message', (packet, { port, address }) => {
    const end = packet.indexOf(0, 12) + 5;
    const question = packet.subarray(12, end);
    const isKnown = question.toString('latin1').startsWith('\x03web');
    const isText = question.readUInt16BE(question.length - 4) === 16;
    const data = isText ? Buffer.from('\x05hello') : Buffer.from([192, 0, 2, 7]);
    const head = Buffer.from(packet.subarray(0, 12));
    head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(isKnown ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 12, 0, isText ? 16 : 1, 0, 1, 0, 0, 0, 60, 0, data.length]);
    server.send(Buffer.concat([head, question, ...(isKnown ? [record, data] : [])]), port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  return { server, port: server.address().port };
}
