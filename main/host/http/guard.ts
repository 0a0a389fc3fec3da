import * as m from '#messages/host-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../../services/contracts/problem.ts';
import type { CrossOrigin } from '../../../services/contracts/listeners.ts';
import { allowHosts } from './host-names.ts';
import {
  hasAuthQuery,
  isCrossSiteRequest,
  isSafe,
  allowsCrossOrigin,
  classifySender,
  type PublicHost,
} from './origin.ts';
import { addHeaders, sendReply } from '../../../services/kit/http/respond.ts';
import { compileOriginPatterns } from '../../../services/kit/origin-patterns.ts';

export interface GuardPolicy {
  /** Names in addition to the loopback names that a Host header may contain, without port: `nas.local`, `192.168.1.20`. */
  readonly hosts?: readonly string[];
  readonly crossOrigin: CrossOrigin;
  /**
   * Origins treated like the app's own, also readable through CORS under `refuse`. `*` is a wildcard:
   * `chrome-extension://*`.
   */
  readonly allowedOrigins?: readonly string[];
  /** Host under which clients reach the listener; default: the Host header. */
  readonly publicHost?: PublicHost;
  /** Renders a refusal in the format of the service's peer. Default: `{"error":{"code","detail"}}`. */
  readonly refuse?: (request: IncomingMessage, response: ServerResponse, problem: Problem) => void;
}

/**
 * Protects a service against web pages, since any page that the owner visits can reach a loopback port: requires a
 * Host that names this computer, and prevents pages of other origins from changing anything.
 */
export interface Guard {
  /**
   * Returns the reason for a refusal, or undefined. May shorten an absolute request target to its path and remove the
   * cookies of a cross-origin request.
   */
  check(request: IncomingMessage): Problem | undefined;
  /** Checks a WebSocket upgrade. */
  checkUpgrade(request: IncomingMessage): Problem | undefined;
  /** Adds CORS headers for allowed origins; returns true when it answered a preflight. */
  answerCors(request: IncomingMessage, response: ServerResponse): boolean;
}

export function createGuard(policy: GuardPolicy): Guard {
  const hostAllowed = allowHosts(policy.hosts ?? []);
  const originAllowed = compileOriginPatterns(policy.allowedOrigins ?? []);

  const checkHost = (request: IncomingMessage): Problem | undefined => {
    if (!hostAllowed(request)) return buildForeignHostProblem(request);
    return request.url?.charCodeAt(0) === slash ? undefined : toPath(request);
  };

  const checkOrigin = (request: IncomingMessage): Problem | undefined => {
    if (classifySender(request, originAllowed, policy.publicHost) !== 'other origin') return undefined;
    if (!allowsCrossOrigin(policy.crossOrigin, request)) return buildForeignOriginProblem(request, policy.crossOrigin);
    // A proxy may report a host without its port, or none; the Origin header contains the address of the page.
    if (policy.crossOrigin === 'any' && request.headers['sec-fetch-site'] === 'same-origin') return undefined;
    delete request.headers.cookie;
    return undefined;
  };

  /** Credentials in the address could be guessed by a page with nothing more than an image. */
  const checkAddress = (request: IncomingMessage): Problem | undefined =>
    policy.crossOrigin === 'credentialed' &&
    hasAuthQuery(request.url) &&
    isCrossSiteRequest(request, originAllowed, policy.publicHost)
      ? buildForeignSignInProblem()
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
      sendReply(response, { status: allowed ? 204 : 403 });
      return true;
    },
  };
}

const slash = 47;

function buildForeignHostProblem(request: IncomingMessage): Problem {
  const detail = request.headers.host === undefined ? m.hostHeaderMissing() : m.hostNameNotAllowed();
  return new Problem('listener.foreign_host', 403, detail);
}

function buildForeignOriginProblem(request: IncomingMessage, policy: CrossOrigin): Problem {
  const detail = policy === 'credentialed' ? m.originCredential() : m.originNotAllowed();
  return new Problem(
    request.headers.upgrade === undefined ? 'listener.foreign_origin' : 'listener.foreign_websocket',
    403,
    detail,
  );
}

function buildForeignSignInProblem(): Problem {
  return new Problem('listener.foreign_sign_in', 403, m.originSignIn());
}

/** `GET http://127.0.0.1:7700/path` is valid with the host of the Host header, also with `https` over TLS. */
function toPath(request: IncomingMessage): Problem | undefined {
  const target = request.url ?? '';
  if (target === '*' && request.method === 'OPTIONS') return undefined;
  const host = request.headers.host ?? '';
  const prefix = `${isEncrypted(request.socket) ? 'https' : 'http'}://${host}`.toLowerCase();
  const rest = target.slice(prefix.length);
  if (target.slice(0, prefix.length).toLowerCase() !== prefix || !/^(?:[/?]|$)/.test(rest)) {
    return new Problem('listener.bad_target', 400, m.targetInvalid());
  }
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return undefined;
}

function isEncrypted(socket: object): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}

function allowReading(request: IncomingMessage, response: ServerResponse, origin: string, preflight: boolean): void {
  addHeaders(response, { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' });
  if (!preflight) return;
  const headers = request.headers['access-control-request-headers'];
  // Chrome sends this when a public page or an extension accesses a private address.
  const isPrivateNetwork = request.headers['access-control-request-private-network'] === 'true';
  addHeaders(response, {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    ...(headers !== undefined && headers.length <= 1024 && { 'Access-Control-Allow-Headers': headers }),
    ...(isPrivateNetwork && { 'Access-Control-Allow-Private-Network': 'true' }),
    'Access-Control-Max-Age': '600',
  });
}
