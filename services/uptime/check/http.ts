import { request as httpRequest, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { isAccepted } from '../domain/status-codes.ts';
import { formatCutNote, readBody } from './body.ts';
import { openConnection, toFamily, type ConnectOptions, type TlsOptions } from './connect.ts';
import { CookieJar } from './cookies.ts';
import { CheckFailure, createSettingsFailure, createTargetFailure } from './failure.ts';
import { evaluateJsonQuery } from './json-query.ts';
import type { ProxyAddress } from './messages.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import {
  createStatusFailure,
  findProxy,
  getProxyAuthorization,
  isHttpProxy,
  openProxyConnection,
  openTunnel,
  resolveDestination,
} from './proxy-tunnel.ts';
import type { TargetUse } from './target-policy.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

const userAgent = 'Homeport-Uptime/1 (compatible; Uptime-Kuma)';

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Checks the HTTP status code and, depending on the type, a keyword or a JSON value in the body. Redirects are followed
 * here, since each hop is checked against the target policy.
 */
export async function probeHttp(context: CheckContext): Promise<CheckOutcome> {
  const { config } = context;
  const wantsBody = config.type === 'keyword' || config.type === 'json-query';
  let hop = firstHop(context);
  const cookies = new CookieJar();
  for (let redirects = 0; ; redirects += 1) {
    const cookie = cookies.header(hop.url, hop.headers['cookie']);
    const hopWithCookies = cookie === undefined ? hop : { ...hop, headers: { ...hop.headers, cookie } };
    const response = await sendRequest(context, hopWithCookies, wantsBody);
    const { statusCode: code = 0, headers } = response;
    cookies.store(hop.url, headers['set-cookie'] ?? []);
    const isRedirect = code >= 300 && code < 400 && headers.location !== undefined;
    if (!isRedirect || config.maxredirects === 0) return await evaluateResponse(context, response, wantsBody);
    response.destroy();
    if (redirects >= config.maxredirects) throw new CheckFailure('Maximum number of redirects exceeded');
    hop = nextHop(hop, code, headers.location ?? '');
  }
}

async function evaluateResponse(
  { config, signal }: CheckContext,
  response: IncomingMessage,
  wantsBody: boolean,
): Promise<CheckOutcome> {
  const { statusCode: code = 0, statusMessage } = response;
  if (!isAccepted(code, config.accepted_statuscodes)) {
    response.destroy();
    throw new CheckFailure(`Request failed with status code ${String(code)}`, { byStatusCode: true });
  }
  const statusText = `${String(code)} - ${statusMessage || STATUS_CODES[code] || ''}`.trim();
  if (!wantsBody) {
    response.destroy();
    return { status: heartbeatStatus.up, msg: statusText };
  }
  const body = await readBody(response, signal);
  const { text } = body;
  if (config.type === 'keyword') {
    const hasKeyword = text.includes(config.keyword ?? '');
    const isInverted = config.invertKeyword === true;
    // The keyword may occur in the part that was not read.
    if (hasKeyword === isInverted || (isInverted && body.isCut)) {
      const excerpt = extractExcerpt(text);
      throw new CheckFailure(
        `${statusText}, but keyword is ${hasKeyword ? 'present' : 'not'} in [${excerpt}]${formatCutNote(body)}`,
      );
    }
    return { status: heartbeatStatus.up, msg: `${statusText}, keyword ${hasKeyword ? 'is' : 'not'} found` };
  }
  if (body.isCut) throw new CheckFailure(`${statusText}, but the JSON is too long for a query${formatCutNote(body)}`);
  const path = config.jsonPath || '$';
  const operator = config.jsonPathOperator ?? '==';
  const expected = config.expectedValue ?? '';
  const { holds, value } = await evaluateJsonQuery({ text, path, operator, expected });
  const message = `JSON query ${holds ? 'passes' : 'does not pass'} (comparing ${value} ${operator} ${expected})`;
  if (!holds) throw new CheckFailure(message);
  return { status: heartbeatStatus.up, msg: message };
}

/** Returns the beginning of a page without tags. */
function extractExcerpt(text: string): string {
  const withoutTags = text.slice(0, 5000).replaceAll(/<[^<>]*>?/g, ' ');
  return withoutTags.replaceAll(/\s+/g, ' ').trim().slice(0, 50);
}

function firstHop({ config }: CheckContext): Hop {
  const url = URL.parse(config.url ?? '');
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new CheckFailure('Invalid URL', { notChecked: true });
  const parsedHeaders: unknown = config.headers === null || config.headers === '' ? {} : parseHeaders(config.headers);
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': userAgent };
  for (const [name, value] of Object.entries(parsedHeaders as object)) {
    if (/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) headers[name.toLowerCase()] = String(value);
  }
  const user = config.basic_auth_user ?? '';
  const password = config.basic_auth_pass ?? '';
  if (config.authMethod === 'basic' || (config.authMethod === null && user !== '')) {
    headers['authorization'] = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  } else if (config.authMethod === 'bearer') {
    headers['authorization'] = `Bearer ${config.bearer_token ?? ''}`;
  } else if (config.authMethod !== null && config.authMethod !== '' && config.authMethod !== 'mtls') {
    throw createSettingsFailure('sign_in_unsupported', { method: config.authMethod });
  } else if (url.username !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  if (config.cacheBust === true) url.searchParams.set('uptime_cachebuster', Math.random().toString(36).slice(2));
  const method = (config.method ?? 'GET').toUpperCase();
  const body = config.body === null || config.body === '' ? undefined : config.body;
  if (body !== undefined) headers['content-type'] ??= contentTypes[config.httpBodyEncoding ?? 'json'];
  return { url, method, headers, body };
}

const contentTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'text/xml; charset=utf-8',
} as const;

function parseHeaders(text: string): unknown {
  const parsed = parseJson(text);
  if (isRecord(parsed)) return parsed;
  throw createSettingsFailure('headers_invalid', {});
}

/** Paths of Homeport's listeners that are public and have no side effects. */
const publicPaths = new Set(['/', '/health', '/healthz', '/v1/health', '/api/health', '/api/healthz']);

function getTargetUse({ url, method, body }: Hop): TargetUse {
  const isRead = (method === 'GET' || method === 'HEAD') && body === undefined;
  return isRead && url.search === '' && publicPaths.has(url.pathname) ? 'public' : 'exchange';
}

function nextHop(hop: Hop, code: number, location: string): Hop {
  const url = URL.parse(location, hop.url.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw createTargetFailure('redirect_invalid', {});
  }
  const { authorization, cookie, ...rest } = hop.headers;
  const credentials = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(cookie === undefined ? {} : { cookie }),
  };
  const headers = url.origin === hop.url.origin ? { ...rest, ...credentials } : rest;
  const switchesToGet = code === 303 || ((code === 301 || code === 302) && hop.method === 'POST');
  return switchesToGet
    ? { url, method: 'GET', headers, body: undefined }
    : { url, method: hop.method, headers, body: hop.body };
}

async function sendRequest(context: CheckContext, { url, method, headers, body }: Hop, wantsBody: boolean) {
  const { config, signal } = context;
  const secure = url.protocol === 'https:';
  const mtls = config.authMethod === 'mtls';
  const tls: TlsOptions = {
    ignoreTls: config.ignoreTls === true,
    ca: config.tlsCa || undefined,
    cert: mtls ? config.tlsCert || undefined : undefined,
    key: mtls ? config.tlsKey || undefined : undefined,
    onChain: context.onChain,
  };
  const options: ConnectOptions = {
    host: url.hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    family: toFamily(config.ipFamily),
    use: getTargetUse({ url, method, headers, body }),
    tls: secure ? tls : undefined,
    signal,
  };
  const { socket, forwardingProxy } = await openRoute(context, options, tls);
  const proxyAuthorization = forwardingProxy === undefined ? undefined : getProxyAuthorization(forwardingProxy);
  const path = `${url.pathname}${url.search}`;
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method,
      host: url.hostname,
      // A proxy that forwards receives the absolute form (RFC 9112, 3.2.2).
      path: forwardingProxy === undefined ? path : `${url.origin}${path}`,
      headers: {
        host: url.host,
        connection: 'close',
        ...(wantsBody ? { 'accept-encoding': 'identity' } : {}),
        ...headers,
        ...(proxyAuthorization === undefined ? {} : { 'proxy-authorization': proxyAuthorization }),
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      signal,
    });
    request.once('response', (response) => {
      response.once('close', () => socket.destroy());
      if (forwardingProxy !== undefined && response.statusCode === 407) {
        response.destroy();
        reject(createStatusFailure(forwardingProxy, 407));
      } else resolve(response);
    });
    request.once('upgrade', (response) => {
      socket.destroy();
      resolve(response);
    });
    request.on('error', (error) => {
      socket.destroy();
      reject(signal.aborted && signal.reason instanceof Error ? signal.reason : error);
    });
    request.end(body);
  });
}

/** Connection of a request; `forwardingProxy` is set when the connection ends at an HTTP proxy. */
interface HttpRoute {
  readonly socket: Socket;
  readonly forwardingProxy?: ProxyAddress;
}

/**
 * Opens the connection of a request, through the proxy of the monitor if it has one. HTTP proxies forward requests
 * without TLS, since many of them allow CONNECT only for port 443.
 */
async function openRoute(
  { config, proxies }: CheckContext,
  options: ConnectOptions,
  tls: TlsOptions,
): Promise<HttpRoute> {
  const proxy = findProxy(config, proxies);
  if (proxy === undefined) return { socket: await openConnection(options) };
  if (options.tls !== undefined || !isHttpProxy(proxy)) return { socket: await openTunnel(proxy, options) };
  await resolveDestination(proxy, options);
  return { socket: await openProxyConnection(proxy, { ...options, tls }), forwardingProxy: proxy };
}
