import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { needs } from '../requirements.ts';
import { makeSelfSigned } from '../self-signed.ts';
import { toolPath } from '../tools.ts';
import { lan } from './phone.ts';

needs('pebble');

/** Options of the authority. */
export interface AuthorityOptions {
  /** Port at which HTTP challenges are validated; default: none listens. */
  readonly httpPort?: number;
  /** Percentage of requests whose nonce is rejected. */
  readonly nonceRejections?: number;
  /** Required external account: its key id and HMAC key. */
  readonly externalAccount?: { readonly keyId: string; readonly hmacKey: string };
}

/** Let's Encrypt's test authority (Pebble) with its DNS server, on loopback. */
export interface TestAuthority extends AsyncDisposable {
  readonly directory: string;
  /** File with the certificate of the authority's own address. */
  readonly caFile: string;
  /** DNS server with the records of {@link setTxt}. */
  readonly dnsServer: string;
  /** Root certificate of the issued chains. */
  root(): Promise<string>;
  setTxt(name: string, value: string): Promise<void>;
  clearTxt(name: string): Promise<void>;
  /** Stops the authority; a new start has none of its accounts and orders. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Settings of a gateway that uses the authority. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Starts Pebble and its DNS server, in which all names have the address of this computer on the test network. */
export async function openAuthority(options: AuthorityOptions = {}): Promise<TestAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const [dns, dnsManagement, port, management, unused] = await Promise.all(Array.from({ length: 5 }, freePort));
  const { cert, key } = makeSelfSigned();
  const caFile = join(folder, 'cert.pem');
  writeFileSync(caFile, cert);
  writeFileSync(join(folder, 'key.pem'), key);
  const address = (value: number | undefined): string => `127.0.0.1:${String(value)}`;
  const { externalAccount: external } = options;
  const pebble = {
    listenAddress: address(port),
    managementListenAddress: address(management),
    certificate: caFile,
    privateKey: join(folder, 'key.pem'),
    httpPort: options.httpPort ?? unused,
    tlsPort: unused,
    ocspResponderURL: '',
    externalAccountBindingRequired: external !== undefined,
    ...(external === undefined ? {} : { externalAccountMACKeys: { [external.keyId]: external.hmacKey } }),
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ pebble }));
  const dnsServer = spawn(
    toolPath('pebble-challtestsrv'),
    ['-dnsserver', address(dns), '-management', address(dnsManagement), '-defaultIPv4', lan, '-defaultIPv6', ''].concat(
      ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', ''],
    ),
    { stdio: 'ignore' },
  );
  const manage = async (path: string, body: unknown): Promise<void> => {
    const reply = await fetch(`http://${address(dnsManagement)}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${path}: ${String(reply.status)}`);
  };
  let authority: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (authority === undefined) return;
    const ended = once(authority, 'exit');
    authority.kill('SIGKILL');
    authority = undefined;
    await ended;
  };
  const directory = `https://localhost:${String(port)}/dir`;
  const agent = new Agent({ ca: cert });
  const start = async (): Promise<void> => {
    authority = spawn(toolPath('pebble'), ['-config', join(folder, 'config.json'), '-dnsserver', address(dns)], {
      stdio: 'ignore',
      env: {
        PEBBLE_VA_NOSLEEP: '1',
        PEBBLE_WFE_NONCEREJECT: String(options.nonceRejections ?? 0),
        PEBBLE_AUTHZREUSE: '0',
      },
    });
    await vi.waitFor(() => read(directory, agent), { timeout: 20_000, interval: 50 });
  };
  await Promise.all([
    start(),
    vi.waitFor(() => manage('/clear-txt', { host: 'x.' }), { timeout: 20_000, interval: 50 }),
  ]);
  return {
    directory,
    caFile,
    dnsServer: address(dns),
    root: () => read(`https://localhost:${String(management)}/roots/0`, agent),
    setTxt: (name, value) => manage('/set-txt', { host: `${name}.`, value }),
    clearTxt: (name) => manage('/clear-txt', { host: `${name}.` }),
    stop,
    start,
    settings: {
      acmeAuthority: 'custom',
      acmeTermsAgreed: true,
      acmeDirectory: directory,
      acmeCaFile: caFile,
      acmeResolvers: [address(dns)],
      acmePropagationSeconds: 10,
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await stop();
      const ended = once(dnsServer, 'exit');
      dnsServer.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function read(url: string, agent: Agent): Promise<string> {
  const [response] = (await once(request(url, { agent }).end(), 'response')) as [IncomingMessage];
  return text(response);
}
