import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as plainly } from 'node:http';
import { request } from 'node:https';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { text } from 'node:stream/consumers';
import type { GatewayState } from '../../../services/contracts/gateway/api.ts';
import { api } from '../api.ts';
import { openTestHost, type TestHost, type TestHostOptions } from '../host.ts';

/** Loopback addresses that represent this computer's address on the home network and for another device. */
export const lan = '127.0.0.2';
export const phoneAddress = '127.0.0.3';

/** Settings with which a host shares services with a network of loopback addresses. */
export function sharing(environment: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    GATEWAY_NAME: 'nas',
    GATEWAY_ANNOUNCE: 'false',
    GATEWAY_ADDRESSES: lan,
    HOMEPORT_PORT_GATEWAY: '0',
    HOMEPORT_PORT_GATEWAY_HTTP: '0',
    ...environment,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Host that shares services, and another computer that trusts only its certificate authority. */
export interface Home extends AsyncDisposable {
  readonly host: TestHost;
  readonly authority: string;
  state(): Promise<GatewayState>;
  /** Changes settings of the gateway through the app API. */
  change(settings: Readonly<Record<string, unknown>>): Promise<void>;
  /** Address of the HTTPS listener for names. */
  readonly port: number;
  /** Opens an HTTP/1.1 request such as `https://push.nas.local/…`; the default port is that of HTTPS. */
  open(url: string, options?: Asking): ReturnType<typeof request>;
  ask(url: string, options?: Asking): Promise<Answer>;
  /** Opens an HTTP/2 connection to this host name. */
  http2(host: string): ClientHttp2Session;
  /** Opens a TLS connection to this host name for raw data. */
  dial(host: string): Promise<TLSSocket>;
  /** Signs in at this host name as a user would and returns the cookie. */
  signIn(url: string, name: string, password: string): Promise<string>;
}

/** Settings of the gateway that are not fixed by the environment, so that a test can change them. */
export type HomeOptions = TestHostOptions & { readonly settings?: Readonly<Record<string, unknown>> };

export async function openHome({ settings, ...options }: HomeOptions): Promise<Home> {
  const { GATEWAY_ADDRESSES, ...rest } = sharing(options.environment);
  const environment =
    settings?.['addresses'] === undefined ? { ...rest, GATEWAY_ADDRESSES: GATEWAY_ADDRESSES ?? lan } : rest;
  const host = await openTestHost({ ...options, environment });
  const change: Home['change'] = async (changes) => {
    const body = JSON.stringify(changes);
    await api(host.url('control'), '/api/settings/gateway', { method: 'PATCH', body });
  };
  if (settings !== undefined) await change(settings);
  const state = (): Promise<GatewayState> => api<GatewayState>(host.url('control'), '/api/gateway');
  const { services, trustUrl } = await state();
  const named = services.flatMap(({ addresses }) => addresses).find(({ by }) => by === 'name');
  const authority = trustUrl === null ? '' : (await readPlainly(`${trustUrl}/homeport.crt`)).body;
  const port = Number(new URL(named?.url ?? 'https://none:1').port);

  const open: Home['open'] = (url, { method = 'GET', headers = {} } = {}) => {
    const { hostname, port: urlPort, pathname, search } = new URL(url);
    return request({
      ...{ method, headers, ca: authority, localAddress: phoneAddress, agent: false },
      maxHeaderSize: 128 * 1024,
      ...{
        host: lan,
        servername: /^[\d.]+$/.test(hostname) ? '' : hostname,
        port: urlPort === '' ? port : Number(urlPort),
      },
      path: `${pathname}${search}`,
      ...(/^[\d.]+$/.test(hostname) ? {} : { setHost: false }),
      headers: { Host: urlPort === '' ? `${hostname}:${String(port)}` : `${hostname}:${urlPort}`, ...headers },
    });
  };
  const to = (servername: string): ConnectionOptions => ({
    ...{ host: lan, port, servername, ca: authority, localAddress: phoneAddress },
  });
  const sendRequest: Home['ask'] = async (url, options = {}) => {
    const outgoing = open(url, options).end(options.body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  };
  return {
    ...{ host, authority, state, change, port, open, ask: sendRequest },
    http2(name) {
      const session = connectHttp2(`https://${name}:${String(port)}`, {
        createConnection: () => connectTls({ ...to(name), ALPNProtocols: ['h2'] }),
      });
      session.on('error', () => undefined);
      return session;
    },
    async dial(name) {
      const socket = connectTls({ ...to(name), ALPNProtocols: ['http/1.1'] });
      await once(socket, 'secureConnect');
      return socket.on('error', () => undefined);
    },
    async signIn(url, name, password) {
      const signInUrl = new URL('/.homeport/sign-in', url);
      const origin = `https://${signInUrl.hostname}:${signInUrl.port === '' ? String(port) : signInUrl.port}`;
      const { headers } = await sendRequest(signInUrl.href, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin },
        body: new URLSearchParams({ name, password, to: '/' }).toString(),
      });
      return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/** Sends an HTTP request without TLS from the other computer. */
export async function readPlainly(url: string, { method = 'GET', headers = {} }: Asking = {}): Promise<Answer> {
  const outgoing = plainly(url, { method, headers, localAddress: phoneAddress, agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}
