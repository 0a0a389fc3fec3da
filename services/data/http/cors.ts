import type { IncomingMessage } from 'node:http';
import type { Reply, ResponseHeaders } from '../../kit/http/respond.ts';

const exposedHeaders = [
  'Content-Range',
  'Content-Location',
  'Location',
  'Range-Unit',
  'Preference-Applied',
  'X-Total-Count',
  'Link',
  'Content-Profile',
  'Proxy-Status',
  'x-sb-error-code',
  'x-supabase-api-version',
].join(', ');
const allowedHeaders = [
  'authorization',
  'apikey',
  'content-type',
  'accept',
  'accept-profile',
  'content-profile',
  'prefer',
  'range',
  'range-unit',
  'x-client-info',
  'x-supabase-api-version',
  'x-retry-count',
  'x-requested-with',
].join(', ');

/** Returns the headers that let pages of any origin read responses; access is controlled by API keys. */
export function buildOriginHeaders(request: IncomingMessage): ResponseHeaders {
  if (request.headers.origin === undefined) return {};
  return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposedHeaders };
}

/** Answers a preflight. */
export function buildPreflight(request: IncomingMessage): Reply {
  const requestedHeaders = request.headers['access-control-request-headers'];
  // Chrome sends this header when a public page requests a private address.
  const isPrivate = request.headers['access-control-request-private-network'] === 'true';
  return {
    status: 200,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'Access-Control-Allow-Headers':
        requestedHeaders !== undefined && requestedHeaders.length <= 2048 ? requestedHeaders : allowedHeaders,
      ...(isPrivate ? { 'Access-Control-Allow-Private-Network': 'true' } : {}),
      'Access-Control-Max-Age': '600',
    },
  };
}
