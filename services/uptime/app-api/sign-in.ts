import * as m from '#messages/uptime-problems';
import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Rights } from '../../contracts/route-access.ts';
import type { Context } from '../../contracts/service.ts';
import { ApiKeys } from '../store/api-keys.ts';

/** Authenticated caller and its permissions. */
export interface Caller {
  readonly identity: Identity | undefined;
  readonly rights: Rights;
}

const fullRights: Rights = { all: true, may: () => true };
const challenge = { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' };

/**
 * Authenticates an account by Basic or Bearer, or an API key as Bearer token or Basic password. Loopback clients need
 * no credentials while no account exists.
 * @throws Problem 401
 */
export async function authenticateCaller(context: Context, keys: ApiKeys, request: IncomingMessage): Promise<Caller> {
  const { authorization } = request.headers;
  const { accounts } = context;
  const client = context.caller(request);
  const key = extractKey(authorization);
  if (key !== undefined) {
    if (await keys.isValid(key, client.remoteAddress)) return { identity: undefined, rights: fullRights };
    throw new Problem('uptime.sign_in', 401, m.keyInvalid(), { headers: challenge });
  }
  const identity = await accounts.authenticate({ authorization, ...client });
  if (identity !== undefined) {
    return {
      identity,
      rights: {
        all: identity.role === 'admin',
        may: (service, permission, resource) => accounts.may(identity, service, permission, resource),
      },
    };
  }
  const isLocalClient = isLoopback(request.socket.remoteAddress) && !client.isCrossSite && !isGatewayRequest(request);
  if (authorization === undefined && isLocalClient && (await accounts.list()).length === 0) {
    return { identity: undefined, rights: fullRights };
  }
  throw new Problem('uptime.sign_in', 401, m.signIn(), { headers: challenge });
}

/** @throws Problem 403 */
export function requireRight({ rights }: Caller, permission: 'read' | 'write'): void {
  if (rights.all || rights.may('uptime', permission, '*')) return;
  throw new Problem('uptime.forbidden', 403, m.forbidden());
}

function extractKey(authorization: string | undefined): string | undefined {
  const [, scheme = '', text = ''] = /^(\S+)\s+(\S+)$/.exec(authorization ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const secret = isBasic
    ? Buffer.from(text, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, '')
    : text;
  return (isBasic || scheme.toLowerCase() === 'bearer') && ApiKeys.hasKeyFormat(secret) ? secret : undefined;
}

function isLoopback(address: string | undefined): boolean {
  const plainAddress = (address ?? '').replace(/^::ffff:/, '');
  return plainAddress === '::1' || plainAddress.startsWith('127.');
}
