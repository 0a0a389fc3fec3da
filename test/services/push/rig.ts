import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { z } from 'zod';
import {
  defineService,
  type Clock,
  type Context,
  type ServiceDescriptor,
} from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { push } from '../../../services/push/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

export const admin = 'Basic ' + Buffer.from('admin:adminpass').toString('base64');

export interface RigResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Rig extends AsyncDisposable {
  readonly host: TestHost;
  /** Port of the push server. */
  readonly port: number;
  /** Context of the same host: accounts, bus and handovers. */
  readonly context: Context;
  ask(method: string, path: string, headers?: Record<string, string>, body?: string | Buffer): Promise<RigResponse>;
  /** Publishes as administrator and returns the message. */
  publish(path: string, body?: string, headers?: Record<string, string>): Promise<any>;
  /** Returns the parsed messages of a poll as administrator. */
  poll(path: string): Promise<any[]>;
  listen(path: string, headers?: Record<string, string>): Promise<Stream>;
  /** Returns a metric of the push server. */
  metric(name: string): Promise<number>;
}

/** Open stream, read line by line. */
export interface Stream extends Disposable {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly lines: readonly string[];
  /** Parsed messages of the stream. */
  readonly messages: readonly any[];
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  readonly response: IncomingMessage;
}

/** Opens a host with push, inbox and control on free ports, and one administrator. */
export async function openRig(
  options: {
    dataDir?: string;
    clock?: Clock;
    environment?: Record<string, string>;
    services?: readonly ServiceDescriptor<any, any>[];
  } = {},
): Promise<Rig> {
  let context: Context | undefined;
  const probe = defineService({
    id: 'probe',
    title: 'Probe',
    summary: 'Gives the test a context.',
    settings: z.object({}),
    environment: {},
    migrations: [],
    create(_settings) {
      context = _settings;
      return {
        start: () => Promise.resolve(),
        health: () => Promise.resolve({ state: 'up', detail: '' }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  });
  const { services = [push, inbox, control], environment, ...rest } = options;
  const host = await openTestHost({
    ...rest,
    services: [...services, probe],
    environment: { HOMEPORT_ADMIN_USER: 'admin', HOMEPORT_ADMIN_PASSWORD: 'adminpass', ...environment },
  });
  const port = host.port('push');
  if (context === undefined) throw new Error('the probe was not started');

  const sendRequest: Rig['ask'] = async (method, path, headers = {}, body) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path, headers });
    // Sends bytes, because Node would otherwise write the headers in the string's encoding.
    request.end(body === undefined ? undefined : Buffer.from(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: Buffer.concat(chunks).toString('utf8'),
    };
  };

  return {
    host,
    port,
    context,
    ask: sendRequest,
    async publish(path, body = 'x', headers = {}) {
      const response = await sendRequest('POST', path, { authorization: admin, ...headers }, body);
      if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
      return JSON.parse(response.text);
    },
    async poll(path) {
      const { text } = await sendRequest('GET', path, { authorization: admin });
      return splitLines(text).map((line) => JSON.parse(line));
    },
    async listen(path, headers = { authorization: admin }) {
      const request = httpRequest({ port, host: '127.0.0.1', path, headers, agent: false });
      request.end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return readStream(response);
    },
    async metric(name) {
      const page = await fetch(`${host.url('control')}/metrics`, { headers: { authorization: admin } });
      return Number(new RegExp(`^${name}\\{service="push"\\} (\\d+)$`, 'm').exec(await page.text())?.[1]);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function readStream(response: IncomingMessage): Stream {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  // A closed stream ends with an error, which counts as an end.
  response.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    response,
    get lines() {
      return splitLines(text);
    },
    get messages() {
      return splitLines(text)
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event === 'message');
    },
    ended: new Promise((resolve) => response.once('close', () => resolve())),
    [Symbol.dispose]: () => response.destroy(),
  };
}

function splitLines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

/** Sends bytes over a socket and returns the response after the server closes it. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(bytes);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}
