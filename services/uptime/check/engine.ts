import { request, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import { CheckFailure, createTargetFailure } from './failure.ts';
import type { EngineAddress, ListedContainer } from './messages.ts';
import { assertAllowedTarget, guardedLookup } from './target-policy.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

const maxAnswerBytes = 16 * 1024 * 1024;

/**
 * Sends a request to a container engine on a new connection, without an API version in the path, as Uptime Kuma does.
 */
export function requestEngine(engine: EngineAddress, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { path, signal, agent: false, headers: { accept: '*/*', host: 'localhost' } } as const;
    const clientRequest =
      engine.dockerType === 'socket'
        ? request({ ...options, socketPath: engine.dockerDaemon })
        : createTcpRequest(engine.dockerDaemon, options);
    clientRequest.once('response', resolve);
    clientRequest.on('error', (error) =>
      reject(signal.aborted && signal.reason instanceof Error ? signal.reason : error),
    );
    clientRequest.end();
  });
}

/**
 * Fetches JSON from a container engine.
 * @throws CheckFailure for a status code other than 200
 */
export async function fetchEngineJson(engine: EngineAddress, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await requestEngine(engine, path, signal);
  const { statusCode = 0 } = response;
  if (statusCode !== 200) {
    response.destroy();
    throw new CheckFailure(`Request failed with status code ${String(statusCode)}`, { byStatusCode: true });
  }
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size > maxAnswerBytes) throw createTargetFailure('engine_response_too_long', {});
  }
  return parseJsonOrThrow(Buffer.concat(parts).toString('utf8'), () =>
    createTargetFailure('engine_response_invalid', {}),
  );
}

export async function listContainers(engine: EngineAddress, signal: AbortSignal): Promise<ListedContainer[]> {
  const list = await fetchEngineJson(engine, '/containers/json?all=true', signal);
  if (!Array.isArray(list)) throw createTargetFailure('engine_response_invalid', {});
  return list.map((one: Readonly<Record<string, unknown>>) => {
    const names = Array.isArray(one['Names']) ? (one['Names'] as unknown[]) : [];
    const status = toText(one['Status']);
    return {
      id: toText(one['Id']).slice(0, 64),
      name: toText(names[0]).replace(/^\//, ''),
      image: toText(one['Image']),
      state: toText(one['State']),
      health: /\((?:health: )?(\w+)\)/.exec(status)?.[1] ?? '',
    };
  });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function createTcpRequest(address: string, options: object) {
  const url = URL.parse(address.replace(/^tcp:/, 'http:'));
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw createTargetFailure('engine_address_invalid', {});
  }
  const port = url.port === '' ? 2375 : Number(url.port);
  assertAllowedTarget(url.hostname, port, 'exchange');
  const lookup = guardedLookup(port, 'exchange');
  const to = { ...options, host: url.hostname.replace(/^\[|\]$/g, ''), port, lookup };
  return url.protocol === 'https:' ? requestTls(to) : request(to);
}
