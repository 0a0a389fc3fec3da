import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../../services/contracts/problem.ts';
import type { CrossOrigin } from '../../../services/contracts/listeners.ts';
import { allowHosts } from './host-names.ts';
import {
  allowOrigins,
  hasAuthQuery,
  isFromForeignSite,
  isSafe,
  passesFromElsewhere,
  senderOf,
  type PublicHost,
} from './origin.ts';

export interface GuardPolicy {
  /** Names besides the loopback ones that a Host header may carry, without port: `nas.local`, `192.168.1.20`. */
  readonly hosts?: readonly string[];
  readonly crossOrigin: CrossOrigin;
  /** Origins treated like our own, also readable through CORS under `refuse`. `*` within one: `chrome-extension://*`. */
  readonly allowedOrigins?: readonly string[];
  /** The host under which clients reach the listener; default: the Host header. */
  readonly publicHost?: PublicHost;
  /** Renders a refusal in the shape of the service's peer. Default: `{"error":{"code","detail"}}`. */
  readonly refuse?: (request: IncomingMessage, response: ServerResponse, problem: Problem) => void;
}

/**
 * Stands before a service, since any web page the owner visits can reach a loopback port: it wants a Host that names
 * this machine, and keeps pages of other origins from changing anything.
 */
export interface Guard {
  /** The reason to refuse, or undefined. May shorten an absolute request target to its path and drop a foreign page's cookies. */
  check(request: IncomingMessage): Problem | undefined;
  /** The same for a WebSocket upgrade. */
  checkUpgrade(request: IncomingMessage): Problem | undefined;
  /** Adds CORS headers for allowed origins; true when it answered a preflight itself. */
  answerCors(request: IncomingMessage, response: ServerResponse): boolean;
}

export function createGuard(policy: GuardPolicy): Guard {
  const hostAllowed = allowHosts(policy.hosts ?? []);
  const originAllowed = allowOrigins(policy.allowedOrigins ?? []);

  const checkHost = (request: IncomingMessage): Problem | undefined => {
    if (!hostAllowed(request)) return foreignHost(request);
    return request.url?.charCodeAt(0) === slash ? undefined : toPath(request);
  };

  const checkOrigin = (request: IncomingMessage): Problem | undefined => {
    if (senderOf(request, originAllowed, policy.publicHost) !== 'other origin') return undefined;
    if (!passesFromElsewhere(policy.crossOrigin, request)) return foreignOrigin(request, policy.crossOrigin);
    delete request.headers.cookie;
    return undefined;
  };

  /** A page needs no more than an image for a request whose address carries the credential: it could guess that way. */
  const checkAddress = (request: IncomingMessage): Problem | undefined =>
    policy.crossOrigin === 'credentialed' &&
    hasAuthQuery(request.url) &&
    isFromForeignSite(request, originAllowed, policy.publicHost)
      ? foreignSignIn()
      : undefined;

  return {
    check: (request) =>
      checkHost(request) ?? checkAddress(request) ?? (isSafe(request.method) ? undefined : checkOrigin(request)),
    checkUpgrade: (request) => checkHost(request) ?? checkAddress(request) ?? checkOrigin(request),
    answerCors(request, response) {
      if (policy.crossOrigin !== 'refuse') return false;
      const { origin } = request.headers;
      const preflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
      if (origin === undefined) return false;
      const allowed = originAllowed(origin);
      if (allowed) allowReading(request, response, origin, preflight);
      if (!preflight) return false;
      response.writeHead(allowed ? 204 : 403, { 'content-length': '0' }).end();
      return true;
    },
  };
}

const slash = 47;

function foreignHost(request: IncomingMessage): Problem {
  const detail =
    request.headers.host === undefined
      ? 'The request has no Host header, so it cannot be told from a rebound web page.'
      : 'This address is answered under the names of this machine only. Add the name to the allowed host names in the settings.';
  return new Problem('listener.foreign_host', 403, detail);
}

function foreignOrigin(request: IncomingMessage, policy: CrossOrigin): Problem {
  const detail =
    policy === 'credentialed'
      ? 'A page of another origin must send its own credential in the Authorization header.'
      : 'A page of another origin may not do this. Add its origin to the allowed origins in the settings.';
  return new Problem(
    request.headers.upgrade === undefined ? 'listener.foreign_origin' : 'listener.foreign_websocket',
    403,
    detail,
  );
}

function foreignSignIn(): Problem {
  return new Problem(
    'listener.foreign_sign_in',
    403,
    'A page of another origin may not sign in by the address. Add its origin to the allowed origins in the settings.',
  );
}

/** `GET http://127.0.0.1:7700/path` is legal; its own host counts more than the Host header. */
function toPath(request: IncomingMessage): Problem | undefined {
  const target = request.url ?? '';
  if (target === '*' && request.method === 'OPTIONS') return undefined;
  const host = request.headers.host ?? '';
  const prefix = `http://${host}`.toLowerCase();
  const rest = target.slice(prefix.length);
  if (target.slice(0, prefix.length).toLowerCase() !== prefix || !/^(?:[/?]|$)/.test(rest)) {
    return new Problem('listener.bad_target', 400, 'The request target must be a path.');
  }
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return undefined;
}

function allowReading(request: IncomingMessage, response: ServerResponse, origin: string, preflight: boolean): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Vary', 'Origin');
  if (!preflight) return;
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
  const headers = request.headers['access-control-request-headers'];
  if (headers !== undefined && headers.length <= 1024) response.setHeader('Access-Control-Allow-Headers', headers);
  // Chrome asks this when a public page or an extension reaches for a private address.
  if (request.headers['access-control-request-private-network'] === 'true') {
    response.setHeader('Access-Control-Allow-Private-Network', 'true');
  }
  response.setHeader('Access-Control-Max-Age', '600');
}
